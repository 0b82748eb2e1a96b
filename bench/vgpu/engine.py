#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The virtual GPU's own speed on this machine: instructions of threads that it executes in a second
of one core, from PTX and from machine code, how much longer each check makes that, and the
CUDA-core rungs at 256^3 with all checks.

engine.py [--build build] [--file results/cpu/engine.txt] [--repetitions 5]

Medians. Rates are by processor time, so that what else the machine does matters little; the rungs'
time is what a clock on the wall shows, on all cores.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402  (its folder is known only now)

KERNELS = ["naive", "coalesced", "tiled", "block_tiled", "scale", "divergent"]


def rates(program, repetitions):
    """{(engine, kernel, mode): instructions per second of one core}"""
    command = [
        program, "--benchmark_format=json", f"--benchmark_repetitions={repetitions}",
        "--benchmark_min_time=0.2", "--benchmark_filter=^run/.*(" + "|".join(KERNELS) +
        ")(_check_race|_check_init|_all_checks)?/real_time$"
    ]
    rows = json.loads(subprocess.run(command, check=True, capture_output=True,
                                     text=True).stdout)["benchmarks"]
    seen = {}
    for row in rows:
        if row.get("run_type") == "aggregate":
            continue
        name = re.fullmatch(rf"run/(sass_)?({'|'.join(KERNELS)})(.*)/real_time", row["name"])
        rate = row["lane_instructions/s"] * row["real_time"] / row["cpu_time"]
        seen.setdefault(("sass" if name[1] else "ptx", name[2], name[3].lstrip("_")),
                        []).append(rate)
    return {key: statistics.median(values) for key, values in seen.items()}


def rungs(build):
    """Seconds of golden_launch, which starts the small kernels of tests/golden and every CUDA-core
    rung once."""
    start = time.monotonic()
    subprocess.run([
        f"{build}/bin/vgpu", "--check", "memory,race,init,sync", "--", f"{build}/bin/golden_launch",
        "256x256x256"
    ], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--file", default="results/cpu/engine.txt")
    parser.add_argument("--repetitions", type=int, default=5)
    options = parser.parse_args()
    doctor = subprocess.run([f"{options.build}/bin/ladder", "doctor"], capture_output=True,
                            text=True, check=False).stdout
    head = [line for line in doctor.splitlines() if re.match(r"ladder|ok +CPU", line)]
    measured = rates(f"{options.build}/bin/bench_engine", options.repetitions)
    modes = ["check_race", "check_init", "all_checks"]
    table = [
        f"{'engine':8}{'kernel':14}{'G/s of a core':>14}" +"".join(f"{mode:>14}" for mode in modes)
    ]
    for engine in ("ptx", "sass"):
        for kernel in KERNELS:
            base = measured[engine, kernel, ""]
            table.append(f"{engine:8}{kernel:14}{base / 1e9:14.2f}" +
                         "".join(f"{base / measured[engine, kernel, mode]:13.2f}x"
                                 for mode in modes))
    seconds = statistics.median(rungs(options.build) for _ in range(options.repetitions))
    table.append(
        f"CUDA-core rungs at 256^3 and the small kernels of tests/golden, all checks: {seconds:.2f} s on "
        f"{os.cpu_count()} threads")
    whole_file.replace(options.file, "\n".join(head + table) + "\n")
    print("\n".join(table))


if __name__ == "__main__":
    main()
