# SPDX-License-Identifier: Apache-2.0
"""PyTorch's, Triton's and GEMMul8's matrix products beside Ladder's, verified and measured as
ladder bench does, into rows of its format.

    python3 bench/python/baselines.py --shape 4096 --shape 8192 --save python.json
    build/bin/ladder report rows.json python.json --html report.html

Needs a GPU and PyTorch; Triton's kernels are left out where it is not installed, GEMMul8's where
GEMMUL8 does not name its shared library (gemmul8.py says how to build it; GEMMUL8_VERSION, its tag,
goes into the rows). Ladder's own are measured where --kernel names them (rungs.py). Those that
stand for FP32 are rows beside torch_ieee, PyTorch's call of cuBLAS's SGEMM, of the same rounds.
Exit status 2: no such kernel; 3: something is missing. docs/measurement.md says how it is measured;
the commit in the rows is that of the checkout.
"""
import argparse
import dataclasses
import datetime
import json
import math
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any, Callable

from rounds import Readings, Rounds, statistics_of

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402  (its folder is known only now)

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16", "fp16")
TYPES = {"bf16": "bf16", "fp16": "f16"}  # of operands and result; f32 for all others
OTHERS = ("tf32", *TYPES)  # that do not stand for FP32
BASELINE = "torch_ieee"


@dataclasses.dataclass
class Kernel:
    name: str
    idea: str
    precision: str
    launch: Callable  # (a, b, c): enqueues c = a b
    rung: Any = None  # rungs.Rung of Ladder's own


def gamma(n, u):
    """n roundings of unit u (Higham 2002, lemma 3.1)."""
    return n * u / (1 - n * u)


def bound(kernel, m, n, k):
    """Of |C - AB|, elementwise: over |A||B|, over max|a_i| sum|b_j| + sum|a_i| max|b_j|, and of the
    last rounding over |C|. docs/verification.md derives them."""
    if kernel.rung:
        return (*kernel.rung.bound(m, n, k), 0.0)
    sums = gamma(k + 2, 2.0**-23)  # tensor cores may truncate when they add
    if kernel.precision == "ieee":
        return gamma(k, 2.0**-24), 0.0, 0.0
    if kernel.precision == "tf32":
        return sums + 2 * 2.0**-10 + 2.0**-20, 0.0, 0.0
    if kernel.precision == "tf32x3":
        return sums * 3 + 4 * 2.0**-20, 0.0, 0.0
    return sums, 0.0, 2.0**-9 if kernel.precision == "bf16" else 2.0**-12


def least_bytes(shape, precision):
    m, n, k = shape
    return (2 if precision in TYPES else 4) * (m * k + k * n + m * n)


def problem_json(m, n, k, precision):
    kind = {"in": TYPES[precision], "out": TYPES[precision]} if precision in TYPES else {}
    return {"m": m, "n": n, "k": k, **kind}


def timing_json(samples, copies, telemetry, warmup_s):
    ms = {name: float(f"{value:.7g}") for name, value in statistics_of(samples).items()}
    return {
        "ms": {**ms, "n": len(samples)}, "telemetry": telemetry, "warmup_s": warmup_s,
        "operand_copies": copies, "launches_per_sample": 1, "throttled": 0, "alarms": []
    }


def row_json(kernel, shape, errors, reason=""):
    """One row, not timed; `errors` are (normwise, componentwise, of_bound), or None with a
    reason."""
    m, n, k = shape
    problem = problem_json(m, n, k, kernel.precision)
    passed = errors is not None and errors[2] <= 1  # NaN is not
    outcome = "passed" if passed else "not_verified" if errors is None else "wrong_value"
    known = None if errors is None else dict(zip(("normwise", "componentwise", "of_bound"), errors))
    case = {
        "name": f"shape, {m}x{n}x{k}, uniform", "problem": problem, "values": "uniform", "seed": 1,
        "nan_operands": False, "outcome": outcome, "reason": reason,
        "reference": "PyTorch matmul in FP64", "errors": known
    }
    return {
        "kernel": kernel.name,
        "rung": kernel.rung.file if kernel.rung else kernel.name.split("_")[0], "idea": kernel.idea,
        "place": "cuda", "role": "rung" if kernel.rung else "baseline",
        "precision": kernel.precision, "problem": problem, "flops": 2.0 * m * n * k,
        "least_bytes": float(least_bytes(shape, kernel.precision)), "device": None, "verdict": {
            "outcome": outcome, "reason": reason, "passed": int(passed), "refused": 0,
            "failed": [] if passed else [case]
        }, "errors": known, "timing": None, "baseline": None, "counters": None, "derived": {},
        "note": ""
    }


def add_timings(rows, timings):
    """`timings` of some rows, by name, all of the same rounds."""
    beside = timings.get(BASELINE)
    for row in rows:
        timing = timings.get(row["kernel"])
        if timing is None:
            continue
        row["timing"] = timing
        row["derived"] = {"tflops": row["flops"] / timing["ms"]["median"] * 1e-9}
        if beside and row["kernel"] != BASELINE and row["precision"] not in OTHERS:
            row["baseline"] = {"kernel": BASELINE, "timing": {"ms": beside["ms"]}}
            row["derived"][
                "percent_of_baseline"] = 100 * beside["ms"]["median"] / timing["ms"]["median"]


def text_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True,
                              cwd=SOURCE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def device_json(properties, clock_hz):
    cc = properties.major * 10 + properties.minor
    lanes = 128 if cc >= 86 else 64
    return {
        "name": properties.name, "cuda": True, "virtual": False, "ordinal": 0,
        "compute_capability": cc, "sm_count": properties.multi_processor_count,
        "memory_bytes": properties.total_memory, "sm_clock_hz": clock_hz,
        "fp32_flops": 2.0 * lanes * properties.multi_processor_count * clock_hz,
        "memory_bandwidth": 0.0
    }


def environment_json(torch, device):
    def smi(field):
        return text_of("nvidia-smi", f"--query-gpu={field}",
                       "--format=csv,noheader,nounits").split("\n")[0]

    def number(text):
        try:
            return float(text)
        except ValueError:
            return None

    commit = os.environ.get("LADDER_COMMIT") or text_of("git", "describe", "--always", "--dirty",
                                                        "--abbrev=12") or "unknown"
    return {
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "version": "PyTorch " + torch.__version__, "commit": commit, "cpu": platform.processor()
        or platform.machine(), "cpu_threads": os.cpu_count() or 0,
        "cuda_toolkit": torch.version.cuda, "cuda_runtime": torch.version.cuda, "cuda_driver": "",
        "driver": smi("driver_version"), "cublas": "", "openblas": "", "device": device,
        "power_limit_w": number(smi("enforced.power.limit")),
        "max_sm_clock_mhz": number(smi("clocks.max.sm"))
    }


def torch_kernels(torch):
    def multiply(precision):
        def launch(a, b, c):
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            torch.matmul(a, b, out=c)
        return launch

    return [
        Kernel(f"torch_{precision}", f"PyTorch {torch.__version__} matmul", precision,
               multiply(precision)) for precision in ("ieee", "tf32", "bf16", "fp16")
    ]


def triton_kernels(torch):
    try:
        import triton
        from triton_matmul import matmul
    except ImportError:
        print("Triton is not installed: its kernels are left out", file=sys.stderr)
        return []
    return [
        Kernel(f"triton_{precision}", f"Triton {triton.__version__} matmul, tuned over its tiles",
               precision, lambda a, b, c, precision=precision: matmul(a, b, c, precision))
        for precision in PRECISIONS
    ]


def gemmul8_kernels(torch):
    path = os.environ.get("GEMMUL8")
    if not path:
        return []
    import gemmul8
    return [
        Kernel(*parts) for parts in gemmul8.kernels(
            torch, path, os.environ.get("GEMMUL8_VERSION", "of unknown version"))
    ]


def own_kernels(torch, names):
    """Errors: KeyError (no such kernel), OSError (no library)."""
    if not names:
        return []
    import rungs
    library = rungs.load()
    return [Kernel(rung.name, rung.idea, rung.precision, rung.on_tensors(torch), rung)
            for rung in (rungs.Rung(library, name) for name in names)]


def chosen(torch, wanted):
    """The kernels whose names start so, in that order; all but Ladder's own where `wanted` is
    empty."""
    others = torch_kernels(torch) + triton_kernels(torch) + gemmul8_kernels(torch)
    if not wanted:
        return others
    families = ("torch", "triton", "gemmul8")  # that may be omitted
    own = own_kernels(torch, [name for name in wanted if not name.startswith(families)])
    return list({
        kernel.name: kernel
        for name in wanted
        for kernel in others + own
        if kernel.name.startswith(name)
    }.values())


def operands(torch, shape, precision, copies):
    m, n, k = shape
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)
    generator = torch.Generator(device="cuda").manual_seed(1)

    def uniform(rows, columns):
        return (torch.rand(rows, columns, device="cuda", generator=generator) * 2 - 1).to(dtype)

    return [(uniform(m, k), uniform(k, n), torch.full((m, n), math.nan, device="cuda", dtype=dtype))
            for _ in range(copies)]


def errors_of(torch, kernel, a, b, c):
    """Of the kernel's result against FP64; also launches for the first time, which tunes and
    allocates."""
    (m, k), n = a.shape, b.shape[1]
    products, floor, last = bound(kernel, m, n, k)
    if kernel.rung:
        kernel.rung.accepts(m, n, k)
    kernel.launch(a, b, c)
    wide_a, wide_b = a.double(), b.double()
    exact = wide_a @ wide_b
    wide_a, wide_b = wide_a.abs(), wide_b.abs()
    size = wide_a @ wide_b
    difference = (c.double() - exact).abs()
    lines = wide_a.amax(1, keepdim=True) * wide_b.sum(0) + wide_a.sum(1,
                                                                      keepdim=True) * wide_b.amax(0)
    before = products * size + floor * lines
    allowed = before + last * (exact.abs() + before)
    return (float(difference.norm() / exact.norm()), float(
        (difference / size).max()), float((difference / allowed).max()))


def rows_of(torch, kernels, shape, l2_bytes, warm, budget):
    """One row per kernel, for one shape: verified one by one, then timed in turn."""
    sets, rows, verified = {}, [], []  # sets: of operands, by type
    for kernel in kernels:
        kind = TYPES.get(kernel.precision, "f32")
        try:
            if kind not in sets:
                cold = max(2, math.ceil(2 * l2_bytes / least_bytes(shape, kernel.precision)))
                sets[kind] = operands(torch, shape, kernel.precision, 1 if warm else cold)
            sets[kind][0][2].fill_(math.nan)
            rows.append(row_json(kernel, shape, errors_of(torch, kernel, *sets[kind][0])))
        except Exception as error:  # noqa: BLE001  a kernel that fails leaves the others' rows
            reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
            rows.append(row_json(kernel, shape, None, reason))
        if rows[-1]["verdict"]["outcome"] == "passed":
            verified.append((kernel, sets[kind]))
    if not verified:
        return rows
    with Readings() as readings:
        rounds = Rounds(torch, [(kernel.launch, copies) for kernel, copies in verified])
        samples = rounds.measure(budget)
    telemetry = readings.telemetry()
    add_timings(rows, {kernel.name: timing_json(some, len(copies), telemetry, rounds.warmup_s)
                       for (kernel, copies), some in zip(verified, samples)})
    return rows


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shape", action="append",
                        help="MxNxK, or N for a cube; repeatable; default 4096")
    parser.add_argument(
        "--kernel", action="append", help=
        "torch_ieee, triton_tf32x3, gemmul8, ... or how they start, or the name of one of Ladder's "
        "CUDA kernels; repeatable; default all but Ladder's")
    parser.add_argument("--l2", choices=("cold", "warm"), default="cold")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds per kernel")
    parser.add_argument("--save", required=True, help="the file of rows")
    options = parser.parse_args(argv)
    try:
        import torch
    except ImportError:
        print("PyTorch is not installed: there is nothing to measure", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("PyTorch sees no CUDA device", file=sys.stderr)
        return 3
    properties = torch.cuda.get_device_properties(0)
    clock = text_of("nvidia-smi", "--query-gpu=clocks.max.sm",
                    "--format=csv,noheader,nounits").split("\n")[0]
    device = device_json(properties, float(clock) * 1e6 if clock else 0.0)
    try:
        kernels = chosen(torch, options.kernel)
    except KeyError as error:
        print(f"--kernel: {error.args[0]}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"Ladder's own kernels, which the target ladder_rungs builds: {error}",
              file=sys.stderr)
        return 3
    document = {
        "schema": "ladder-rows", "version": 3, "environment": environment_json(torch, device),
        "rows": []
    }
    with torch.cuda.stream(torch.cuda.Stream()):
        for text in options.shape or ["4096"]:
            sizes = [int(part) for part in text.split("x")]
            shape = tuple(sizes * 3 if len(sizes) == 1 else sizes)
            rows = rows_of(torch, kernels, shape, properties.L2_cache_size, options.l2 == "warm",
                           options.budget)
            for row in rows:
                rate = row["derived"].get("tflops")
                print(
                    f"{row['kernel']:20} {text:>16} {row['verdict']['outcome']:>12} {'-' if rate is None else f'{rate:.1f}':>8} "
                    f"TFLOP/s {row['verdict']['reason']}", flush=True)
            document["rows"] += rows
            whole_file.replace(options.save, json.dumps(document))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
