#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs each kernel of a published SGEMM ladder under vgpu with all checks on.

published_ladder.py PROGRAM --vgpu build/bin/vgpu --kernels 1-12 [--seconds 60] [--check LIST]
[--wrong REGEX]

PROGRAM, built with nvcc -cudart shared, takes the number of a kernel, compares each product with
cuBLAS's and says when they differ, as those of github.com/siboehm/SGEMM_CUDA,
github.com/wangzyon/NVIDIA_SGEMM_PRACTICE and
github.com/yzhaiustc/Optimizing-SGEMM-on-NVIDIA-Turing-GPUs do. Such programs go on to sizes that
take a GPU seconds and the virtual GPU hours: a kernel is stopped after --seconds and judged by the
sizes that it finished.

Prints one line per kernel: its number, the sizes finished, "right", "wrong" or "fault", the seconds
per launch at each size, and the first line of a fault's report. Exit status 0 if all kernels are
right and finished at least one size.
"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

FINISHED = re.compile(r"Average ela(?:ps|sp)ed time:?[\s(]*([0-9.]+)", re.IGNORECASE)
FAULT_STATUS = 86


def kernel_numbers(text):
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def run(options, program, number, folder):
    """(seconds per launch at each finished size, verdict, detail)"""
    command = [
        options.vgpu, "--no-reuse", "--check", options.check, "--", program,
        str(number)
    ]
    with open(os.path.join(folder, "out"), "w+", errors="replace") as out, \
            open(os.path.join(folder, "err"), "w+", errors="replace") as err:
        # Line by line, so that the finished sizes are known when the time is up.
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
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--kernels", required=True, type=kernel_numbers)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--check", default="memory,race,init,sync")
    parser.add_argument("--wrong",
                        default=r"(?i)fail(ed)? to pass the correctness|divergence!|should.*is ")
    options = parser.parse_args()
    options.vgpu = os.path.abspath(options.vgpu)
    good = True
    with tempfile.TemporaryDirectory() as folder:
        for number in options.kernels:
            times, verdict, detail = run(options, options.program, number, folder)
            print(
                f"kernel {number:2}: {len(times):2} sizes ({' '.join(times)} s), {verdict}{': ' if detail else ''}{detail}",
                flush=True)
            good &= verdict == "right" and len(times) > 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
