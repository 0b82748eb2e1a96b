# SPDX-License-Identifier: Apache-2.0
"""Ladder's own kernels on PyTorch's tensors, through the library that the target ladder_rungs
builds (rungs.cpp).

LADDER_RUNGS names that library where it is not build/lib/libladder_rungs.so of this checkout."""
import ctypes
import os
import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]


class Rung:
    """One kernel of the registry, C = A B in binary32. KeyError: there is none of this name."""

    def __init__(self, library, name):
        self.library = library
        self.name = name
        self.handle = library.ladder_rung_find(name.encode())
        if not self.handle:
            raise KeyError(
                f"{name}: no CUDA kernel in binary32 has this name; 'ladder list' shows them")
        self.file = library.ladder_rung_file(self.handle).decode()
        self.idea = library.ladder_rung_idea(self.handle).decode()
        self.precision = library.ladder_rung_precision(self.handle).decode()

    @staticmethod
    def check(message):
        if message:
            raise RuntimeError(message.decode())

    def bound(self, m, n, k):
        """(products, floor): |C - AB| <= products |A||B| + floor f; docs/verification.md derives
        them."""
        products, floor = ctypes.c_double(), ctypes.c_double()
        self.check(
            self.library.ladder_rung_bound(self.handle, m, n, k, ctypes.byref(products),
                                           ctypes.byref(floor)))
        return products.value, floor.value

    def accepts(self, m, n, k):
        self.check(self.library.ladder_rung_accepts(self.handle, m, n, k))

    def launch(self, m, n, k, a, b, c, stream):
        """Addresses on the device; `stream` is a cudaStream_t."""
        self.check(self.library.ladder_rung_launch(self.handle, m, n, k, a, b, c, stream))

    def on_tensors(self, torch):
        """Of three tensors (a, b, c), row-major and tight: enqueues c = a b into PyTorch's current
        stream."""
        def launch(a, b, c):
            (m, k), n = a.shape, b.shape[1]
            self.launch(m, n, k, a.data_ptr(), b.data_ptr(), c.data_ptr(),
                        torch.cuda.current_stream().cuda_stream)
        return launch


def default_path():
    return os.environ.get("LADDER_RUNGS") or str(SOURCE / "build" / "lib" / "libladder_rungs.so")


def load(path=None):
    """The library. OSError: it is not there, or lacks something that it needs."""
    library = ctypes.CDLL(path or default_path())
    handle, text, size = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int64
    library.ladder_rung_find.restype, library.ladder_rung_find.argtypes = handle, [text]
    for name in ("file", "idea", "precision"):
        function = getattr(library, "ladder_rung_" + name)
        function.restype, function.argtypes = text, [handle]
    number = ctypes.POINTER(ctypes.c_double)
    for name, arguments in (("bound", [number, number]), ("accepts", []), ("launch", [handle] * 4)):
        function = getattr(library, "ladder_rung_" + name)
        function.restype, function.argtypes = text, [handle, size, size, size, *arguments]
    return library
