# SPDX-License-Identifier: Apache-2.0
"""ladder explain FILE.cu: machine code without a launch, or a matrix kernel that is launched."""
import json
import os
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import PLAIN, Folder, ends, ladder

SEVERAL = """
namespace own {
template <class T>
__global__ void __launch_bounds__(128) scale(T* x, T by, int n) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  if (at < n) x[at] *= by;
}
template __global__ void scale<float>(float*, float, int);
template __global__ void scale<double>(double*, double, int);
}
__global__ void sum(const float* x, float* y, int n) {
  float s = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) s += x[i];
  *y = s;
}
__global__ void keeps(float* x, int at) {
  float array[64];
  for (int i = 0; i < 64; ++i) array[i * at & 63] = x[i];
  x[at] = array[at & 63] + array[at / 3 & 63];
}
"""


class ExplainFile(Folder):
    def explained(self, text, *arguments):
        result = ends(0, "explain", self.write("own.cu", text), *arguments, "--json")
        return json.loads(result.stdout)

    def test_one_of_several_kernels(self):
        e = self.explained(SEVERAL, "--kernel", "sum", "--block", "32, 2")
        self.assertEqual(e["kernel"], "sum(float const*, float*, int)")
        self.assertEqual((e["code"]["threads"], e["code"]["threads_assumed"]), (64, False))
        self.assertEqual(e["code"]["loop"], "the longest loop without a loop inside")
        self.assertEqual((e["code"]["local_bytes"], e["code"]["local_accesses"]), (0, 0))
        self.assertEqual(e["occupancy"]["warps"], 64)
        schedule = e["schedule"]
        pipes = {pipe["name"]: pipe for pipe in schedule["pipes"]}
        self.assertEqual(pipes["issue"]["slots"], sum(e["loop_mix"].values()))
        self.assertEqual(e["loop_mix"]["LDG"], 1)
        # 2 warps: a request of one line each
        self.assertEqual((pipes["L1/shared"]["slots"], pipes["L1/shared"]["cycles"]), (1, 2))
        self.assertTrue(all(line["file"].endswith("own.cu") for line in schedule["lines"]))
        self.assertEqual(len(schedule["chain"]), 1, "the sum waits for what was loaded")

    def test_a_single_kernel_needs_no_name(self):
        e = self.explained("namespace { __global__ void only(float* x) { *x = 1; } }\n"
                           "void use(float* x) { only<<<1, 1>>>(x); }")
        self.assertEqual(e["kernel"], "(anonymous namespace)::only(float*)")

    def test_an_instance_of_a_template_by_its_demangled_name(self):
        e = self.explained(SEVERAL, "--kernel", "own::scale<float>", "--device", "a6000")
        self.assertEqual(e["kernel"], "void own::scale<float>(float*, float, int)")
        self.assertEqual((e["code"]["threads"], e["machine"]["compute_capability"]), (128, 86))
        self.assertEqual(e["code"]["loop"], "no loop: all of the code")

    def test_local_memory_is_told(self):
        e = self.explained(SEVERAL, "--kernel", "keeps")
        self.assertGreaterEqual(e["code"]["local_bytes"], 4 * 64)
        self.assertGreater(e["code"]["local_accesses"], 0)
        self.assertTrue(e["code"]["threads_assumed"])
        text = ladder("explain", self.path("own.cu"), "--kernel", "keeps").stdout
        for words in ("256 threads (assumed: --block)", "OCCUPANCY", "THE SCHEDULE", "bound by"):
            self.assertIn(words, text)

    def test_a_plain_matrix_kernel_is_launched_for_its_accesses(self):
        e = self.explained(PLAIN, "--kernel", "sgemm", "--grid",
                           "CEIL_DIV(N, 32), CEIL_DIV(M, 8)", "--block", "32, 8")
        self.assertEqual((e["problem"]["m"], e["problem"]["beta"]), (4096, 1))
        loads = {(a["elements"][0], a["sectors"])
                 for a in e["accesses"]
                 if not a["store"] and a["elements"]}
        self.assertIn(("A", 1), loads)
        self.assertIn(("B", 4), loads)
        self.assertGreater(e["prediction"]["tflops"], 0)

    def test_a_rung_is_launched(self):
        path = self.path("r77_test.cu")
        ends(0, "new", "r77_test", "-o", path)
        result = ends(0, "explain", path, "--shape", "512")
        for words in ("r77_test, 512", "ACCESSES OF A WARP", "THE SCHEDULE", "predicted "):
            self.assertIn(words, result.stdout)

    def test_errors_name_the_argument_and_the_rule(self):
        several = self.write("several.cu", SEVERAL)

        def rejected(*arguments, says, **keywords):
            self.rejected("explain", *arguments, says=says, **keywords)

        rejected(several, says=("--kernel: choose one", "own::scale<double>", "sum(float const*"))
        rejected(several, "--kernel", "own::scale", says=("--kernel: own::scale may be several",))
        rejected(several, "--kernel", "other",
                 says=("--kernel: other is none of them", "own::scale<float>"))
        for block in ("0", "2000", "32,", "x", "64, 64"):
            rejected(several, "--kernel", "sum", "--block", block,
                     says=("--block: " + block, "1 to 1024"))
        rejected(self.write("none.cu", "template <class T> __global__ void k(T* x) { *x = 0; }"),
                 says=("none.cu: no kernel: no __global__ function",))
        rejected(self.write("broken.cu", "__global__ void k() { undeclared(); }"),
                 says=("broken.cu", "undeclared"))
        rejected(self.path("absent.cu"), says=("RUNG: ", "absent.cu"))
        rejected(several, "r05", says=("a FILE.cu is explained alone",))
        rejected("r05", "--block", "32", says=("--kernel, --grid, --block: need a FILE.cu",))
        for nvcc in ("no-such-nvcc", "/nonexistent/nvcc"):
            rejected(several, env={**os.environ, "LADDER_NVCC": nvcc},
                     says=("nvcc: not found in LADDER_NVCC",))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
