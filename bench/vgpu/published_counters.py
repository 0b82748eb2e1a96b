#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of published SGEMM ladders, unmodified: what Nsight Compute reads on an H200, and what
the virtual GPU says.

  published_counters.py collect PROGRAMS [--ncu NCU]  where the GPU is: writes
                                                      results/h200/published.csv
  published_counters.py compare PROGRAMS --vgpu VGPU  anywhere: writes
                                                      results/h200/published-compared.csv
  published_counters.py table                         the latter as a table of
                                                      docs/virtual-gpu/counters.md

LADDERS names the ladders and their commits; PROGRAMS/NAME is the program of each, built with nvcc
-O3 -cudart shared -lineinfo for sm_90. Of each kernel the first launch at each of the program's
first sizes is profiled. A row of `collect` is a launch: ladder, kernel, size, symbol, the hash of
its machine code, and a column for each metric of tests/golden/golden.py. `compare` runs the same
programs, skips a kernel whose machine code is not the measured one, and holds each value that the
virtual GPU calls exact to the row; it ends with 1 if one differs or if nothing could be compared.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
import golden  # noqa: E402  (its folder is known only now)
sys.path.insert(0, str(ROOT / "bench"))
import whole_file  # noqa: E402
sys.path.insert(0, str(ROOT / "bench/h200"))
import pages  # noqa: E402

# The kernels' numbers, the program's first sizes, and the number of launches per kernel and size.
Ladder = collections.namedtuple("Ladder", "owner commit kernels sizes launches")
LADDERS = {
    "SGEMM_CUDA": Ladder("siboehm", "60cba6f9b20a198116c76f18de8047f44df8c8b8", range(1, 13),
                         [128, 256, 512, 1024], 51),
    "NVIDIA_SGEMM_PRACTICE": Ladder("wangzyon", "d6068b13e9997ccff51c9d3cb773afd176fb7d8f",
                                    range(1, 8), [256, 512, 768, 1024], 11),
    "Optimizing-SGEMM-on-NVIDIA-Turing-GPUs": Ladder("yzhaiustc",
                                                     "a5c0d6ce593553cdf87848821b1433d7930d0cc4",
                                                     range(1, 12), [256, 512, 768, 1024], 11),
}
# without those of cuBLAS, which the virtual GPU does not execute
KERNELS = "^(sgemm|mysgemm|runSgemm)"
FIELDS = ["ladder", "kernel", "size", "symbol", "sass_sha256"]
ROWS, COMPARED = ROOT / "results/h200/published.csv", ROOT / "results/h200/published-compared.csv"


def collect_kernel(options, name, kernel):
    """A row for each size: the first launch of the kernel there."""
    ladder, program = LADDERS[name], (options.programs / name).resolve()
    firsts = "|".join(str(1 + i * ladder.launches) for i in range(len(ladder.sizes)))
    with tempfile.TemporaryDirectory() as folder:  # some write files to the working folder
        _, rows = golden.profile(options.ncu, [program, str(kernel)], [
            "--kernel-id", f"::regex:{KERNELS}:^({firsts})$", "--launch-count",
            str(len(ladder.sizes)), "--kill", "yes"
        ], folder)
    return rows


def collect(options):
    kernels = [(name, kernel) for name, ladder in LADDERS.items() for kernel in ladder.kernels]
    hashes = {name: golden.digests(options.programs / name) for name in LADDERS}
    # Nsight Compute serialises launches; the programs' preparations can overlap.
    file = io.StringIO()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        file.write(f"# {options.environment}\n")
        for name, ladder in LADDERS.items():
            file.write(f"# {name}: github.com/{ladder.owner}/{name} at {ladder.commit}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS + golden.METRICS)
        for (name,
             kernel), rows in zip(kernels,
                                  pool.map(lambda each: collect_kernel(options, *each), kernels)):
            for size, row in zip(LADDERS[name].sizes, rows):
                values, symbol = golden.values_of(row), row["Kernel Name"]
                writer.writerow([name, kernel, size, symbol, hashes[name][symbol]]
                                + [values.get(metric, "") for metric in golden.METRICS])
            whole_file.replace(options.rows, file.getvalue())
            print(f"{name} {kernel}: {len(rows)} launches", flush=True)


def launches_so_far(path):
    try:
        return json.loads(path.read_text())["launches"]
    except (OSError, ValueError):  # not written yet, or only in part
        return []


def run_virtual(options, program, kernel, count):
    """Counters of the first `count` launches; fewer where the program ends before."""
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder) / "counters.json"
        process = subprocess.Popen(
            [options.vgpu, "--device", "h200", "--check", "none", "--counters", counters,
             "--launch-count", str(count), "--", program, str(kernel)],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        try:
            while process.poll() is None and len(launches_so_far(counters)) < count:
                time.sleep(0.2)
        finally:
            process.terminate()
            process.wait()
        return launches_so_far(counters)


def compare_kernel(options, name, kernel, rows, hashes):
    """[compared, differing metrics as "METRIC at SIZE: HARDWARE, VIRTUAL", the engine], or None
    where the code differs."""
    ladder = LADDERS[name]
    if any(hashes.get(row["symbol"]) != row["sass_sha256"] for row in rows):
        print(
            f"skip {name} {kernel}: its machine code is not the one that was measured (another compiler)"
        )
        return None
    last = ladder.sizes.index(int(rows[-1]["size"])) * ladder.launches
    launches = run_virtual(options, (options.programs / name).resolve(), kernel, last + 1)
    compared, differing, engines = 0, [], set()
    for row in rows:
        index = ladder.sizes.index(int(row["size"])) * ladder.launches
        if index >= len(launches):
            sys.exit(
                f"published_counters: {name} {kernel}: no launch at {row['size']} on the virtual GPU"
            )
        engines.add(launches[index]["engine"])
        for metric, got in launches[index]["metrics"].items():
            if row.get(metric):
                compared += 1
                if got != int(row[metric]):
                    differing.append(f"{metric} at {row['size']}: {row[metric]}, {got}")
    return compared, differing, " ".join(sorted(engines))


def compare(options):
    comments, all_rows = golden.read_rows(options.rows)
    measured = collections.defaultdict(list)
    for row in all_rows:
        measured[row["ladder"], int(row["kernel"])].append(row)
    values = unequal = 0
    file = io.StringIO()
    file.write("\n".join(comments) + "\n")
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["ladder", "kernel", "sizes", "engine", "compared", "differing"])
    for (name, kernel), rows in measured.items():
        result = compare_kernel(options, name, kernel, rows,
                                golden.digests(options.programs / name))
        if result is None:
            continue
        compared, differing, engine = result
        writer.writerow([
            name, kernel, " ".join(row["size"] for row in rows), engine, compared,
            "; ".join(differing)
        ])
        whole_file.replace(options.compared, file.getvalue())
        for text in differing:
            print(f"DIFFERS {name} {kernel} {text}", flush=True)
        values, unequal = values + compared, unequal + len(differing)
    print(f"published_counters: {values} values compared, {unequal} differ")
    return 1 if unequal or not values else 0


def table_lines(path):
    comments, rows = golden.read_rows(path)
    yield f"{comments[0].lstrip('# ')}.\n\n"
    yield "| ladder | kernels | sizes | launches | values compared | equal |\n|---|---|---|---:|---:|---:|\n"
    for name, ladder in LADDERS.items():
        mine = [row for row in rows if row["ladder"] == name]
        if not mine:
            continue
        compared = sum(int(row["compared"]) for row in mine)
        differing = sum(len(row["differing"].split("; ")) for row in mine if row["differing"])
        launches = sum(len(row["sizes"].split()) for row in mine)
        yield (
            f"| [{name}](https://github.com/{ladder.owner}/{name}/tree/{ladder.commit}) "
            f"| {mine[0]['kernel']} to {mine[-1]['kernel']} | {', '.join(map(str, ladder.sizes))} | {launches} "
            f"| {compared} | {compared - differing} |\n")


def table(options):
    pages.put_into("docs/virtual-gpu/counters.md", "published",
                   "".join(table_lines(options.compared)))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action, function in (("collect", collect), ("compare", compare), ("table", table)):
        sub = actions.add_parser(action)
        sub.set_defaults(function=function)
        if action != "table":
            sub.add_argument("programs", type=pathlib.Path)
        sub.add_argument("--rows", type=pathlib.Path, default=ROWS)
        sub.add_argument("--compared", type=pathlib.Path, default=COMPARED)
        sub.add_argument("--environment", default="",
                         help="collect: one line on date, commit, toolkit and driver")
        sub.add_argument("--ncu", default="ncu")
        sub.add_argument("--jobs", type=int, default=1, help="collect: programs that run at a time")
        sub.add_argument("--vgpu", default="vgpu")
    options = parser.parse_args()
    options.vgpu = pathlib.Path(options.vgpu).resolve() if "/" in options.vgpu else options.vgpu
    sys.exit(options.function(options))


if __name__ == "__main__":
    main()
