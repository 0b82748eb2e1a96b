# SPDX-License-Identifier: Apache-2.0
"""The same program from machine code and from PTX, on one and on several host threads: the output
must be the same, and so must every metric that is exact from both.

compare_engines.py VGPU PROGRAM ARGS...
"""
import json
import os
import sys
import tempfile

import vgpu_command


def run(vgpu, command, engine, threads):
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters.json")
        result = vgpu_command.run(vgpu, "--engine", engine, "--threads", str(threads), "--check",
                                  "none", "--counters", counters, "--", *command)
        if result.returncode != 0:
            sys.exit(
                f"--engine {engine}: exit status {result.returncode}\n{result.stdout}{result.stderr}"
            )
        with open(counters) as file:
            launches = json.load(file)["launches"]
    others = [launch["kernel"] for launch in launches if launch["engine"] != engine]
    if others or not launches:
        sys.exit(f"--engine {engine}: executed otherwise: {others}")
    return result.stdout, [(launch["kernel"], launch["metrics"]) for launch in launches]


def main():
    vgpu, command = sys.argv[1], sys.argv[2:]
    machine, counters = run(vgpu, command, "sass", 1)
    if run(vgpu, command, "sass", 3) != (machine, counters):
        sys.exit("machine code: another result with three host threads")
    ptx, counters_of_ptx = run(vgpu, command, "ptx", 2)
    differing = [(a, b) for a, b in zip(machine.splitlines(), ptx.splitlines()) if a != b]
    for a, b in differing:
        print(f"sass: {a}\nptx:  {b}")
    compared = 0
    for (kernel, of_machine), (_, of_ptx) in zip(counters, counters_of_ptx, strict=True):
        for metric in of_machine.keys() & of_ptx.keys():
            compared += 1
            if of_machine[metric] != of_ptx[metric]:
                differing.append(metric)
                print(f"{kernel}: {metric}: sass {of_machine[metric]}, ptx {of_ptx[metric]}")
    if compared == 0:
        sys.exit("no metric is exact from machine code and from PTX")
    return 1 if differing or machine.count("\n") != ptx.count("\n") else 0


if __name__ == "__main__":
    sys.exit(main())
