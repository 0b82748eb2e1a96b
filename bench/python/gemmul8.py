# SPDX-License-Identifier: Apache-2.0
"""GEMMul8 (github.com/RIKEN-RCCS/GEMMul8): FP32 products by int8 tensor cores and the Chinese
remainder theorem.

Its shared library replaces cublasSgemm; the number of moduli and the mode are read from the
environment at each call. Build it beside this project: make BACKEND=cuda GPU_ARCH=90
lib/libgemmul8.so; then name the file in GEMMUL8."""
import ctypes
import os

# Moduli and mode: those around FP32's accuracy (Ozaki, Uchino, Imamura, "Ozaki Scheme II", arXiv
# 2504.08009).
CONFIGURATIONS = [(6, True), (7, True), (8, True), (7, False), (8, False)]


class Gemmul8:
    def __init__(self, path):
        # a handle of PyTorch may belong to another version of cuBLAS
        self.library = ctypes.CDLL(path)
        self.handle = ctypes.c_void_p()
        self.check(self.library.cublasCreate_v2(ctypes.byref(self.handle)))
        self.one, self.zero = ctypes.c_float(1.0), ctypes.c_float(0.0)

    @staticmethod
    def check(status):
        if status != 0:
            raise RuntimeError(f"cuBLAS status {status}")

    def launch(self, torch, moduli, fast, a, b, c):
        os.environ["GEMMUL8_NUM_MOD_S"] = str(moduli)
        os.environ["GEMMUL8_FASTMODE_S"] = str(int(fast))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.library.cublasSetStream_v2(self.handle, stream))
        m, k = a.shape
        n = b.shape[1]
        pointer = [ctypes.c_void_p(x.data_ptr()) for x in (a, b, c)]
        # Column-major: C' = B' A'.
        self.check(
            self.library.cublasSgemm_v2(self.handle, 0, 0, n, m, k,
                                        ctypes.byref(self.one), pointer[1], n, pointer[0], k,
                                        ctypes.byref(self.zero), pointer[2], n))


def kernels(torch, path, version):
    """(name, idea, precision, launch) of each configuration, as baselines.py lists them."""
    library = Gemmul8(path)
    return [
        (f"gemmul8_{moduli}_{'fast' if fast else 'accurate'}",
         f"GEMMul8 {version}, {moduli} int8 moduli, {'fast' if fast else 'accurate'} mode", "ieee",
         lambda a, b, c, moduli=moduli, fast=fast: library.launch(torch, moduli, fast, a, b, c))
        for moduli, fast in CONFIGURATIONS
    ]
