#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Golden counters: what Nsight Compute reads on a GPU, and what the virtual GPU must say of the
same launches.

  golden.py collect --launcher PROGRAM --ncu NCU --golden FILE.csv   on a machine with the GPU;
      with --only, rows of these kernels instead of those in the file
  golden.py check --launcher PROGRAM --vgpu VGPU --golden FILE.csv   anywhere

A row is a launch: kernel, shape, hash of its results, symbol, hash of its machine code, and a
column for each metric. Results are compared bit for bit, with the numerics of Hopper's tensor
cores. Where the machine code has changed since the rows were measured (another compiler, another
source), the check skips that kernel with a message; it never compares. A rung of the registry that
has no rows is named too. Exit status of check: 0 all equal, 1 a value differs, a measured kernel is
refused, or nothing could be compared.
"""
import argparse
import collections
import csv
import ctypes
import hashlib
import json
import os
import struct
import subprocess
import sys
import tempfile

# The last two have rows that tensor maps can describe; the last gives persistent blocks several
# tiles.
SHAPES = ["256x256x256", "250x251x253", "264x200x136", "2056x2184x72"]
# All metrics that do not depend on time, by Nsight Compute's names. Those that the virtual GPU
# reports as exact are compared.
METRICS = [
    "launch__grid_size", "launch__block_size", "launch__registers_per_thread",
    "launch__shared_mem_per_block_static", "launch__shared_mem_per_block_dynamic",
    "launch__shared_mem_per_block_driver", "launch__occupancy_limit_blocks",
    "launch__occupancy_limit_registers", "launch__occupancy_limit_shared_mem",
    "launch__occupancy_limit_warps", "launch__occupancy_limit_barriers",
    "sm__maximum_warps_avg_per_active_cycle", "smsp__inst_executed.sum",
    "smsp__thread_inst_executed.sum", "smsp__thread_inst_executed_pred_on.sum",
    *(f"smsp__sass_thread_inst_executed_op_{op}_pred_on.sum"
      for op in ("fadd", "fmul", "ffma", "dadd", "dmul", "dfma", "fp16", "fp32", "fp64", "integer",
                 "bit", "conversion", "control", "inter_thread_communication", "memory", "misc")),
    *(f"sm__inst_executed_pipe_tensor_op_{op}.sum" for op in ("hmma", "imma", "dmma", "gmma")),
    *(f"sm__inst_executed_pipe_{pipe}.sum"
      for pipe in ("adu", "alu", "cbu", "fma", "fmaheavy", "fmalite", "fp64", "lsu", "tma",
                   "uniform", "xu")),
    *(f"sm__ops_path_tensor_{path}.sum"
      for path in ("op_hgmma_src_bf16_dst_fp32", "op_hgmma_src_fp16", "op_hgmma_src_tf32_dst_fp32",
                   "op_hmma_src_bf16_dst_fp32", "op_hmma_src_fp16", "op_hmma_src_tf32_dst_fp32",
                   "op_imma_src_int8", "op_igmma_src_int8", "op_bmma_src_int1", "src_fp8",
                   "src_fp64")),
    "smsp__inst_executed_op_branch.sum", "smsp__sass_branch_targets_threads_divergent.sum",
    *(f"smsp__inst_executed_op_{op}.sum"
      for op in ("global_ld", "global_st", "local_ld", "local_st", "shared_ld", "shared_st",
                 "ldgsts", "ldsm", "tma_ld", "tma_st")),
    *(f"l1tex__t_{what}_pipe_lsu_mem_global_op_{op}.sum" for what in ("requests", "sectors")
      for op in ("ld", "st", "atom", "red")),
    *(f"l1tex__t_{what}_pipe_lsu_mem_local_op_{op}.sum" for what in ("requests", "sectors")
      for op in ("ld", "st")),
    *(f"smsp__sass_data_bytes_mem_global_op_{op}.sum" for op in ("ld", "st", "ldgsts")),
    "smsp__l1tex_tmain_requests.sum",
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
    "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum",
    *(f"l1tex__m_l1tex2xbar_write_bytes_mem_{path}.sum"
      for path in ("global_op_tma_st", "global_op_tma_red", "dshared_op_tma_st", "dshared_op_ld",
                   "dshared_op_st", "dshared_op_atom")),
    *(f"smsp__sass_inst_executed_op_dshared_{op}.sum"
      for op in ("ld", "st", "atom", "stas", "tma_st")),
    "sm__sass_inst_executed_op_tma_red.sum", "sm__sass_inst_executed_op_shared_gmma.sum",
    "sm__sass_data_bytes_mem_shared_op_gmma.sum",
    "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
    *(f"smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_{op}.sum"
      for op in ("ld", "st", "ldsm", "ldgsts", "atom")),
    *(f"smsp__sass_data_bytes_mem_shared_op_{op}.sum" for op in ("ld", "st")),
    *(f"l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_{op}.sum" for op in ("ld", "st")),
]
FIELDS = ["kernel", "shape", "result", "symbol", "sass_sha256"]


def decompressed(header, body):
    """An entry of a fat binary as the compiler made it. Compressed entries are zstd's."""
    (size,) = struct.unpack_from("<I", header, 16)
    (full,) = struct.unpack_from("<Q", header, 56)
    if full == 0:
        return body
    decompress = ctypes.CDLL("libzstd.so.1").ZSTD_decompress
    decompress.restype = ctypes.c_size_t
    text = ctypes.create_string_buffer(full)
    decompress(text, ctypes.c_size_t(full), body, ctypes.c_size_t(size))
    return text.raw


def fat_entries(program):
    """What an executable's fat binaries hold: (kind, content) of each entry."""
    data = open(program, "rb").read()
    at = 0
    while (at := data.find(struct.pack("<IH", 0xBA55ED50, 1), at)) >= 0:
        header, size = struct.unpack_from("<HQ", data, at + 6)
        entry, end = at + header, at + header + size
        while entry < end:
            entry_header, entry_size = struct.unpack_from("<IQ", data, entry + 4)
            body = entry + entry_header
            yield data[entry], decompressed(data[entry:body], data[body:body + entry_size])
            entry = body + entry_size
        at = end


def sass_sections(program):
    """Machine code of every kernel for sm_90 in an executable's fat binaries: {mangled name:
    bytes}."""
    code = {}
    for kind, content in fat_entries(program):
        if kind == 2 and content[:4] == b"\x7fELF":
            code.update(text_sections(content))
    return code


def digests(program):
    """{mangled name: hash of its machine code}"""
    return {
        symbol: hashlib.sha256(code).hexdigest()
        for symbol, code in sass_sections(program).items()
    }


def read_rows(path):
    """The comment lines of a CSV file, and its rows."""
    with open(path) as file:
        lines = file.read().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    return comments, list(csv.DictReader(line for line in lines if not line.startswith("#")))


def counted(vgpu, command, options=(), statuses=(0,)):
    """What the command prints on the virtual H200, and the counters of its launches."""
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters.json")
        result = subprocess.run([
            vgpu, "--device", "h200", "--numerics", "hopper", *options, "--counters", counters,
            "--", *command
        ], stdout=subprocess.PIPE, text=True, check=False)
        if result.returncode not in statuses:
            sys.exit(f"on the virtual GPU {command[0]} ends with {result.returncode}\n"
                     f"{result.stdout}")
        with open(counters) as file:
            return result.stdout, json.load(file)["launches"]


def ptx_modules(program):
    """The PTX in an executable's fat binaries, as texts."""
    return [content.rstrip(b"\0").decode() for kind, content in fat_entries(program) if kind == 1]


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
    """The launches in the launcher's output, in order: (kernel, shape, result). The second launch
    of a call and later ones are called KERNEL#2 and so on."""
    launches, seen = [], collections.Counter()
    for line in output.splitlines():
        if line.startswith("launched "):
            kernel, shape, result = line.split()[1:]
            seen[kernel, shape] += 1
            number = seen[kernel, shape]
            launches.append((kernel if number == 1 else f"{kernel}#{number}", shape, result))
    return launches


def profile(ncu, command):
    """What the command prints, and a row for each launch that Nsight Compute read."""
    command = [
        ncu, "--csv", "--page", "raw", "--clock-control", "none", "--print-kernel-base", "mangled",
        "--print-units", "base", "--metrics", ",".join(METRICS), *command
    ]
    result = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    lines = result.stdout.splitlines()
    first = next((i for i, line in enumerate(lines) if line.startswith('"ID"')), None)
    if first is None or result.returncode != 0:
        raise RuntimeError(
            f"{' '.join(map(str, command))}: exit {result.returncode}\n{result.stdout}{result.stderr}"
        )
    rows = list(csv.DictReader(line for line in lines[first:]
                               if line.startswith('"')))[1:]  # row 0 holds units
    return result.stdout, rows


def values_of(row):
    """{metric: number} of what could be read."""
    texts = {metric: (row.get(metric) or "").replace(",", "") for metric in METRICS}
    return {
        metric: int(float(text))
        for metric, text in texts.items()
        if text.replace(".", "").isdigit()
    }


def collect(options):
    output, rows = profile(options.ncu, [options.launcher] + (options.only or []) + SHAPES)
    launches = launched(output)
    if not launches or len(rows) != len(launches):
        sys.exit(f"golden: ncu saw {len(rows)} kernels in {len(launches)} launches of rungs")
    comments, kept = [], []
    if options.only:
        comments, rows_before = read_rows(options.golden)
        kept = [[row.get(field, "") for field in FIELDS + METRICS]
                for row in rows_before if row["kernel"].partition("#")[0] not in options.only]
    hashes = digests(options.launcher)
    missing = set()
    measured = []
    for (*names, result), row in zip(launches, rows):
        symbol, values = row["Kernel Name"], values_of(row)
        missing.update(f"{metric} ({row.get(metric)!r})" for metric in METRICS
                       if metric not in values)
        measured.append([*names, result, symbol, hashes[symbol]]
                        + [values.get(metric, "") for metric in METRICS])
    with open(options.golden, "w", newline="") as file:
        only = ": " + " ".join(options.only) if options.only else ""
        file.writelines(f"{line}\n" for line in [*comments, f"# {options.environment}{only}"])
        csv.writer(file, lineterminator="\n").writerows([FIELDS + METRICS] + kept + measured)
    print(f"golden: {len(launches)} launches, {len(METRICS)} metrics each -> {options.golden}")
    for metric in sorted(missing):
        print(f"golden: not measured: {metric}")


def read_golden(path):
    golden = {}
    for row in read_rows(path)[1]:
        kernel, shape, result, symbol, sha256 = (row.pop(field) for field in FIELDS)
        golden[kernel, shape] = {
            "result": result, "symbol": symbol, "sha256": sha256,
            "metrics": {metric: int(value)
                        for metric, value in row.items()
                        if value}
        }
    return golden


def run_virtual(options):
    """[((kernel, shape, result), counters)] of every launch on the virtual GPU, and
    {(kernel, shape)} of those that it refused."""
    output, launches = counted(options.vgpu, [options.launcher, *SHAPES])
    names = launched(output)
    if len(launches) != len(names):
        sys.exit(
            f"golden: the virtual GPU saw {len(launches)} kernels in {len(names)} launches of rungs"
        )
    refused = {tuple(line.split()[1:3])
               for line in output.splitlines() if line.startswith("refused ")}
    return list(zip(names, launches)), refused


def is_measured_code(hashes, expected):
    return hashes.get(expected["symbol"]) == expected["sha256"]


def check(options):
    golden = read_golden(options.golden)
    hashes = digests(options.launcher)
    compared, differing, engines = collections.Counter(), 0, collections.Counter()
    launches, refused = run_virtual(options)
    for (kernel, shape, result), launch in launches:
        expected = golden.pop((kernel, shape), None)
        if expected is None:
            print(f"skip {kernel} {shape}: not measured yet (bench/h200/golden.sh)")
            continue
        if not is_measured_code(hashes, expected):
            print(f"skip {kernel} {shape}: its machine code is not the one that was measured "
                  "(another compiler or source: measure again with bench/h200/golden.sh)")
            continue
        engines[launch["engine"]] += 1
        if result != expected["result"]:
            differing += 1
            print(f"DIFFERS {kernel} {shape}: the results, hash {result}, hardware "
                  f"{expected['result']}")
        for metric, got in launch["metrics"].items():
            if metric not in expected["metrics"]:
                continue
            compared[metric] += 1
            if got != expected["metrics"][metric]:
                differing += 1
                print(
                    f"DIFFERS {kernel} {shape} {metric}: hardware {expected['metrics'][metric]}, virtual GPU {got}"
                )
        if options.estimates:
            for metric, got in launch["estimates"].items():
                value = expected["metrics"].get(metric)
                if value is not None:
                    print(
                        f"{'equal' if value == got else 'estimate'} {kernel} {shape} {metric}: hardware {value}, "
                        f"virtual GPU {got}")
    for kernel, shape in sorted(refused & golden.keys()):
        if is_measured_code(hashes, golden.pop((kernel, shape))):
            differing += 1
            print(f"DIFFERS {kernel} {shape}: the virtual GPU refuses it")
    for kernel, shape in golden:
        print(f"skip {kernel} {shape}: measured, but not in this build or not executed")
    print("golden: launches by engine: " +
          ", ".join(f"{n} {engine}" for engine, n in sorted(engines.items())))
    print(
        f"golden: {sum(compared.values())} values of {len(compared)} metrics compared, {differing} differ"
    )
    if not compared:
        print("golden: nothing was compared: measure again with bench/h200/golden.sh")
    return 1 if differing or not compared else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["collect", "check"])
    parser.add_argument("--launcher", required=True)
    parser.add_argument("--golden", required=True)
    parser.add_argument("--environment", default="",
                        help="one line on date, commit, toolkit and driver")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--only", nargs="+", metavar="NAME",
                        help="collect: measure these, keep the other rows")
    parser.add_argument("--vgpu", default="vgpu")
    parser.add_argument("--estimates", action="store_true",
                        help="check: also show the estimates beside the hardware")
    options = parser.parse_args()
    sys.exit(collect(options) if options.action == "collect" else check(options))


if __name__ == "__main__":
    main()
