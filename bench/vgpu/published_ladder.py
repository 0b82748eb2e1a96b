#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a published SGEMM ladder, as it is, and runs each of its kernels under vgpu with all checks on.

published_ladder.py CHECKOUT --vgpu build/bin/vgpu --kernels 1-12 [--seconds 60] [--nvcc nvcc] [--check LIST]
                    [--wrong REGEX] [--sources GLOB...] [--include DIR...]

CHECKOUT holds a program that takes a kernel's number, compares each product with cuBLAS's and says when they differ, as
those of github.com/siboehm/SGEMM_CUDA, github.com/wangzyon/NVIDIA_SGEMM_PRACTICE and
github.com/yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs do. It is built outside the checkout. Such programs go on to
sizes that take a GPU seconds and a virtual one hours: after --seconds a kernel is stopped, and counts by the sizes that
it had finished.

Prints one line a kernel: its number, the sizes finished, "right", "wrong" or "fault", the seconds that a launch took at
each size, and the first line of a fault's report. Ends with 0 if all kernels are right and at least one size of each was finished.
"""
import argparse
import glob
import os
import re
import subprocess
import sys
import tempfile

FINISHED = re.compile(r"Average ela(?:ps|sp)ed time:?[\s(]*([0-9.]+)", re.IGNORECASE)
FAULT_STATUS = 86
SOURCES = ["sgemm.cu", "test.cu", "utils.cu", "src/*.cu"]
INCLUDE = ["src", "include", "."]


def kernel_numbers(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def build(checkout, program, nvcc="nvcc", source_globs=SOURCES, include=INCLUDE):
    sources = [path for pattern in source_globs for path in glob.glob(os.path.join(checkout, pattern))]
    command = [nvcc, "-O3", "-cudart", "shared", "-lineinfo", "-w",
               "-gencode", "arch=compute_80,code=compute_80", "-gencode", "arch=compute_90,code=sm_90",
               *(f"-I{os.path.join(checkout, folder)}" for folder in include),
               *sorted(sources), "-lcublas", "-lcuda", "-o", program]
    subprocess.run(command, check=True)


def run(options, program, number, folder):
    """(seconds of a launch at each size that was finished, verdict, detail)"""
    command = [options.vgpu, "--check", options.check, "--", program, str(number)]
    with open(os.path.join(folder, "out"), "w+", errors="replace") as out, \
            open(os.path.join(folder, "err"), "w+", errors="replace") as err:
        # Line by line, so that what was finished is known when the time is up.
        process = subprocess.Popen(["stdbuf", "-oL", *command], stdout=out, stderr=err, cwd=folder)
        try:
            status = process.wait(options.seconds)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
            status = None
        out.seek(0)
        err.seek(0)
        printed, said = out.read(), err.read()
    times = FINISHED.findall(printed)
    reports = [line for line in said.splitlines() if line.startswith("vgpu: ")]
    if status == FAULT_STATUS:
        return times, "fault", " | ".join(line[len("vgpu: "):].strip() for line in reports[:6])
    if re.search(options.wrong, printed):
        return times, "wrong", re.search(options.wrong, printed).group(0)
    if status not in (0, None):
        return times, "error", f"exit status {status}; {' | '.join(said.splitlines()[:3])}"
    return times, "right", "stopped after the time limit" if status is None else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout")
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--kernels", required=True, type=kernel_numbers)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--check", default="memory,race,init,sync")
    parser.add_argument("--wrong", default=r"(?i)fail(ed)? to pass the correctness|divergence!|should.*is ")
    parser.add_argument("--sources", nargs="+", default=SOURCES)
    parser.add_argument("--include", nargs="+", default=INCLUDE)
    options = parser.parse_args()
    options.vgpu = os.path.abspath(options.vgpu)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "ladder")
        build(options.checkout, program, options.nvcc, options.sources, options.include)
        for number in options.kernels:
            times, verdict, detail = run(options, program, number, folder)
            print(f"kernel {number:2}: {len(times):2} sizes ({' '.join(times)} s), {verdict}{': ' if detail else ''}{detail}",
                  flush=True)
            good &= verdict == "right" and len(times) > 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
