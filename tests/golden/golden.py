#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden counters: what Nsight Compute reads on a GPU, and what the virtual GPU must say of the same launches.

  golden.py collect --launcher PROGRAM --ncu NCU --golden FILE.csv   on a machine with the GPU
  golden.py check --launcher PROGRAM --vgpu VGPU --golden FILE.csv   anywhere

A row is (kernel, shape, symbol, hash of its machine code, metric, value). Where the machine code has changed since
the rows were measured (another compiler, another source), the check skips that kernel with a message; it never
compares. A rung of the registry that has no rows is named too.
Exit status of check: 0 all equal, 1 a value differs, 77 nothing could be compared.
"""
import argparse
import csv
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

SHAPES = ["256x256x256", "250x251x253"]
METRICS = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
]
FIELDS = ["kernel", "shape", "symbol", "sass_sha256", "metric", "value"]


def sass_sections(program):
    """Machine code of every kernel for sm_90 in an executable's fat binaries: {mangled name: bytes}."""
    data = open(program, "rb").read()
    code, at = {}, 0
    while (at := data.find(struct.pack("<IH", 0xBA55ED50, 1), at)) >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, at + header + size
        while entry < end:
            kind, _, entry_header, entry_size = struct.unpack_from("<HHIQ", data, entry)
            body = data[entry + entry_header:entry + entry_header + entry_size]
            if kind == 2 and body[:4] == b"\x7fELF":
                code.update(text_sections(body))
            entry += entry_header + entry_size
        at = end
    return code


def text_sections(elf):
    (table,) = struct.unpack_from("<Q", elf, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", elf, 0x3A)
    heads = [struct.unpack_from("<IIQQQQ", elf, table + i * entry_size) for i in range(count)]
    names = heads[names_index][4]
    sections = {}
    for name, _, _, _, offset, size in heads:
        text = elf[names + name:elf.index(b"\0", names + name)].decode()
        if text.startswith(".text."):
            sections[text[len(".text."):]] = elf[offset:offset + size]
    return sections


def launched(output):
    """The launches in the launcher's output: one line "launched KERNEL SHAPE" each, in order."""
    return [tuple(line.split()[1:]) for line in output.splitlines() if line.startswith("launched ")]


def collect(options):
    command = [options.ncu, "--csv", "--page", "raw", "--clock-control", "none", "--print-kernel-base", "mangled",
               "--metrics", ",".join(METRICS), options.launcher] + SHAPES
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"golden: {' '.join(command)}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(line for line in lines[first:] if line.startswith('"')))[1:]  # row 0 holds units
    launches = launched(result.stdout)
    if not launches or len(rows) != len(launches):
        sys.exit(f"golden: ncu saw {len(rows)} kernels in {len(launches)} launches of rungs")
    sections = sass_sections(options.launcher)
    with open(options.golden, "w", newline="") as file:
        file.write(f"# {options.environment}\n")
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for (kernel, shape), row in zip(launches, rows):
            symbol = row["Kernel Name"]
            digest = hashlib.sha256(sections[symbol]).hexdigest()
            for metric in METRICS:
                value = int(float(row[metric].replace(",", "")))
                writer.writerow([kernel, shape, symbol, digest, metric, value])
    print(f"golden: {len(launches)} launches, {len(METRICS)} metrics each -> {options.golden}")


def read_golden(path):
    golden = {}
    for row in csv.DictReader(line for line in open(path) if not line.startswith("#")):
        launch = golden.setdefault((row["kernel"], row["shape"]),
                                   {"symbol": row["symbol"], "sha256": row["sass_sha256"], "metrics": {}})
        launch["metrics"][row["metric"]] = int(row["value"])
    return golden


def run_virtual(options):
    """[((kernel, shape), counters)] of every launch on the virtual GPU."""
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters.json")
        result = subprocess.run([options.vgpu, "--device", "h200", "--counters", counters, "--", options.launcher]
                                + SHAPES, check=True, stdout=subprocess.PIPE, text=True)
        launches = json.load(open(counters))["launches"]
    names = launched(result.stdout)
    if len(launches) != len(names):
        sys.exit(f"golden: the virtual GPU saw {len(launches)} kernels in {len(names)} launches of rungs")
    return list(zip(names, launches))


def check(options):
    golden = read_golden(options.golden)
    sections = sass_sections(options.launcher)
    compared = differing = 0
    for (kernel, shape), launch in run_virtual(options):
        expected = golden.pop((kernel, shape), None)
        if expected is None:
            print(f"skip {kernel} {shape}: not measured yet (bench/h200/golden.sh)")
            continue
        code = sections.get(expected["symbol"])
        if code is None or hashlib.sha256(code).hexdigest() != expected["sha256"]:
            print(f"skip {kernel} {shape}: its machine code is not the one that was measured "
                  "(another compiler or source: measure again with bench/h200/golden.sh)")
            continue
        for metric, value in expected["metrics"].items():
            compared += 1
            got = launch["metrics"].get(metric)
            if got != value:
                differing += 1
                print(f"DIFFERS {kernel} {shape} {metric}: hardware {value}, virtual GPU {got}")
    for kernel, shape in golden:
        differing += 1
        print(f"DIFFERS {kernel} {shape}: measured, but no longer launched")
    print(f"golden: {compared} values compared, {differing} differ")
    if differing:
        return 1
    return 0 if compared else 77


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["collect", "check"])
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--environment", default="", help="one line on date, commit, toolkit and driver")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--vgpu", default="vgpu")
    options = parser.parse_args()
    sys.exit(collect(options) if options.action == "collect" else check(options))


if __name__ == "__main__":
    main()
