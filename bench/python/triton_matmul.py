# SPDX-License-Identifier: Apache-2.0
"""A matrix product in Triton, as its users write one: a block of C a program, tiles chosen by
Triton's autotuner."""
import triton
import triton.language as tl

TILES = [
    triton.Config({"BM": bm, "BN": bn, "BK": bk}, num_warps=warps, num_stages=stages)
    for bm, bn, bk, warps, stages in ((128, 128, 32, 8, 3), (128, 256, 64, 8, 3),
                                      (128, 128, 64, 4, 4), (64, 64, 32, 4, 4),
                                      (256, 128, 32, 8, 3), (128, 64, 32, 4, 4), (64, 128, 16, 4,
                                                                                  3))
]


@triton.autotune(configs=TILES, key=["m", "n", "k", "PRECISION"])
@triton.jit
def kernel(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr,
           PRECISION: tl.constexpr):
    # Groups of eight tile rows share their columns of B in L2.
    block, rows, columns = tl.program_id(0), tl.cdiv(m, BM), tl.cdiv(n, BN)
    first = block // (8 * columns) * 8
    height = min(rows - first, 8)
    row = (first + block % (8 * columns) % height) * BM + tl.arange(0, BM)
    column = block % (8 * columns) // height * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for step in range(0, k, BK):
        at = step + depth
        x = tl.load(a + row[:, None] * k + at[None, :], (row[:, None] < m) & (at[None, :] < k), 0.0)
        y = tl.load(b + at[:, None] * n + column[None, :],
                    (at[:, None] < k) & (column[None, :] < n), 0.0)
        total = tl.dot(x, y, total, input_precision=PRECISION)
    tl.store(c + row[:, None] * n + column[None, :], total.to(c.dtype.element_ty),
             (row[:, None] < m) & (column[None, :] < n))


def matmul(a, b, c, precision):
    """c = a b; 16-bit operands are multiplied as they are, whatever `precision` says of f32."""
    (m, k), n = a.shape, b.shape[1]
    mode = precision if precision in ("ieee", "tf32", "tf32x3") else "ieee"
    kernel[lambda tile:
           (triton.cdiv(m, tile["BM"]) * triton.cdiv(n, tile["BN"]), )](a, b, c, m, n, k,
                                                                        PRECISION=mode)
