#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden counters: what Nsight Compute reads on a GPU, and what the virtual GPU must say of the same launches.

  golden.py collect --launcher PROGRAM --ncu NCU --golden FILE.csv   on a machine with the GPU
  golden.py check --launcher PROGRAM --vgpu VGPU --golden FILE.csv   anywhere

A row is (kernel, shape, hash of its machine code, metric, value). Where the machine code has changed since the rows
were measured (another compiler, another source), the check skips that kernel with a message; it never compares.
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
KERNELS = ["r01_naive", "r02_coalesced", "r03_smem_tile_16", "r03_smem_tile_32"]
METRICS = [
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
]
FIELDS = ["kernel", "shape", "sass_sha256", "metric", "value"]


def pairs():
    return [(kernel, shape) for shape in SHAPES for kernel in KERNELS]


def arguments():
    return [word for pair in pairs() for word in pair]


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


def code_hash(program, kernel):
    """The hash of a rung's machine code; variants of a rung differ by the tile in the mangled name."""
    rung, _, variant = kernel.partition("_tile_")
    mangled = [name for name in sass_sections(program) if (rung + ("_tile" if variant else "")) in name
               and (not variant or f"ILi{variant}E" in name)]
    if len(mangled) != 1:
        sys.exit(f"golden: {kernel}: expected one kernel in {program}, found {mangled}")
    return hashlib.sha256(sass_sections(program)[mangled[0]]).hexdigest()


def collect(options):
    command = [options.ncu, "--csv", "--page", "raw", "--clock-control", "none", "--metrics", ",".join(METRICS),
               options.launcher] + arguments()
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"golden: {' '.join(command)}: exit {result.returncode}\n{result.stdout}{result.stderr}")
    lines = result.stdout.splitlines()
    first = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(lines[first:]))[1:]  # the row after the header holds units
    if len(rows) != len(pairs()):
        sys.exit(f"golden: ncu saw {len(rows)} launches, expected {len(pairs())}")
    with open(options.golden, "w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(FIELDS)
        for (kernel, shape), row in zip(pairs(), rows):
            for metric in METRICS:
                value = int(float(row[metric].replace(",", "")))
                writer.writerow([kernel, shape, code_hash(options.launcher, kernel), metric, value])
    print(f"golden: {len(pairs())} launches, {len(METRICS)} metrics each -> {options.golden}")


def check(options):
    if not os.path.exists(options.golden):
        sys.exit(f"golden: {options.golden}: no such file")
    golden = {}
    for row in csv.DictReader(open(options.golden)):
        golden.setdefault((row["kernel"], row["shape"]), {"hash": row["sass_sha256"], "metrics": {}})
        golden[(row["kernel"], row["shape"])]["metrics"][row["metric"]] = int(row["value"])
    if set(golden) != set(pairs()):
        sys.exit(f"golden: {options.golden} does not hold the launches {sorted(set(pairs()) ^ set(golden))}")
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters.json")
        subprocess.run([options.vgpu, "--device", "h200", "--counters", counters, "--", options.launcher] + arguments(),
                       check=True, stdout=subprocess.DEVNULL)
        launches = json.load(open(counters))["launches"]
    if len(launches) != len(pairs()):
        sys.exit(f"golden: the virtual GPU saw {len(launches)} launches, expected {len(pairs())}")
    compared = differing = 0
    for (kernel, shape), launch in zip(pairs(), launches):
        expected = golden[(kernel, shape)]
        if expected["hash"] != code_hash(options.launcher, kernel):
            print(f"skip {kernel} {shape}: its machine code is not the one that was measured "
                  "(another compiler or source: measure again with bench/h200/golden.sh)")
            continue
        for metric, value in expected["metrics"].items():
            compared += 1
            got = launch["metrics"].get(metric)
            if got != value:
                differing += 1
                print(f"DIFFERS {kernel} {shape} {metric}: hardware {value}, virtual GPU {got}")
    print(f"golden: {compared} values compared, {differing} differ")
    if differing:
        return 1
    return 0 if compared else 77


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["collect", "check"])
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--vgpu", default="vgpu")
    options = parser.parse_args()
    sys.exit(collect(options) if options.action == "collect" else check(options))


if __name__ == "__main__":
    main()
