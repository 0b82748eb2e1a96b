# SPDX-License-Identifier: Apache-2.0
"""What all tests of the command line share. The program is the test's first argument."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

LADDER = pathlib.Path(sys.argv[1])
VIRTUAL = (LADDER.parent.parent / "lib" / "vgpu" / "libcudart.so.13").exists()


# A kernel that is no rung, and how it is launched.
PLAIN = """
#define CEIL_DIV(M, N) (((M) + (N)-1) / (N))
__global__ void sgemm(int M, int N, int K, float alpha, const float* A, const float* B, float beta, float* C) {
  const int row = blockIdx.y * blockDim.y + threadIdx.y, col = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= M || col >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + col];
  C[row * N + col] = alpha * sum + beta * C[row * N + col];
}
"""
LAUNCH = ("--kernel", "sgemm", "--grid", "CEIL_DIV(N, 32), CEIL_DIV(M, 8)", "--block", "32, 8")


def ladder(*arguments, **keywords):
    return subprocess.run([LADDER, *arguments], capture_output=True, text=True, timeout=240,
                          check=False, **keywords)


def ends(status, *arguments, **keywords):
    """The result of a call that must end with this exit status."""
    result = ladder(*arguments, **keywords)
    assert result.returncode == status, result
    return result


class Folder(unittest.TestCase):
    """A test with a folder of its own, which goes with it."""

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def path(self, name):
        return os.path.join(self.folder.name, name)

    def read(self, name):
        return json.loads(pathlib.Path(self.path(name)).read_text())

    def write(self, name, document):
        text = document if isinstance(document, str) else json.dumps(document)
        pathlib.Path(self.path(name)).write_text(text)
        return self.path(name)

    def rejected(self, *arguments, says, **keywords):
        """Exit status 2 and one line that holds every text of `says`; nothing is printed
        besides."""
        result = ladder(*arguments, **keywords)
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stdout, "")
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        self.assertTrue(result.stderr.startswith("ladder: "), result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)
