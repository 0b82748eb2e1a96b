#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""NumPy's tests of matmul and dot, and its products in forked processes, with libladder_cblas.so in
front of the BLAS that NumPy has.
   numpy_over_ladder.py LIBRARY
Exit status 77: NumPy, pytest or hypothesis is missing, or NumPy brings a BLAS that it does not call
by standard names."""
import os
import subprocess
import sys

# Runs under LD_PRELOAD. Checks that float32 products come from the library, by the file that
# provides the symbol.
PROBE = r"""
import ctypes, numpy
class Info(ctypes.Structure):
    _fields_ = [("file", ctypes.c_char_p), ("base", ctypes.c_void_p), ("name", ctypes.c_char_p), ("address", ctypes.c_void_p)]
info = Info()
program = ctypes.CDLL(None)
program.dladdr(ctypes.cast(program.cblas_sgemm, ctypes.c_void_p), ctypes.byref(info))
a = numpy.arange(12, dtype=numpy.float32).reshape(3, 4)
assert (a @ a.T == numpy.array([[14, 38, 62], [38, 126, 214], [62, 214, 366]])).all()
print(info.file.decode())
"""

# A product, then products in forked processes, and again in this one.
POOL = r"""
import multiprocessing, numpy
a = numpy.arange(512 * 512, dtype=numpy.float32).reshape(512, 512) % 5
def product(_): return float((a @ a).sum())
if __name__ == "__main__":
    first = product(0)
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert set(pool.map(product, range(6))) == {first}
    assert product(0) == first
"""


def calls_standard_names():
    """Whether NumPy's compiled part asks for cblas_sgemm by that name."""
    import numpy.core._multiarray_umath as core
    symbols = subprocess.run(["nm", "-D", core.__file__], capture_output=True,
                             text=True).stdout.split()
    return "cblas_sgemm" in symbols


def main():
    library = sys.argv[1]
    try:
        import hypothesis  # noqa: F401
        import numpy  # noqa: F401
        import pytest  # noqa: F401
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    if not calls_standard_names():
        print("skipped: this NumPy does not call cblas_sgemm by that name")
        return 77
    environment = {**os.environ, "LD_PRELOAD": library}
    probe = subprocess.run([sys.executable, "-c", PROBE], env=environment, capture_output=True,
                           text=True)
    if probe.returncode != 0 or os.path.realpath(probe.stdout.strip()) != os.path.realpath(library):
        print(f"float32 products do not come from {library}: {probe.stdout}{probe.stderr}")
        return 1
    pool = subprocess.run([sys.executable, "-c", POOL], env={**environment, "OMP_NUM_THREADS": "3"},
                          timeout=60)
    if pool.returncode != 0:
        print("products in forked processes are wrong")
        return 1
    tests = ["numpy.core.tests.test_multiarray", "numpy.core.tests.test_numeric"]
    return subprocess.run([
        sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--pyargs", *tests, "-k",
        "(matmul or MatMul or Matmul or Dot or dot) and not huge"
    ], env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
