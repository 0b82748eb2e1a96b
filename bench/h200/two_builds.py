#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether ladder::sgemm is as fast in one build as in another: both builds' bench_mixed launched in
turn.

  bench/h200/two_builds.py OLD NEW OUTPUT [SUITE...]

OLD and NEW: bench_mixed of the two builds. Suites: mixed, square, layouts, transformer by default.
Problems that differ by more than 3% are measured twice more by each. OUTPUT: CSV, one row per
problem and precision. Exit status 1 where the geometric mean of new over old rates is below 0.99,
or a row below 0.95.
"""
import csv
import math
import os
import statistics
import subprocess
import sys

OUTLIER, AGAIN = 0.03, 2


def measure(program, what):
    """The microseconds of each problem and precision."""
    text = subprocess.run([program, *what], stdout=subprocess.PIPE, text=True).stdout
    rows = csv.DictReader(text.splitlines())
    return {(row["problem"], mode): float(row[f"{mode}_us"])
            for row in rows
            for mode in ("auto", "ieee")}


def main():
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    programs, output = sys.argv[1:3], sys.argv[3]
    times = {}  # (suite, problem, mode): ([old], [new])
    for suite in sys.argv[4:] or ["mixed", "square", "layouts", "transformer"]:
        for which, program in enumerate(programs):
            for key, us in measure(program, [suite]).items():
                times.setdefault((suite, *key), ([], []))[which].append(us)
    times = {key: both for key, both in times.items() if all(both)}
    for repeat in range(AGAIN):
        far = {
            suite
            for (suite, *_), (old, new) in times.items()
            if abs(old[0] / new[0] - 1) > OUTLIER
        }
        for suite in sorted(far):
            for which in (0, 1) if repeat % 2 else (1, 0):
                for key, us in measure(programs[which], [suite]).items():
                    times[(suite, *key)][which].append(us)
    ratios = {
        key: statistics.median(old) / statistics.median(new)
        for key, (old, new) in times.items()
    }
    mean = math.exp(statistics.fmean(map(math.log, ratios.values())))
    with open(output, "w") as file:
        environment = os.path.join(os.path.dirname(os.path.abspath(__file__)), "environment.sh")
        file.write("# " +
                   subprocess.run([environment], capture_output=True, text=True).stdout.strip() +
                   "\n")
        file.write(
            f"# geometric mean of new over old rates {mean:.4f}, least {min(ratios.values()):.3f}\n"
        )
        file.write("suite,problem,precision,old_us,new_us,new_over_old_rate\n")
        for (suite, problem, mode), (old, new) in times.items():
            file.write(
                f"{suite},{problem},{mode},{statistics.median(old):.2f},{statistics.median(new):.2f},"
                f"{ratios[suite, problem, mode]:.3f}\n")
    print(f"{len(ratios)} rows, geometric mean {mean:.4f}, least {min(ratios.values()):.3f}")
    return 0 if mean >= 0.99 and min(ratios.values()) >= 0.95 else 1


if __name__ == "__main__":
    sys.exit(main())
