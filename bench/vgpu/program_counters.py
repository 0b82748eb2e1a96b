#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counters of a program that was built elsewhere: what Nsight Compute reads on a GPU, and what the
virtual GPU says of the same launches.

  program_counters.py collect --rows FILE.csv [--ncu NCU] -- PROGRAM ARGS...   where the GPU is
  program_counters.py compare --rows FILE.csv --vgpu VGPU -- PROGRAM ARGS...   anywhere

Both take --name NAME (default: the name of PROGRAM's file) and --launches N (the first N only).

A row is a launch of one run: the program's name and arguments, the launch's number, its kernel's
symbol, the hash of its machine code, and a column for each metric of tests/golden/golden.py.
`collect` replaces the rows of the same program with the same arguments and keeps the others. Lines
that the program prints and that begin with "result" stand above the rows, as comments.

`compare` runs the program from machine code, with the numerics of Hopper's tensor cores, and
checks for races, since the counters of a launch that has one are estimates. It skips launches
whose machine code is not the measured one, and compares the lines "result" and each value that
the virtual GPU calls exact. Exit status: 0 all equal, 1 if something differs, a kernel is
refused or nothing could be compared.
"""
import argparse
import csv
import io
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/golden"))
import golden  # noqa: E402  (its folder is known only now)
sys.path.insert(0, str(ROOT / "bench"))
import whole_file  # noqa: E402

FOUND = 86  # vgpu's exit status where a check found something
FIELDS = ["program", "arguments", "launch", "symbol", "sass_sha256"]


def results(output):
    return [line for line in output.splitlines() if line.startswith("result")]


def named(options):
    return options.name or options.program[0].name, " ".join(options.program[1:])


def first_launches(options):
    return ["--launch-count", str(options.launches)] if options.launches else []


def read_rows(path):
    """Comments as (program, arguments, text), and rows."""
    comments, rows = golden.read_rows(path) if path.exists() else ([], [])
    return [tuple(line[2:].split(" | ", 2)) for line in comments], rows


def collect(options):
    output, launches = golden.profile(options.ncu, [*first_launches(options), *options.program])
    if not launches:
        sys.exit(f"program_counters: {options.program[0]} launches no kernel")
    hashes = golden.digests(options.program[0])
    program, arguments = named(options)
    comments, rows = read_rows(options.rows)
    comments = [comment for comment in comments if comment[:2] != (program, arguments)]
    comments += [(program, arguments, text) for text in [options.environment, *results(output)]]
    rows = [row for row in rows if (row["program"], row["arguments"]) != (program, arguments)]
    for number, launch in enumerate(launches):
        symbol = launch["Kernel Name"]
        rows.append({
            "program": program, "arguments": arguments, "launch": number, "symbol": symbol,
            "sass_sha256": hashes.get(symbol, ""), **golden.values_of(launch)
        })
    file = io.StringIO()
    file.writelines(f"# {' | '.join(comment)}\n" for comment in comments)
    writer = csv.DictWriter(file, FIELDS + golden.METRICS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    whole_file.replace(options.rows, file.getvalue())
    print(f"program_counters: {len(launches)} launches -> {options.rows}")
    return 0


def compare(options):
    program, arguments = named(options)
    comments, rows = read_rows(options.rows)
    rows = [row for row in rows if (row["program"], row["arguments"]) == (program, arguments)]
    if not rows:
        sys.exit(f"program_counters: {options.rows} has no rows of {program} {arguments}")
    hashes = golden.digests(options.program[0])
    output, launches = golden.counted(options.vgpu, options.program,
                                      ["--engine", "sass", "--check", "race",
                                       *first_launches(options)], (0, FOUND))
    differing = []
    measured = [text for *names, text in comments
                if names == [program, arguments] and text.startswith("result")]
    if results(output) != measured:
        differing += [f"prints {line}" for line in sorted(set(results(output)) ^ set(measured))]
    if len(launches) != len(rows):
        differing.append(f"makes {len(launches)} launches, on the GPU {len(rows)}")
    compared = 0
    for row, launch in zip(rows, launches):
        if hashes.get(row["symbol"]) != row["sass_sha256"]:
            print(f"skip launch {row['launch']}: its machine code is not the one that was measured")
            continue
        for metric, got in launch["metrics"].items():
            if row.get(metric):
                compared += 1
                if got != int(row[metric]):
                    differing.append(f"launch {row['launch']} {metric}: {row[metric]}, {got}")
    for text in differing:
        print(f"DIFFERS {program} {arguments}: {text}")
    print(f"program_counters: {program} {arguments}: {len(measured)} results and {compared} values "
          f"of {len(rows)} launches compared, {len(differing)} differ")
    return 1 if differing or not compared else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", required=True)
    for action, function in (("collect", collect), ("compare", compare)):
        sub = actions.add_parser(action)
        sub.set_defaults(function=function)
        sub.add_argument("--rows", type=pathlib.Path, required=True)
        sub.add_argument("--environment", default="",
                         help="collect: one line on date, commit, toolkit and driver")
        sub.add_argument("--name")
        sub.add_argument("--launches", type=int, metavar="N")
        sub.add_argument("--ncu", default="ncu")
        sub.add_argument("--vgpu", default="vgpu")
        sub.add_argument("program", nargs="+", metavar="PROGRAM ARGS")
    options = parser.parse_args()
    options.program[0] = pathlib.Path(options.program[0]).resolve()
    sys.exit(options.function(options))


if __name__ == "__main__":
    main()
