# SPDX-License-Identifier: Apache-2.0
"""`ladder new` and `ladder run`: kernels of the user's own, right, wrong and broken ones."""
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import LADDER, LAUNCH, PLAIN, Folder, ends, ladder

SOURCE = pathlib.Path(sys.argv[2])


class OwnKernel(Folder):
    def test_a_new_rung_builds_verifies_and_is_explained(self):
        path = self.path("r77_test.cu")
        ends(0, "new", "r77_test", "-o", path)
        ends(2, "new", "r77_test", "-o", path)  # never overwritten
        result = ends(0, "run", path, "--against", "r02")
        self.assertIn("verified: passed", result.stdout)
        self.assertRegex(result.stdout, r"predicted +[\d.]+ ms, [\d.]+ TFLOP/s")
        self.assertIn("r02_coalesced", result.stdout)

    def test_a_plain_kernel(self):
        result = ends(0, "run", self.write("plain.cu", PLAIN), *LAUNCH, "--no-explain", "--against",
                      "r02")
        self.assertIn("verified: passed", result.stdout)
        self.assertRegex(result.stdout, r"plain +256x256x256")

    def test_a_plain_kernel_with_other_arguments(self):
        product = """
__global__ void square(const float* A, float* C, const float* B, int N) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= N || col >= N) return;
  float sum = 0;
  for (int k = 0; k < N; ++k) sum += A[row * N + k] * B[k * N + col];
  C[row * N + col] = sum;
}
"""
        launch = ["--grid", "ceil_div(N, 32), ceil_div(N, 32)", "--block", "32, 32", "--needs",
                  "M == N && K == N"]
        result = ends(0, "run", self.write("product.cu", product), *launch, "--args", "A, C, B, N",
                      "--no-explain", "--shape", "64")
        self.assertIn("verified: passed", result.stdout)
        self.assertIn("refused", result.stdout)
        self.assertRegex(result.stdout, r"product +64x64x64 +passed")
        result = ends(1, "run", self.write("swapped.cu", product), *launch, "--args", "B, C, A, N",
                      "--no-explain", "--shape", "64")
        self.assertIn("wrong_value", result.stdout)

    def test_a_wrong_kernel_is_rejected(self):
        wrong = PLAIN.replace("k < K", "k < K - 1")
        result = ends(1, "run", self.write("wrong.cu", wrong), *LAUNCH)
        self.assertIn("verified: wrong_value", result.stdout)
        self.assertNotIn("TFLOP/s", result.stdout)

    def test_a_fault_is_told(self):
        text = PLAIN.replace("if (row >= M || col >= N) return;", "")
        result = ends(1, "run", self.write("oob.cu", text), *LAUNCH, "--shape", "30x30x30",
                      "--no-explain")
        self.assertIn("verified: fault", result.stdout)
        self.assertIn("out of bounds", result.stdout)

    def test_no_verdict_is_no_pass(self):
        prints = 'std::puts("verified: passed, 12 of 12 cases, 0 refused"); std::fflush(stdout);'
        headers = "#include <cstdio>\n#include <cstdlib>\n#include <unistd.h>\n"
        wrong = PLAIN.replace("k < K", "k < K - 1")
        for name, text, says in (("exits",
                                  PLAIN + "struct At { At() { %s _exit(0); } } at;" % prints,
                                  "without its verdict: exit status 0"),
                                 ("aborts_at_the_end",
                                  PLAIN + "struct At { ~At() { std::abort(); } } at;", "signal 6"),
                                 ("wrong_exits", wrong + "struct At { ~At() { _exit(0); } } at;",
                                  "without its verdict: exit status 0")):
            with self.subTest(name):
                result = ends(1, "run", self.write(name + ".cu", headers + text), *LAUNCH,
                              "--no-explain", "--shape", "32", "--against", "r02")
                self.assertIn(name + ".cu", result.stderr)
                self.assertIn(says, result.stderr)
        empty = "#include <ladder/kernel.hpp>\n#include <span>\nnamespace ladder::none {\n" \
                "extern const std::span<const KernelInfo> kInfo{};\n}\n"
        result = ends(2, "run", self.write("none.cu", empty))
        self.assertIn("kInfo: is empty", result.stderr)

    def test_folders_of_any_name(self):
        # One folder with everything; each file includes its neighbour. A shell that expands the
        # name would create a file `x`.
        folder = os.path.join(self.folder.name, "a b:c`touch x`$(touch x)\"q'u,o\\é")
        os.makedirs(os.path.join(folder, "tmp"))
        pathlib.Path(folder, "side.h").write_text("#define LAST K\n")
        path = os.path.join(folder, "-p\"`touch x`.cu")
        pathlib.Path(path).write_text('#include "side.h"\n' + PLAIN.replace("k < K", "k < LAST"))
        environment = {**os.environ, "TMPDIR": os.path.join(folder, "tmp")}
        source = os.path.join(folder, "source")
        os.symlink(SOURCE, source)
        result = ends(0, "run", path, *LAUNCH, "--no-explain", "--shape", "32", "--against", "r02",
                      "--source", source, cwd=folder, env=environment)
        self.assertIn("verified: passed", result.stdout)
        self.assertEqual([name for _, _, files in os.walk(folder) for name in files if name == "x"],
                         [])
        pathlib.Path(path).write_text(PLAIN.replace("float sum", "flat sum"))
        result = ends(2, "run", path, *LAUNCH, env=environment)
        self.assertIn(path + "(6)", result.stderr)

    def test_interrupted_or_killed_leaves_no_file(self):
        temporary = os.path.join(self.folder.name, "tmp")
        os.mkdir(temporary)
        environment = {**os.environ, "TMPDIR": temporary}
        command = ["run", self.write("plain.cu", PLAIN), *LAUNCH]

        def compiling():
            return any(
                name.startswith("tmpxft") for _, _, files in os.walk(temporary) for name in files)

        for how, status in ((signal.SIGINT, 130), (signal.SIGTERM, 130), (signal.SIGHUP, 130),
                            (signal.SIGKILL, -9)):
            process = subprocess.Popen([LADDER, *command], env=environment)
            while not compiling() and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(how)
            self.assertEqual(process.wait(timeout=60), status)
        # The leftovers of a killed process are removed by the next one.
        ends(2, *command, "--limit", "0.01", env=environment)
        self.assertEqual(os.listdir(temporary), [])

    def test_bad_files_are_one_line(self):
        def rejected(*arguments, says):
            result = ends(2, "run", *arguments)
            self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
            self.assertIn(says, result.stderr)
        plain = self.write("plain.cu", PLAIN)
        rejected("/nonexistent.cu", says="/nonexistent.cu")
        rejected(plain, says="--kernel")
        rejected(plain, "--kernel", "sgemm", says="--grid")
        rejected(self.folder.name, says="is a folder")
        two = self.write("two.cu", PLAIN + PLAIN.replace("sgemm", "other"))
        rejected(two, *LAUNCH[2:], says="two.cu has sgemm, other")
        template = self.write("template.cu", "template <int T>\n" + PLAIN)
        rejected(template, *LAUNCH, says="--kernel(1): error: cannot deduce")
        rejected(template, *LAUNCH, says="a template needs its arguments")
        for option, text in (("--grid", "Q"), ("--block", "32,"), ("--needs", "M %"),
                             ("--shared", "*"), ("--args", "A, B, C")):
            launch = {**dict(zip(LAUNCH[::2], LAUNCH[1::2])), option: text}
            arguments = [word for pair in launch.items() for word in pair]
            rejected(plain, *arguments, says=option + "(1): error: ")
        rejected(plain, *LAUNCH, "--grid", "1", says="--grid: is given 2 times")
        rejected(plain, *LAUNCH, "--explain-on", "abacus", says="--explain-on: no device 'abacus'")
        rejected(plain, *LAUNCH, "--limit", "0", says="--limit")
        rejected(plain, *LAUNCH, "--against", "r99", says="--against")
        rejected(self.write("bad.cu", PLAIN.replace("float sum", "flat sum")), *LAUNCH, says="flat")

    def test_names_of_rungs(self):
        ends(2, "new", "mine")
        ends(2, "new", "r05_block_tile_2d")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
