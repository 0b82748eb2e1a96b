# SPDX-License-Identifier: Apache-2.0
"""Kernels of the registry launched from Python (bench/python/rungs.py), on whatever GPU the CUDA
runtime shows."""
import ctypes
import pathlib
import random
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "python"))
import rungs

LIBRARY = rungs.load(sys.argv[1])
CUDART = ctypes.CDLL("libcudart.so.13")
CUDART.cudaMalloc.argtypes = [ctypes.POINTER(ctypes.c_void_p), ctypes.c_size_t]
CUDART.cudaMemcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
CUDART.cudaFree.argtypes = [ctypes.c_void_p]


class OfTheRegistry(unittest.TestCase):
    def check(self, status):
        self.assertEqual(status, 0)

    def on_device(self, values):
        host = (ctypes.c_float * len(values))(*values)
        pointer = ctypes.c_void_p()
        self.check(CUDART.cudaMalloc(ctypes.byref(pointer), ctypes.sizeof(host)))
        self.addCleanup(CUDART.cudaFree, pointer)
        self.check(CUDART.cudaMemcpy(pointer, host, ctypes.sizeof(host), 1))
        return pointer

    def from_device(self, pointer, count):
        host = (ctypes.c_float * count)()
        self.check(CUDART.cudaDeviceSynchronize())
        self.check(CUDART.cudaMemcpy(host, pointer, ctypes.sizeof(host), 2))
        return list(host)

    def test_products_of_integers_are_exact(self):
        draw = random.Random(1)
        m, n, k = 66, 37, 600
        a = [float(draw.randint(-9, 9)) for _ in range(m * k)]
        b = [float(draw.randint(-9, 9)) for _ in range(k * n)]
        expected = [
            sum(a[i * k + x] * b[x * n + j] for x in range(k)) for i in range(m) for j in range(n)
        ]
        at = self.on_device(a), self.on_device(b)
        for name in ("r06_vectorized", "ladder_fp16x3", "ladder_guarded"):
            with self.subTest(name):
                c = self.on_device([float("nan")] * (m * n))
                rung = rungs.Rung(LIBRARY, name)
                rung.accepts(m, n, k)
                rung.launch(m, n, k, *at, c, None)
                self.assertEqual(self.from_device(c, m * n), expected)

    def test_says_what_it_is_and_how_far_off_it_may_be(self):
        words, guarded = (rungs.Rung(LIBRARY, name) for name in ("ladder_fp16x3", "ladder_guarded"))
        self.assertEqual((words.file, words.precision, guarded.precision),
                         ("split_fp16", "fp16x3", "auto"))
        self.assertIn("fp16", words.idea)
        products, floor = guarded.bound(4096, 4096, 4096)
        self.assertAlmostEqual(products * 2**24 / 4096, 1, places=2)
        self.assertEqual(floor, 0)
        products, floor = words.bound(4096, 4096, 4096)
        self.assertTrue(2**-24 < products < guarded.bound(4096, 4096, 4096)[0], products)
        self.assertTrue(0 < floor < 2**-38, floor)

    def test_refuses_what_is_not_there_and_what_no_problem_is(self):
        for name in ("r99_none", "h01_naive", "ladder_bf16"):
            with self.assertRaisesRegex(KeyError, name):
                rungs.Rung(LIBRARY, name)
        with self.assertRaisesRegex(RuntimeError, "^m = -1: "):
            rungs.Rung(LIBRARY, "ladder_fp16x3").accepts(-1, 1, 1)
        with self.assertRaises(OSError):
            rungs.load("/no/such/library.so")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
