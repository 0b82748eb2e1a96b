#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lines that a program prints under vgpu with those that it printed on hardware.

usage: like_hardware.py VGPU PROGRAM EXPECTED [--argument ARGUMENT] [--column N] [--except REGEX]
                        [--engine ENGINE]

The program prints lines of a case and the hash of its results. In the expected file, a line
"column: value, ..." names values, and a line whose case has {column} stands for one case per value,
with a hash of each. Behind each hash there may be those of further arguments of the program, of
which --column N (0) chooses. Cases that begin with the expression are not compared:
docs/virtual-gpu/execution.md says that they are not bit for bit the hardware's. At most half of all
cases may be such.
"""
import argparse
import re
import subprocess
import sys


def parsed(line):
    """The case and its hashes; the whole line where there are none."""
    match = re.fullmatch(r"(.*?) +((?:[0-9a-f]{16} ?)+)", line)
    return (match[1], match[2].split()) if match else (line, [""])


def cases(lines, column):
    """The hash of each case of an expected file."""
    values = {}
    result = {}
    for line in lines:
        if match := re.fullmatch(r"(\w+): (.*)", line):
            values[match[1]] = match[2].split(", ")
            continue
        name, hashes = parsed(line)
        named = re.search(r"{(\w+)}", name)
        names = [name.replace(named[0], value) for value in values[named[1]]] if named else [name]
        arguments, rest = divmod(len(hashes), len(names))
        if rest:
            sys.exit(f"{len(hashes)} hashes of {len(names)} cases: {line}")
        result.update(zip(names, hashes[column::arguments]))
    return result


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("vgpu")
    parser.add_argument("program")
    parser.add_argument("expected")
    parser.add_argument("--argument", action="append", default=[])
    parser.add_argument("--column", type=int, default=0)
    parser.add_argument("--except", dest="inexact", default="$.")
    parser.add_argument("--engine", default="auto")
    options = parser.parse_args()
    command = [options.vgpu, "--engine", options.engine, options.program, *options.argument]
    result = subprocess.run(command, capture_output=True, text=True)
    with open(options.expected) as file:
        expected = cases(file.read().splitlines(), options.column)
    lines = result.stdout.splitlines()
    found = {name: hashes[0] for name, hashes in map(parsed, lines)}
    if result.returncode != 0 or len(found) != len(lines) or found.keys() != expected.keys():
        sys.exit(f"status {result.returncode}, {len(lines)} lines; cases of one side only: "
                 f"{found.keys() ^ expected.keys()}\n{result.stderr}")
    compared = [name for name in expected if not re.match(options.inexact, name)]
    if 2 * len(compared) < len(expected):
        sys.exit(f"only {len(compared)} of {len(expected)} cases are compared")
    wrong = [f"{name}: expected {expected[name]}, found {found[name]}" for name in compared
             if found[name] != expected[name]]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(compared)} cases differ:\n" + "\n".join(wrong))


main()
