#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rung in every way of a list, one at a time, and runs the broken program on the virtual GPU: every mutant
must be caught, by a check or by a wrong result. Prints which by what.

  mutation.py --program mutant_program --vgpu VGPU [--rung RUNG]...

Mutants are edits of the PTX text in the program's fat binary, of the same length:
  barrier   a barrier of the block is taken out (each in turn)
  wait      a wait for asynchronous copies is taken out (each in turn)
  bound     comparisons with m, with n, or with what is left of k, are off by one (< becomes <= and so on)
  stride    a leading dimension is read as another one
Exit status: 0 all caught, 1 one survived, or none were made.
"""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

# Fields of ladder::Problem, by offset in the kernel's first parameter.
SIZES = {0: "m", 8: "n"}
STRIDES = {24: "lda", 32: "ldb", 40: "ldc"}
OFF_BY_ONE = {b"lt": b"le", b"le": b"lt", b"gt": b"ge", b"ge": b"gt"}
# Mutants that do the same as the rung, with the reason.
EQUIVALENT = {
    ("r08", True, "3 comparisons with a 32-bit value"):
        "columns of the first row: a vector that begins at n is stored with no element",
}
TIMEOUT_S = 60


def entries(data):
    """(name, begin, end) of the kernels in the plain PTX texts of a program. Compressed texts, of kernels that are linked
    but not broken here, can show a kernel's first line as well."""
    for match in re.finditer(rb"\.entry (\w+)\(", data):
        begin = data.find(b"\n{", match.end())
        end = data.find(b"\n}", begin)
        if 0 <= begin < end and data[match.end():end].isascii() and b"\0" not in data[match.end():end]:
            yield match.group(1).decode(), match.end(), end


def blank(text):
    return b" " * len(text)


def field_reads(data, name, begin, end):
    """(offset of the field, register, position of the offset's digits or None) of the loads of the first parameter."""
    parameter = name.encode() + b"_param_0"
    alias = re.compile(rb"mov\.b64 (%rd\d+), " + parameter + rb";")
    bases = [parameter] + [match.group(1) for match in alias.finditer(data, begin, end)]
    load = re.compile(rb"ld\.param\.\w+ (%\w+), \[(" + b"|".join(map(re.escape, bases)) + rb")(?:\+(\d+))?\]")
    for match in load.finditer(data, begin, end):
        yield int(match.group(3) or 0), match.group(1), match.start(3) if match.group(3) else None


def compared(data, begin, end):
    """(position of the relation, relation, type, operands) of the comparisons."""
    for match in re.compile(rb"setp\.(lt|le|gt|ge)\.(s32|s64|u32) %p\d+, (%\w+), (%\w+);").finditer(data, begin, end):
        yield match.start(1), match.group(1), match.group(2), match.group(3, 4)


def mutants(data, name, begin, end):
    """(kind, what, [(position, new bytes)])"""
    for number, match in enumerate(re.compile(rb"\b(bar|barrier)\.[^;\n]*;").finditer(data, begin, end), 1):
        yield "barrier", f"barrier {number}", [(match.start(), blank(match.group()))]
    waits = re.compile(rb"\bcp\.async\.wait_(group|all)[^;\n]*;")
    for number, match in enumerate(waits.finditer(data, begin, end), 1):
        yield "wait", f"wait {number}", [(match.start(), blank(match.group()))]
    reads = list(field_reads(data, name, begin, end))
    comparisons = list(compared(data, begin, end))
    for offset, size in SIZES.items():
        registers = {register for at, register, _ in reads if at == offset}
        edits = [(at, OFF_BY_ONE[relation]) for at, relation, _, operands in comparisons if registers & set(operands)]
        if len(edits) > 1:  # a single one is the exit of surplus blocks, which would find nothing to do
            yield "bound", f"{len(edits)} comparisons with {size}", edits
    left = collections.Counter(operands[1] for _, _, kind, operands in comparisons if kind == b"s32")
    for register in (r for r, times in left.items() if times > 1):
        edits = [(at, OFF_BY_ONE[relation]) for at, relation, _, operands in comparisons if operands[1] == register]
        yield "bound", f"{len(edits)} comparisons with a 32-bit value", edits
    for offset, stride in STRIDES.items():
        places = [at for found, _, at in reads if found == offset]
        for other, other_stride in STRIDES.items():
            if places and other != offset:
                yield "stride", f"{stride} read as {other_stride}", [(at, b"%d" % other) for at in places]


def apply(data, edits):
    broken = bytearray(data)
    for at, text in edits:
        broken[at:at + len(text)] = text
    return bytes(broken)


def run(options, program, rung, counters=None):
    """What caught it: a check's name, "result", "hang", "refused"; "" if nothing did."""
    command = [options.vgpu, "--device", "a100"] + (["--counters", counters] if counters else [])
    try:
        result = subprocess.run(command + ["--", program, rung], capture_output=True, text=True, timeout=TIMEOUT_S,
                                check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    if result.returncode == 86:
        return "check: " + result.stderr.split("vgpu: ", 1)[1].split(":", 1)[0].split("\n", 1)[0]
    return {0: "", 1: "result"}.get(result.returncode, f"status {result.returncode}: {result.stderr[-300:]}")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.splitlines()))


def rung_of(name):
    match = re.match(r"_ZN6ladder\d+(r\d\d)_", name)
    return match.group(1) if match else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--rung", action="append")
    options = parser.parse_args()
    data = open(options.program, "rb").read()
    kernels = [entry for entry in entries(data) if rung_of(entry[0])]
    names = demangled([name for name, _, _ in kernels])
    caught, survivors, made = collections.defaultdict(collections.Counter), [], 0
    with tempfile.TemporaryDirectory() as folder:
        path, counters = os.path.join(folder, "mutant"), os.path.join(folder, "counters.json")
        for rung in options.rung or sorted({rung_of(name) for name, _, _ in kernels}):
            if by := run(options, options.program, rung, counters):
                sys.exit(f"mutation: {rung} itself does not pass: {by}")
            launched = {launch["kernel"] for launch in json.load(open(counters))["launches"]}
            for name, begin, end in kernels:
                if rung_of(name) != rung or names[name] not in launched:
                    continue
                for kind, what, edits in mutants(data, name, begin, end):
                    if (rung, ", true>" in names[name], what) in EQUIVALENT:
                        continue
                    with open(path, "wb") as file:
                        file.write(apply(data, edits))
                    os.chmod(path, 0o755)
                    by = run(options, path, rung)
                    made += 1
                    caught[rung, kind][by or "SURVIVED"] += 1
                    if not by:
                        survivors.append(f"{names[name]}: {kind}: {what}")
    for (rung, kind), how in sorted(caught.items()):
        print(f"{rung}  {kind:<8} " + ", ".join(f"{n} by {by}" for by, n in sorted(how.items())))
    for survivor in survivors:
        print(f"SURVIVED {survivor}")
    print(f"mutation: {made} mutants, {made - len(survivors)} caught")
    return 1 if survivors or not made else 0


if __name__ == "__main__":
    sys.exit(main())
