# SPDX-License-Identifier: Apache-2.0
"""PyTorch's, Triton's and GEMMul8's matrix products, verified and measured as ladder bench does, into rows of its format.

    python3 bench/python/baselines.py --shape 4096 --shape 8192 --save python.json
    build/bin/ladder report rows.json python.json --html report.html

Needs a GPU and PyTorch; Triton's kernels are left out where it is not installed, GEMMul8's where GEMMUL8 does not name its
shared library (gemmul8.py says how to build it; GEMMUL8_VERSION, its tag, goes into the rows). Exit status 3: something
is missing.
docs/measurement.md says how it is measured; the commit in the rows is that of the checkout.
"""
import argparse
import datetime
import json
import math
import os
import pathlib
import platform
import statistics
import subprocess
import sys
import time

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PRECISIONS = ("ieee", "tf32", "tf32x3", "bf16", "fp16")
TYPES = {"bf16": "bf16", "fp16": "f16"}  # of operands and result; f32 for all others
BATCH = 10  # rounds between two looks at the clock of the host
WARMUP_S, SETTLED_S, NOISE, MOST = 0.3, 0.3, 0.005, 500


def gamma(n, u):
    """n roundings of unit u (Higham 2002, lemma 3.1)."""
    return n * u / (1 - n * u)


def bound(precision, k):
    """Of |C - AB| over |A||B|, elementwise, and of the last rounding over |C|: docs/verification.md derives them."""
    sums = gamma(k + 2, 2.0**-23)  # tensor cores may cut where they add
    if precision == "ieee":
        return gamma(k, 2.0**-24), 0.0
    if precision == "tf32":
        return sums + 2 * 2.0**-10 + 2.0**-20, 0.0
    if precision == "tf32x3":
        return sums * 3 + 4 * 2.0**-20, 0.0
    return sums, 2.0**-9 if precision == "bf16" else 2.0**-12


def quartiles(samples):
    ordered = sorted(samples)
    median = statistics.median(ordered)

    def at(share):
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return {"n": len(ordered), "min": ordered[0], "q1": at(0.25), "median": median, "q3": at(0.75), "max": ordered[-1],
            "mad": statistics.median(abs(sample - median) for sample in ordered)}


def problem_json(m, n, k, precision):
    kind = TYPES.get(precision, "f32")
    return {"m": m, "n": n, "k": k, "lda": k, "ldb": n, "ldc": n, "alpha": 1.0, "beta": 0.0, "op_a": "N", "op_b": "N",
            "layout": "row", "in": kind, "out": kind}


def row_json(name, idea, precision, shape, device, errors, timing, reason="", telemetry=()):
    """One row; `errors` are (normwise, componentwise, of_bound) or None, `timing` (samples in ms, copies) or None."""
    m, n, k = shape
    width = 2 if precision in TYPES else 4
    problem = problem_json(m, n, k, precision)
    passed = errors is not None and errors[2] <= 1  # NaN is not
    outcome = "passed" if passed else "not_verified" if errors is None else "wrong_value"
    known = None if errors is None else dict(zip(("normwise", "componentwise", "of_bound"), errors))
    case = {"name": f"shape, {m}x{n}x{k}, uniform", "problem": problem, "values": "uniform", "seed": 1, "nan_operands": False,
            "outcome": outcome, "reason": reason, "reference": "PyTorch matmul in FP64", "errors": known}
    flops = 2.0 * m * n * k
    row = {"kernel": name, "rung": name.split("_")[0], "idea": idea, "place": "cuda", "role": "baseline",
           "precision": precision, "problem": problem, "flops": flops, "least_bytes": float(width * (m * k + k * n + m * n)),
           "device": device,
           "verdict": {"outcome": outcome, "reason": reason, "passed": int(passed), "refused": 0, "cases": [case]},
           "errors": known, "timing": None, "baseline": None, "counters": None, "derived": {}, "note": ""}
    if passed and timing:
        samples, copies = timing
        row["timing"] = {"ms": quartiles(samples), "samples_ms": [round(sample, 7) for sample in samples],
                         "telemetry": list(telemetry), "warmup_s": WARMUP_S, "operand_copies": copies,
                         "launches_per_sample": 1, "throttled": 0, "alarms": []}
        row["derived"] = {"tflops": flops / row["timing"]["ms"]["median"] * 1e-9}
    return row


def text_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, cwd=SOURCE).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return ""


def device_json(properties, clock_hz):
    cc = properties.major * 10 + properties.minor
    lanes = 128 if cc >= 86 else 64
    return {"name": properties.name, "cuda": True, "virtual": False, "ordinal": 0, "compute_capability": cc,
            "sm_count": properties.multi_processor_count, "memory_bytes": properties.total_memory, "sm_clock_hz": clock_hz,
            "fp32_flops": 2.0 * lanes * properties.multi_processor_count * clock_hz, "memory_bandwidth": 0.0}


def environment_json(torch, device):
    def smi(field):
        return text_of("nvidia-smi", f"--query-gpu={field}", "--format=csv,noheader,nounits").split("\n")[0]

    def number(text):
        try:
            return float(text)
        except ValueError:
            return None

    commit = os.environ.get("LADDER_COMMIT") or text_of("git", "describe", "--always", "--dirty", "--abbrev=12") or "unknown"
    return {"date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
            "version": "PyTorch " + torch.__version__, "commit": commit, "cpu": platform.processor() or platform.machine(),
            "cpu_threads": os.cpu_count() or 0, "cuda_toolkit": torch.version.cuda, "cuda_runtime": torch.version.cuda,
            "cuda_driver": "", "driver": smi("driver_version"), "cublas": "", "openblas": "", "device": device,
            "power_limit_w": number(smi("enforced.power.limit")), "max_sm_clock_mhz": number(smi("clocks.max.sm"))}


def torch_kernels(torch):
    def multiply(precision):
        def launch(a, b, c):
            torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
            torch.matmul(a, b, out=c)
        return launch

    return [(f"torch_{precision}", f"PyTorch {torch.__version__} matmul", precision, multiply(precision))
            for precision in ("ieee", "tf32", "bf16", "fp16")]


def triton_kernels(torch):
    try:
        import triton
        from triton_matmul import matmul
    except ImportError:
        print("Triton is not installed: its kernels are left out", file=sys.stderr)
        return []
    return [(f"triton_{precision}", f"Triton {triton.__version__} matmul, tuned over its tiles", precision,
             lambda a, b, c, precision=precision: matmul(a, b, c, precision))
            for precision in PRECISIONS]


def gemmul8_kernels(torch):
    path = os.environ.get("GEMMUL8")
    if not path:
        return []
    import gemmul8
    return gemmul8.kernels(torch, path, os.environ.get("GEMMUL8_VERSION", "of unknown version"))


def operands(torch, shape, precision, copies):
    m, n, k = shape
    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision, torch.float32)
    generator = torch.Generator(device="cuda").manual_seed(1)

    def uniform(rows, columns):
        return (torch.rand(rows, columns, device="cuda", generator=generator) * 2 - 1).to(dtype)

    return [(uniform(m, k), uniform(k, n), torch.full((m, n), math.nan, device="cuda", dtype=dtype)) for _ in range(copies)]


def errors_of(torch, launch, a, b, c, precision):
    launch(a, b, c)
    wide_a, wide_b = a.double(), b.double()
    exact = wide_a @ wide_b
    size = wide_a.abs() @ wide_b.abs()
    difference = (c.double() - exact).abs()
    products, last = bound(precision, a.shape[1])
    allowed = products * size + last * (exact.abs() + products * size)
    return (float(difference.norm() / exact.norm()), float((difference / size).max()), float((difference / allowed).max()))


def measure(torch, launch, sets, budget):
    """One event pair a launch, launches rotating over the sets, until the noise is low or the budget is spent."""
    end = time.monotonic() + WARMUP_S
    turn = 0
    while time.monotonic() < end:
        for _ in range(BATCH):
            launch(*sets[turn % len(sets)])
            turn += 1
        torch.cuda.synchronize()
    samples, start = [], time.monotonic()
    while len(samples) < MOST:
        events = []
        for _ in range(BATCH):
            pair = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
            pair[0].record()
            launch(*sets[turn % len(sets)])
            pair[1].record()
            events.append(pair)
            turn += 1
        torch.cuda.synchronize()
        samples += [first.elapsed_time(second) for first, second in events]
        spent = time.monotonic() - start
        noise = quartiles(samples)["mad"] / statistics.median(samples)
        if spent > budget or (spent > SETTLED_S and noise < NOISE):
            break
    return samples


def clock_reading():
    parts = text_of("nvidia-smi", "--query-gpu=clocks.sm,power.draw,temperature.gpu", "--format=csv,noheader,nounits")
    try:
        clock, power, temperature = (float(part) for part in parts.split("\n")[0].split(","))
    except ValueError:
        return []
    return [{"sm_clock_mhz": clock, "power_w": power, "temperature_c": temperature, "clock_reasons": None}]


def main(argv):
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--shape", action="append", help="MxNxK, or N for a cube; repeatable; default 4096")
    parser.add_argument("--kernel", action="append", help="torch_ieee, triton_tf32x3, gemmul8, ...: names or how they start; default all")
    parser.add_argument("--l2", choices=("cold", "warm"), default="cold")
    parser.add_argument("--budget", type=float, default=1.0, help="seconds a kernel")
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
    clock = text_of("nvidia-smi", "--query-gpu=clocks.max.sm", "--format=csv,noheader,nounits").split("\n")[0]
    device = device_json(properties, float(clock) * 1e6 if clock else 0.0)
    kernels = torch_kernels(torch) + triton_kernels(torch) + gemmul8_kernels(torch)
    if options.kernel:
        kernels = [kernel for kernel in kernels if kernel[0].startswith(tuple(options.kernel))]
    document = {"schema": "ladder-rows", "version": 1, "environment": environment_json(torch, device), "rows": []}
    for text in options.shape or ["4096"]:
        sizes = [int(part) for part in text.split("x")]
        shape = tuple(sizes * 3 if len(sizes) == 1 else sizes)
        for name, idea, precision, launch in kernels:
            width = 2 if precision in TYPES else 4
            m, n, k = shape
            bytes_of_set = width * (m * k + k * n + m * n)
            copies = 1 if options.l2 == "warm" else max(2, math.ceil(2 * properties.L2_cache_size / bytes_of_set))
            try:
                sets = operands(torch, shape, precision, copies)
                errors = errors_of(torch, launch, *sets[0], precision)
                timing = (measure(torch, launch, sets, options.budget), copies)
                row = row_json(name, idea, precision, shape, device, errors, timing, telemetry=clock_reading())
            except Exception as error:  # noqa: BLE001  a kernel that fails leaves the others' rows
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                row = row_json(name, idea, precision, shape, device, None, None, reason=reason)
            rate = row["derived"].get("tflops")
            print(f"{name:16} {text:>16} {row['verdict']['outcome']:>12} {'-' if rate is None else f'{rate:.1f}':>8} TFLOP/s",
                  flush=True)
            document["rows"].append(row)
            pathlib.Path(options.save).write_text(json.dumps(document), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
