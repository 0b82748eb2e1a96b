# SPDX-License-Identifier: Apache-2.0
"""libladder's 8-bit products with scales beside DeepGEMM's and PyTorch's calls of cuBLASLt.

    python3 bench/python/fp8.py build/lib/libladder.so --shape 4096 --shape 8192 --save rows.csv

Needs a Hopper GPU and PyTorch; DeepGEMM's kernel is left out where the package deep_gemm is not
installed (DEEPGEMM_VERSION, its commit, goes into the rows). All kernels of a scaling get the same
e4m3 operands and scales, made by ladder_quantize(), store bf16, and are timed in turn (rounds.py),
with operands that are not in L2. The error is that of 256 rows against FP64 on the 8-bit operands.
"""
import argparse
import ctypes
import datetime
import math
import os
import pathlib
import statistics
import sys

from baselines import text_of
from rounds import Readings, Rounds, statistics_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402  (its folder is known only now)

BLOCK = 128  # elements that share a scale, in each direction
BF16, E4M3 = 1, 3  # ladder_type
GRAINS = {"tensor": (0, 0), "block": (1, 2)}  # ladder_grain of A and of B
SCALINGS = {"tensor": 1, "block": 2}  # ladder_scaling


class TypedCall(ctypes.Structure):
    """ladder_typed_call of ladder/gemm.h."""
    _fields_ = [("struct_size", ctypes.c_size_t),
                *((name, ctypes.c_int)
                  for name in ("layout", "op_a", "op_b", "type_ab", "type_c", "scaling")),
                *((name, ctypes.c_int64) for name in ("m", "n", "k")), ("alpha", ctypes.c_float),
                ("beta", ctypes.c_float), *((name, ctypes.c_void_p) for name in ("a", "b", "c")),
                *((name, ctypes.c_int64) for name in ("lda", "ldb", "ldc")),
                ("scales_a", ctypes.c_void_p), ("scales_b", ctypes.c_void_p)]


class Ladder:
    """libladder, with one handle for PyTorch's current stream."""

    def __init__(self, torch, path):
        self.torch, self.library = torch, ctypes.CDLL(path)
        self.library.ladder_last_error.restype = ctypes.c_char_p
        self.library.ladder_scale_count.restype = ctypes.c_int64
        self.handle = ctypes.c_void_p()
        self.check(self.library.ladder_create(ctypes.byref(self.handle)))
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        self.check(self.library.ladder_set_stream(self.handle, stream))

    def check(self, status):
        if status != 0:
            raise RuntimeError(self.library.ladder_last_error().decode())

    def quantize(self, x, grain):
        """(e4m3 matrix, its scales as they lie in memory)."""
        torch, (rows, columns) = self.torch, x.shape
        sizes = ctypes.c_int64(rows), ctypes.c_int64(columns)
        q = torch.empty(rows, columns, device="cuda", dtype=torch.float8_e4m3fn)
        scales = torch.zeros(self.library.ladder_scale_count(grain, *sizes), device="cuda")
        pitch = ctypes.c_int64(columns)
        self.check(
            self.library.ladder_quantize(self.handle, E4M3, grain, *sizes,
                                         ctypes.c_void_p(x.data_ptr()), pitch,
                                         ctypes.c_void_p(q.data_ptr()), pitch,
                                         ctypes.c_void_p(scales.data_ptr())))
        return q, scales

    def multiply(self, a, scales_a, b, scales_b, c, scaling):
        call = TypedCall()
        self.library.ladder_typed_call_init(ctypes.byref(call))
        call.type_ab, call.type_c, call.scaling = E4M3, BF16, SCALINGS[scaling]
        call.op_b = 1
        (call.m, call.k), call.n = a.shape, b.shape[0]
        call.lda, call.ldb, call.ldc = call.k, call.k, call.n
        call.a, call.b, call.c = a.data_ptr(), b.data_ptr(), c.data_ptr()
        call.scales_a, call.scales_b = scales_a.data_ptr(), scales_b.data_ptr()
        self.check(self.library.ladder_gemm_typed(self.handle, ctypes.byref(call)))


def blocks(extent):
    return -(-extent // BLOCK)


def operands(ladder, torch, shape, scaling):
    """(A, its scales, B^T, its scales, C); scales are views [m, blocks of k], [blocks of n, blocks
    of k] of what ladder_quantize() wrote."""
    m, n, k = shape
    made = []
    for rows, grain in zip((m, n), GRAINS[scaling]):
        q, scales = ladder.quantize(torch.rand(rows, k, device="cuda") * 2 - 1, grain)
        if grain == 1:
            scales = scales.view(blocks(k), rows).t()
        elif grain == 2:
            scales = scales.view(blocks(rows), -1)[:, :blocks(k)]
        made += [q, scales]
    return (*made, torch.full((m, n), math.nan, device="cuda", dtype=torch.bfloat16))


def error_of(torch, a, scales_a, b, scales_b, c):
    """Normwise, of 256 rows."""
    rows, k = slice(0, 256), a.shape[1]

    def wide(q, scales, repeat):
        if scales.numel() == 1:
            return q.double() * scales.double()
        scales = scales.double().repeat_interleave(repeat, 0)[:q.shape[0]]
        return q.double() * scales.repeat_interleave(BLOCK, 1)[:, :k]

    scales_a = scales_a if scales_a.numel() == 1 else scales_a[rows]
    exact = wide(a[rows], scales_a, 1) @ wide(b, scales_b, BLOCK).t()
    return float((c[rows].double() - exact).norm() / exact.norm())


def kernels_of(torch, ladder, scaling):
    """(name, launch) of those that can be measured."""
    yield "libladder", lambda *all_of: ladder.multiply(*all_of, scaling)
    if scaling == "tensor":
        yield (f"PyTorch {torch.__version__} _scaled_mm",
               lambda a, of_a, b, of_b, c: torch._scaled_mm(  # noqa: SLF001
                   a, b.t(), scale_a=of_a.view(()), scale_b=of_b.view(()), out=c,
                   out_dtype=torch.bfloat16))
        return
    try:
        import deep_gemm
    except ImportError as error:
        print(f"DeepGEMM's kernel is left out: {error}", file=sys.stderr)
        return
    version = os.environ.get("DEEPGEMM_VERSION", deep_gemm.__version__)
    # Rows of B's scales have gaps where k / 128 is no multiple of four. No such problem was
    # measured.
    yield (f"DeepGEMM {version}", lambda a, of_a, b, of_b, c: deep_gemm.fp8_gemm_nt(
        (a, of_a), (b, of_b), c, disable_ue8m0_cast=True))


def measure(torch, ladder, shape, scaling, budget):
    m, n, k = shape
    least = m * k + n * k + 2 * m * n
    l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
    sets = [
        operands(ladder, torch, shape, scaling)
        for _ in range(max(2, math.ceil(2 * l2_bytes / least)))
    ]
    kernels, errors = list(kernels_of(torch, ladder, scaling)), []
    for _, launch in kernels:
        sets[0][4].fill_(math.nan)
        launch(*sets[0])
        errors.append(error_of(torch, *sets[0]))
    with Readings() as readings:
        samples = Rounds(torch, [(launch, sets) for _, launch in kernels]).measure(budget)
    clock = (readings.telemetry()["sm_clock_mhz"] or {}).get("median", "")
    for (name, _), error, some in zip(kernels, errors, samples):
        ms = statistics_of(some)
        spread = 100 * ms["mad"] / ms["median"]
        tflops = 2 * m * n * k / ms["median"] * 1e-9
        ratio = statistics.median(samples[0]) / ms["median"]
        yield (f"{m}x{n}x{k},{scaling},{name},{1e3 * ms['median']:.2f},{spread:.1f},{ms['n']},"
               f"{tflops:.0f},{ratio:.3f},{error:.2e},{clock}")


def shape_of(text):
    sizes = [int(part) for part in text.split("x")]
    if len(sizes) not in (1, 3) or min(sizes) < 1:
        raise argparse.ArgumentTypeError(f"expected MxNxK or N, not {text}")
    return sizes * 3 if len(sizes) == 1 else sizes


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", help="libladder.so")
    parser.add_argument("--shape", action="append", type=shape_of,
                        help="MxNxK, or N for a cube; repeatable; default 4096")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per kernel")
    parser.add_argument("--save", help="the file of rows; default: they are only printed")
    options = parser.parse_args(argv)
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("PyTorch sees no CUDA device", file=sys.stderr)
        return 3
    torch.manual_seed(1)
    ladder = Ladder(torch, options.library)
    commit = os.environ.get("LADDER_COMMIT") or text_of("git", "describe", "--always", "--dirty")
    driver = text_of("nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader")
    lines = [
        f"# {datetime.date.today()}, commit {commit}, {torch.cuda.get_device_name(0)}, driver "
        f"{driver}, CUDA {torch.version.cuda}; ratio: libladder's rate is 1",
        "problem,scaling,kernel,us,mad_percent,samples,tflops,ratio,norm_error,sm_mhz"
    ]
    print("\n".join(lines))
    for shape in options.shape or [shape_of("4096")]:
        for scaling in ("block", "tensor"):
            for line in measure(torch, ladder, shape, scaling, options.budget):
                print(line, flush=True)
                lines.append(line)
    if options.save:
        whole_file.replace(options.save, "\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
