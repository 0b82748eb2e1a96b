#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tensor cores against an H200's: every line that tensor_cores printed there, the virtual GPU must
print as well.

  tensor_cores.py --program TENSOR_CORES --vgpu VGPU --golden tensor_cores.h200.txt

With --numerics=hopper all lines are equal. With the default numerics those of exact sums are
("place": small integers, so that the lines say where operands are found), and some others are not:
the comparison can fail.
"""
import argparse
import itertools
import subprocess
import sys


def lines(command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()


def differences(found, golden):
    """(instruction, kind) -> seeds."""
    wrong = {}
    for ours, theirs in zip(found, golden):
        instruction, kind, hashes = ours.split(",")
        pairs = itertools.zip_longest([instruction, kind, *hashes.split()],
                                      theirs.replace(",", " ").split())
        seeds = [str(place - 2) for place, (mine, measured) in enumerate(pairs) if mine != measured]
        if seeds:
            wrong.setdefault((instruction, kind), []).extend(seeds)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--golden", required=True)
    options = parser.parse_args()
    golden = open(options.golden).read().splitlines()
    hopper = lines([options.vgpu, "--numerics", "hopper", options.program])
    single = lines([options.vgpu, options.program])
    if not golden or len(hopper) != len(golden) or len(single) != len(golden):
        sys.exit(f"{len(golden)} lines of the H200, {len(hopper)} and {len(single)} here")
    wrong = differences(hopper, golden)
    for (instruction, kind), seeds in sorted(wrong.items()):
        print(f"{instruction}, {kind}: {len(seeds)} seeds differ from the H200: {', '.join(seeds)}")
    by_default = differences(single, golden)
    for instruction, kind in sorted(by_default):
        if instruction == "place":
            print(f"{instruction}, {kind}: exact sums differ from the H200")
            wrong[instruction, kind] = []
    if len(by_default) < 10:
        sys.exit("the default numerics give nearly the same bits: the lines tell nothing")
    print(f"{len(golden)} lines, {len(wrong)} differ; by default {len(by_default)} do")
    sys.exit(bool(wrong))


main()
