#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list behind `vgpu --list-instructions`: which instructions of machine code are in the
kernels of the tests, and which of them in launches that were measured on a GPU.

  coverage.py check|write --vgpu VGPU --launcher golden_launch --golden FILE.csv --list FILE.inc
              FOLDER|PROGRAM...

Measured: in the machine code of a row of the golden file. Executed by a test: measured, or in a
cubin of these folders or in one of these programs, whose kernels the tests launch. Machine code of
another compiler than the one that was measured is not compared (exit status 77).
"""
import argparse
import csv
import hashlib
import json
import pathlib
import struct
import subprocess
import sys

from golden import sass_sections, text_sections

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made by tests/golden/coverage.py; a test compares it with the kernels. COVERED(instruction,
// executed by a test, measured on a GPU): those that are neither are left out.
"""


def names_of(vgpu):
    """{opcode: mnemonic}, for the 12 bits that select an instruction and its form."""
    listed = subprocess.run([vgpu, "--list-instructions", "--json"], check=True,
                            capture_output=True, text=True).stdout
    return {
        opcode: row["name"]
        for row in json.loads(listed)["sass"]
        for opcode in row["opcodes"]
    }


def instructions(code, names):
    opcodes = {struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code), 16)}
    return {names[opcode] for opcode in opcodes if opcode in names}


def find(options):
    names = names_of(options.vgpu)
    sections = sass_sections(options.launcher)
    measured, rows = set(), 0
    with open(options.golden) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            code = sections.get(row["symbol"])
            if code is not None and hashlib.sha256(code).hexdigest() == row["sass_sha256"]:
                measured |= instructions(code, names)
                rows += 1
    executed = set(measured)
    launched = [
        text_sections(cubin.read_bytes())
        for folder in options.places if folder.is_dir()
        for cubin in folder.glob("*.cubin")
    ] + [sass_sections(program) for program in options.places if program.is_file()]
    for code in (code for kernels in launched for code in kernels.values()):
        executed |= instructions(code, names)
    return executed, measured, rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "write"])
    for name in ("vgpu", "launcher", "golden", "list"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    executed, measured, rows = find(options)
    if not rows:
        print("coverage: no machine code is that of the measured rows: not compared")
        sys.exit(77)
    lines = [
        f'COVERED("{name}", true, {"true" if name in measured else "false"})\n'
        for name in sorted(executed)
    ]
    if options.action == "write":
        with open(options.list, "w") as file:
            file.write(HEAD + "".join(lines) + "#undef COVERED\n")
        return
    with open(options.list) as file:
        listed = [line for line in file if line.startswith("COVERED")]
    for line in sorted(set(lines) ^ set(listed)):
        print(("missing: " if line in lines else "wrong: ") + line, end="")
    if lines != listed:
        sys.exit("coverage: the list is out of date: coverage.py write")
    print(f"coverage: {len(executed)} instructions executed, {len(measured)} measured")


main()
