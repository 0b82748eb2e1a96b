#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU's speed on what programs do besides multiplying matrices (ordinary.cu): user
processor time of each kernel without checks and with the default ones, and instructions of threads
in a second of a core.

ordinary.py [--build build] [--before VGPU] [--file results/cpu/ordinary.txt] [--repetitions 5]

--before: another build's bin/vgpu, measured in turn with this one. Least times of the repetitions:
what else the machine does only adds to them. The time of a program that launches nothing is
subtracted.
"""
import argparse
import json
import math
import os
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402  (its folder is known only now)

KERNELS = ["sort", "count", "count_in_bytes", "search", "scan", "stencil", "simulate"]
MODES = {"none": ["--check", "none"], "default": []}


def seconds(vgpu, mode, program, kernel):
    process = subprocess.Popen([vgpu, *MODES[mode], "--", program, kernel])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"ordinary.py: {vgpu} {mode} {kernel}: exit status {process.returncode}")
    return usage.ru_utime


def instructions(vgpu, program, kernel):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "counters.json")
        subprocess.run([vgpu, "--check", "none", "--counters", file, "--", program, kernel],
                       check=True)
        launches = json.loads(file.read_text())["launches"]
    return sum(launch["metrics"]["smsp__thread_inst_executed.sum"] for launch in launches)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--before")
    parser.add_argument("--file", default="results/cpu/ordinary.txt")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    program = f"{options.build}/bin/ordinary"
    builds = {"after": f"{options.build}/bin/vgpu"}
    if options.before:
        builds = {"before": options.before, **builds}
    least = {}
    for _ in range(options.repetitions):
        for kernel in ["nothing", *KERNELS]:
            for mode in MODES:
                for build, vgpu in builds.items():
                    key = build, mode, kernel
                    least[key] = min(least.get(key, math.inf),
                                     seconds(vgpu, mode, program, kernel))
    doctor = subprocess.run([f"{options.build}/bin/ladder", "doctor"], capture_output=True,
                            text=True, check=False).stdout
    table = [line for line in doctor.splitlines() if re.match(r"ladder|ok +CPU", line)]
    table.append(f"{'kernel':16}" + "".join(f"{build + ': G/s':>14}{'none, s':>10}{'default, s':>12}"
                                            f"{'ratio':>8}" for build in builds))
    for kernel in KERNELS:
        count = instructions(builds["after"], program, kernel)
        row = f"{kernel:16}"
        for build in builds:
            time = {mode: least[build, mode, kernel] - least[build, mode, "nothing"]
                    for mode in MODES}
            row += (f"{count / time['none'] / 1e9:14.2f}{time['none']:10.3f}"
                    f"{time['default']:12.3f}{time['default'] / time['none']:7.2f}x")
        table.append(row)
    whole_file.replace(options.file, "\n".join(table) + "\n")
    print("\n".join(table))


if __name__ == "__main__":
    main()
