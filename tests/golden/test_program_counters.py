# SPDX-License-Identifier: Apache-2.0
"""bench/vgpu/program_counters.py with a stand-in for Nsight Compute, which prints what the virtual
GPU counts: rows are collected and replaced, equal values pass, an altered one is named.

usage: test_program_counters.py VGPU PROGRAM_WITH_ONE_KERNEL
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import golden

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "bench/vgpu/program_counters.py"


def as_ncu(arguments):
    """Like ncu --csv --page raw: the program's output, then a line of names, of units, of values."""
    at = next(i for i, argument in enumerate(arguments) if argument == "--metrics") + 2
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder) / "counters.json"
        subprocess.run([os.environ["VGPU"], "--device", "h200", "--check", "none", "--counters",
                        counters, "--", *arguments[at:]], check=True)
        launches = json.loads(counters.read_text())["launches"]
    print("result of the program: 1")
    metrics = arguments[at - 1].split(",")
    (symbol,) = golden.sass_sections(arguments[at])  # a program with one kernel
    writer = csv.writer(sys.stdout, quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writerow(["ID", "Kernel Name", *metrics])
    writer.writerow(["", "", *("inst" for _ in metrics)])
    for number, launch in enumerate(launches):
        values = (launch["metrics"].get(metric) for metric in metrics)
        writer.writerow([number, symbol,
                         *("n/a" if value is None else f"{value:,}" for value in values)])


def run(*arguments):
    result = subprocess.run([sys.executable, SCRIPT, *arguments], capture_output=True, text=True,
                            check=False)
    return result.returncode, result.stdout + result.stderr


def main(vgpu, program):
    with tempfile.TemporaryDirectory() as folder:
        rows, ncu = pathlib.Path(folder) / "rows.csv", pathlib.Path(folder) / "ncu"
        ncu.write_text(f"#!/bin/sh\nVGPU='{vgpu}' exec '{sys.executable}' '{__file__}' "
                       "--as-ncu \"$@\"\n")
        ncu.chmod(0o755)
        collect = ["collect", "--rows", rows, "--ncu", ncu, "--environment", "a line", "--",
                   program]
        compare = ["compare", "--rows", rows, "--vgpu", vgpu, "--", program]
        for _ in range(2):  # the second time replaces the rows
            status, text = run(*collect)
            assert status == 0, text
        kept = rows.read_text()
        assert kept.count("a line") == 1 and kept.count("| result of the program: 1") == 1, kept
        rows.write_text(kept.replace("result of the program: 1", "another line"))
        status, text = run(*compare)
        assert status == 0 and ", 0 differ" in text and " 0 values" not in text, text
        rows.write_text(kept)
        status, text = run(*compare)
        assert status == 1 and "prints result of the program" in text, text
        named = [*compare[:-2], "--name", "another", *compare[-2:]]
        status, text = run(*named)
        assert status == 1 and "has no rows of another" in text, text
        status, text = run(*compare, "other", "arguments")
        assert status == 1 and "has no rows" in text, text
        lines = kept.replace("result of", "none of").splitlines()
        head = next(i for i, line in enumerate(lines) if line.startswith("program,"))
        names, cells = lines[head].split(","), lines[head + 1].split(",")
        column = names.index("smsp__inst_executed.sum")
        cells[column] = str(int(cells[column]) + 1)
        rows.write_text("\n".join([*lines[:head + 1], ",".join(cells), *lines[head + 2:]]) + "\n")
        status, text = run(*compare)
        assert status == 1 and "DIFFERS" in text and "smsp__inst_executed.sum" in text, text
        assert ", 1 differ" in text, text


if __name__ == "__main__":
    if sys.argv[1] == "--as-ncu":
        as_ncu(sys.argv[2:])
    else:
        main(*sys.argv[1:])
