# SPDX-License-Identifier: Apache-2.0
"""PyTorch and CuPy over libladder_cublas.so: errors against FP64 and times, without and with it.

    python3 bench/python/dropin.py build/lib/libladder_cublas.so [torch] [cupy]

Each library runs in processes of its own: on cuBLAS alone, with the drop-in library preloaded, and
with it and memory of its own (LADDER_CUBLAS_WORKSPACE=own). PyTorch's part takes the sample inputs
and tolerances of PyTorch's own tests (torch.testing._internal, OpInfo) for every operation that
multiplies matrices, forward and backward; then products of common sizes, timed. CuPy's part
multiplies, and solves systems by conjugate gradients with many right-hand sides and by Newton's
iteration. A result outside the tolerances ends with exit status 1. Needs a GPU.
bench/h200/dropin.sh writes the output to results."""
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

OPERATIONS = ("mm", "addmm", "addbmm", "baddbmm", "bmm", "matmul", "__rmatmul__", "mv", "addmv",
              "inner", "einsum", "tensordot", "linalg.multi_dot", "linalg.matrix_power",
              "nn.functional.linear", "nn.functional.bilinear", "linalg.vecdot", "cov",
              "nn.functional.multi_head_attention_forward")
MODES = ("cuBLAS", "drop-in", "drop-in, own memory")


def best_of(run, synchronise, rounds=9, seconds=0.05):
    """Milliseconds per call: the median over rounds of enough calls."""
    import time
    run()
    synchronise()

    def timed(calls):
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        synchronise()
        return time.perf_counter() - begin

    calls = max(1, math.ceil(seconds / max(timed(3) / 3, 1e-6)))
    return 1000 * statistics.median(timed(calls) / calls for _ in range(rounds))


def torch_samples():
    """[(operation, samples, failures)] against the same operation in FP64 on the CPU."""
    import torch
    from torch.testing._internal.common_methods_invocations import op_db
    from torch.utils._pytree import tree_flatten, tree_map

    def in_double(x):
        if not isinstance(x, torch.Tensor):
            return x
        y = x.detach().cpu()
        y = y.double() if y.is_floating_point() else y
        return y.requires_grad_(x.requires_grad)

    rows = []
    for op in op_db:
        if op.name not in OPERATIONS or torch.float32 not in op.supported_dtypes("cuda"):
            continue
        samples, failures = 0, []
        for sample in op.sample_inputs("cuda", torch.float32, requires_grad=op.supports_autograd):
            arguments = (sample.input, sample.args, sample.kwargs)
            doubles = tree_map(in_double, arguments)
            try:
                got = op(arguments[0], *arguments[1], **arguments[2])
                expected = op(doubles[0], *doubles[1], **doubles[2])
                if op.supports_autograd:
                    got, expected = ([out] + gradients(torch, out, tree_flatten(given)[0])
                                     for out, given in ((got, arguments), (expected, doubles)))
                torch.testing.assert_close(tree_map(in_double, got), expected, rtol=1.3e-5,
                                           atol=1e-5, check_dtype=False)
            except AssertionError as error:
                failures.append(str(error).splitlines()[0])
            samples += 1
        rows.append((op.name, samples, failures))
    return rows


def gradients(torch, out, inputs):
    if not isinstance(out, torch.Tensor) or not out.requires_grad:
        return []
    inputs = [x for x in inputs if isinstance(x, torch.Tensor) and x.requires_grad]
    return list(torch.autograd.grad(out.sum(), inputs, allow_unused=True))


def torch_part():
    import torch
    result = {"samples": torch_samples(), "products": []}
    torch.manual_seed(1)

    def product(name, run, reference):
        error = (run().double() - reference).norm() / reference.norm()
        result["products"].append((name, float(error), best_of(run, torch.cuda.synchronize)))

    for n in (512, 1024, 2048, 4096, 8192):
        a, b, c = (torch.randn(n, n, device="cuda") for _ in range(3))
        product(f"mm {n}", lambda a=a, b=b: a @ b, a.double() @ b.double())
        if n in (1024, 4096):
            product(f"mm of a.T, b.T {n}", lambda a=a, b=b: a.T @ b.T, a.double().T @ b.double().T)
            product(f"addmm {n}", lambda a=a, b=b, c=c: torch.addmm(c, a, b, beta=0.5, alpha=2),
                    0.5 * c.double() + 2 * a.double() @ b.double())
    x = torch.randn(2048, 1024, device="cuda")
    layer = torch.nn.Linear(1024, 4096).cuda()
    product("linear 2048 x 1024 to 4096", lambda: layer(x).detach(),
            x.double() @ layer.weight.double().T + layer.bias.double())
    q, k = (torch.randn(32, 1024, 64, device="cuda") for _ in range(2))
    product("bmm 32 of 1024 x 64 x 1024", lambda: torch.bmm(q, k.transpose(1, 2)),
            torch.bmm(q.double(), k.double().transpose(1, 2)))
    return result


def cupy_part():
    import cupy
    synchronise = cupy.cuda.runtime.deviceSynchronize
    result = {"products": []}
    random = cupy.random.default_rng(1)

    def normal(*shape):
        return random.standard_normal(shape, dtype=cupy.float32)

    def add(name, error, run):
        result["products"].append((name, float(error), best_of(run, synchronise)))

    for n in (500, 1000, 2000, 4000):
        a, b = normal(n, n), normal(n, n)
        exact = a.astype("d") @ b.astype("d")
        add(f"matmul {n}", cupy.linalg.norm(a @ b - exact) / cupy.linalg.norm(exact),
            lambda a=a, b=b: a @ b)
    a, b = normal(16, 300, 400), normal(16, 400, 200)
    exact = a.astype("d") @ b.astype("d")
    add("matmul 16 of 300 x 400 x 200",
        cupy.linalg.norm(a @ b - exact) / cupy.linalg.norm(exact), lambda: a @ b)

    n, rights = 3072, 256
    g = normal(n, n)
    system = g @ g.T / n + cupy.eye(n, dtype=cupy.float32)
    right = normal(n, rights)

    def conjugate_gradients():
        x = cupy.zeros_like(right)
        r = right.copy()
        p = r.copy()
        rho = (r * r).sum(0)
        for _ in range(40):
            q = system @ p
            step = rho / (p * q).sum(0)
            x += step * p
            r -= step * q
            rho, before = (r * r).sum(0), rho
            p = r + rho / before * p
        return x

    exact = cupy.linalg.solve(system.astype("d"), right.astype("d"))
    add(f"conjugate gradients, {n} unknowns, {rights} right-hand sides",
        cupy.linalg.norm(conjugate_gradients() - exact) / cupy.linalg.norm(exact),
        conjugate_gradients)

    def newton():
        x = system.T / (cupy.abs(system).sum(0).max() * cupy.abs(system).sum(1).max())
        two = 2 * cupy.eye(n, dtype=cupy.float32)
        for _ in range(30):
            x = x @ (two - system @ x)
        return x

    exact = cupy.linalg.inv(system.astype("d"))
    add(f"inverse by Newton's iteration, {n}",
        cupy.linalg.norm(newton() - exact) / cupy.linalg.norm(exact), newton)
    return result


def run_in_process(part, mode, library):
    """The part's result, and the drop-in's table of calls."""
    environment = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        if mode != "cuBLAS":
            environment |= {"LD_PRELOAD": library, "LADDER_CUBLAS_REPORT": str(report)}
        if mode == "drop-in, own memory":
            environment["LADDER_CUBLAS_WORKSPACE"] = "own"
        done = subprocess.run([sys.executable, __file__, "--part", part], env=environment,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:
            sys.exit(f"{part}, {mode}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
        return json.loads(lines[-1]), report.read_text() if report.exists() else ""


def main():
    if sys.argv[1:2] == ["--part"]:
        print(json.dumps({"torch": torch_part, "cupy": cupy_part}[sys.argv[2]]()))
        return 0
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    library, parts = str(pathlib.Path(sys.argv[1]).resolve()), sys.argv[2:] or ["torch", "cupy"]
    failed = False
    for part in parts:
        results, calls = {}, {}
        for mode in MODES:
            results[mode], calls[mode] = run_in_process(part, mode, library)
        for mode in MODES:
            for i, (name, samples, failures) in enumerate(results[mode].get("samples", ())):
                print(f"{part}, {mode}: {name}: {samples} samples, {len(failures)} outside the "
                      "tolerance")
                # Some are outside on cuBLAS, too: FP32's own error there exceeds the tolerance.
                failed |= len(failures) > len(results["cuBLAS"]["samples"][i][2])
        print(f"\n{part}: error against FP64 (Frobenius), milliseconds, and cuBLAS's time over the "
              "drop-in's")
        for i, (name, error, time) in enumerate(results["cuBLAS"]["products"]):
            line = f"  {name:<58} {error:.2e} {time:9.4f}"
            for mode in MODES[1:]:
                _, other, faster = results[mode]["products"][i]
                line += f" | {other:.2e} {faster:9.4f} {time / faster:5.2f}"
                failed |= not other <= 1.05 * error
            print(line)
        for mode in MODES[1:]:
            print(f"\n{part}, {mode}:\n{calls[mode]}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
