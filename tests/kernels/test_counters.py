# SPDX-License-Identifier: Apache-2.0
"""What a tensor rung asks of the tensor cores and of the copy engine, counted on the virtual GPU
and by arithmetic.

test_counters.py LADDER VGPU: r16 in bf16, 256 x 512 x 128: two pairs of blocks, a tile of 128 x 256
each, two stages of 64 along k. Blocks of a pair share B. And that results in f32 get to shared
memory without bank conflicts.
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

LADDER, VGPU = sys.argv[1:3]
M, N, K = 256, 512, 128
BM, BN, BK = 128, 256, 64
LINE_BYTES = 128  # bytes of a row of a box: BK terms of A along k, BK terms of B along n
BLOCKS = M // BM * (N // BN)
STEPS = K // BK
WARPS, PRODUCT = 4, 64 * 256 * 16  # rows of a warpgroup, and columns per instruction


def launches(kernel):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "counters.json")
        subprocess.run([
            VGPU, "--device", "h200", "--counters", path, "--", LADDER, "verify", kernel,
            "--no-battery", "--shape", f"{M}x{N}x{K}"
        ], check=True, capture_output=True)
        with open(path) as file:
            return [
                each for each in json.load(file)["launches"] if "r16_persistent" in each["kernel"]
            ]


class TensorRung(unittest.TestCase):
    def test_counts_products_copies_and_multicasts(self):
        found = launches("r16_persistent_bf16")
        self.assertGreater(len(found), 0)
        boxes_of_b = BN // BK
        expected = {
            # a warp's share of an instruction counts as one
            "sm__inst_executed_pipe_tensor_op_gmma.sum": M * N * K // PRODUCT * WARPS,
            # one box of A per block, and half of B's boxes for both blocks
            "vgpu__bulk_multicasts.sum": BLOCKS * STEPS * boxes_of_b // 2,
            "vgpu__bulk_deliveries.sum": BLOCKS * STEPS * (1 + boxes_of_b),
            # bytes that arrive in shared memory, of a multicast in each block
            "vgpu__bulk_bytes_loaded.sum": BLOCKS * STEPS * (BM + BN) * LINE_BYTES,
            "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum": BLOCKS * STEPS *
            (BM + BN) * LINE_BYTES,
            "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum": BLOCKS *
            STEPS * BN * LINE_BYTES,
            "vgpu__bulk_bytes_stored.sum": M * N * 2,
            "l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum": M * N * 2,
            "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum": 2 * M * N * K,
            # a warpgroup reads 64 rows of A and all of B, 32 bytes along k
            "sm__sass_data_bytes_mem_shared_op_gmma.sum": M * N * K // PRODUCT * (64 + 256) * 32,
            # one warp copies, the others of its warpgroup do nothing
            "vgpu__warps_producer.sum": BLOCKS,
            "vgpu__warps_consumer.sum": 2 * BLOCKS * WARPS,
            "vgpu__warps_producer_and_consumer.sum": 0,
        }
        for launch in found:
            counted = {**launch["metrics"], **launch["estimates"]}
            self.assertEqual({name: counted.get(name) for name in expected}, expected)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
