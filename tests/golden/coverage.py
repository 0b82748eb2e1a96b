#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list behind `vgpu --list-instructions`: which instructions of machine code and of PTX are in
the kernels of the tests, and which of them in launches that were measured on a GPU.

  coverage.py check|write --vgpu VGPU --launcher golden_launch --golden FILE.csv --list FILE.inc
              FOLDER|PROGRAM...

Measured: in the machine code of a row of the golden file; in the PTX of its kernel. Executed by a
test: measured, or in a cubin or PTX file of these folders or in one of these programs, whose
kernels the tests launch. Machine code of another compiler than the one that was measured is not
compared (exit status 77).
"""
import argparse
import csv
import hashlib
import json
import pathlib
import re
import struct
import subprocess
import sys
import textwrap

from golden import ptx_modules, sass_sections, text_sections

HEAD = """// SPDX-License-Identifier: Apache-2.0
// Made by tests/golden/coverage.py; a test compares it with the kernels. The instructions that a
// test executes: COVERED, COVERED_PTX(instruction, whether it was measured on a GPU).
"""


def names_of(vgpu):
    """{opcode: mnemonic}, for the 12 bits that select an instruction and its form; and the names of
    PTX's."""
    listed = json.loads(subprocess.run([vgpu, "--list-instructions", "--json"], check=True,
                                       capture_output=True, text=True).stdout)
    opcodes = {opcode: row["name"] for row in listed["sass"] for opcode in row["opcodes"]}
    return opcodes, {row["name"] for row in listed["ptx"]}


def functions(module):
    """{name: text} of a PTX module's kernels and functions."""
    heads = list(re.finditer(r"\.(?:entry|func)\b[^{;]*?([\w$]+)\s*\(", module))
    ends = [head.start() for head in heads[1:]] + [len(module)]
    return {head[1]: module[head.end():end] for head, end in zip(heads, ends)}


def ptx_instructions(text, names):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    found = re.findall(r"(?:^|[;{}:])\s*(?:@!?[%\w$]+\s+)?([a-z]\w*)[.;\s]", text, flags=re.M)
    return names & set(found)


def of_kernel(name, code, names):
    """Instructions of a kernel's PTX and of the functions that it names, and they."""
    found, seen, left = set(), set(), [name]
    while left:
        one = left.pop()
        if one in seen or one not in code:
            continue
        seen.add(one)
        found |= ptx_instructions(code[one], names)
        left += re.findall(r"[\w$]+", code[one]) if "call" in code[one] else []
    return found


def instructions(code, names):
    opcodes = {struct.unpack_from("<H", code, at)[0] & 0xFFF for at in range(0, len(code), 16)}
    return {names[opcode] for opcode in opcodes if opcode in names}


def find(options):
    """The list's items, how many are measured, and the number of golden rows."""
    opcodes, ptx_names = names_of(options.vgpu)
    sections = sass_sections(options.launcher)
    modules = [functions(module) for module in ptx_modules(options.launcher)]
    measured, ptx_measured, rows = set(), set(), 0
    with open(options.golden) as file:
        for row in csv.DictReader(line for line in file if not line.startswith("#")):
            code = sections.get(row["symbol"])
            if code is None or hashlib.sha256(code).hexdigest() != row["sass_sha256"]:
                continue
            rows += 1
            measured |= instructions(code, opcodes)
            for module in modules:
                ptx_measured |= of_kernel(row["symbol"], module, ptx_names)
    folders = [place for place in options.places if place.is_dir()]
    programs = [place for place in options.places if place.is_file()]
    launched = [
        text_sections(cubin.read_bytes()) for folder in folders for cubin in folder.glob("*.cubin")
    ] + [sass_sections(program) for program in programs]
    executed = measured.union(
        *(instructions(code, opcodes) for kernels in launched for code in kernels.values()))
    texts = [ptx.read_text() for folder in folders for ptx in folder.glob("*.ptx")
             ] + [module for program in programs for module in ptx_modules(program)]
    ptx_executed = ptx_measured.union(*(ptx_instructions(text, ptx_names) for text in texts))
    items = [
        f'{macro}("{name}",{"true" if name in known else "false"})'
        for macro, all_names, known in (("COVERED", executed, measured),
                                        ("COVERED_PTX", ptx_executed, ptx_measured))
        for name in sorted(all_names)
    ]
    return items, len(measured) + len(ptx_measured), rows


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["check", "write"])
    for name in ("vgpu", "launcher", "golden", "list"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("places", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    items, measured, rows = find(options)
    if not rows:
        print("coverage: no machine code is that of the measured rows: not compared")
        sys.exit(77)
    if options.action == "write":
        with open(options.list, "w") as file:
            file.write(HEAD + textwrap.fill(" ".join(items), 100, break_on_hyphens=False) +
                       "\n#undef COVERED\n#undef COVERED_PTX\n")
        return
    with open(options.list) as file:
        listed = re.findall(r'COVERED\w*\("[^)]*\)', file.read())
    for item in sorted(set(items) ^ set(listed)):
        print(("missing: " if item in items else "wrong: ") + item)
    if items != listed:
        sys.exit("coverage: the list is out of date: coverage.py write")
    print(f"coverage: {len(items)} instructions executed, {measured} measured")


main()
