#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the lines that a program prints under vgpu with those that it printed on hardware.

usage: like_hardware.py VGPU PROGRAM EXPECTED [--argument ARGUMENT] [--column N] [--except REGEX]
                        [--engine ENGINE]

A line is a case and the hash of its results; the expected one may have the hashes of several
arguments, of which N (0) is the program's. Lines that begin with the expression are not compared:
docs/virtual-gpu/execution.md says that they are not bit for bit the hardware's. At most half of all
lines may be such.
"""
import argparse
import re
import subprocess
import sys


def parsed(line, column=0):
    """The case and its hash; the whole line where there is none."""
    match = re.match(r"(.*?) +((?:[0-9a-f]{16} ?)+)", line)
    return (match[1], match[2].split()[column]) if match else line


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
        expected = file.read().splitlines()
    found = result.stdout.splitlines()
    if result.returncode != 0 or len(found) != len(expected):
        sys.exit(f"status {result.returncode}, {len(found)} of {len(expected)} lines\n"
                 f"{result.stderr}")
    compared = [(want, got) for want, got in zip(expected, found)
                if not re.match(options.inexact, want)]
    if 2 * len(compared) < len(expected):
        sys.exit(f"only {len(compared)} of {len(expected)} lines are compared")
    wrong = [f"- {want}\n+ {got}" for want, got in compared
             if parsed(want, options.column) != parsed(got)]
    if wrong:
        sys.exit(f"{len(wrong)} of {len(compared)} lines differ:\n" + "\n".join(wrong))


main()
