# SPDX-License-Identifier: Apache-2.0
"""Runs one test program under vgpu and checks how it ends, what it prints and what it counted.

run_program.py --vgpu VGPU [--exit N] [--stdout REGEX] [--stderr REGEX]... [--silent]
               [--counters FILE.json] [--setting NAME=VALUE]... [--installed-in NAME]
               [OPTION OF VGPU]... -- PROGRAM ARGS...
"""
import argparse
import json
import os
import re
import resource
import shutil
import sys
import tempfile

import vgpu_command


def check_schema(document):
    """The documented form of the file, where a validator is installed."""
    try:
        import jsonschema
    except ImportError:
        return []
    path = os.path.join(os.path.dirname(__file__), "..", "..", "..", "docs", "counters.schema.json")
    with open(path) as file:
        validator = jsonschema.Draft7Validator(json.load(file))
    return [
        f"counters file: {error.message} at {list(error.absolute_path)}"
        for error in validator.iter_errors(document)
    ]


def check_counters(expected, found):
    """Everything that `expected` names must be in `found`, with exactly that value."""
    problems = []
    if expected["device"] != found["device"]:
        problems.append(f"device {found['device']}")
    if len(expected["launches"]) != len(found["launches"]):
        return problems + [
            f"{len(found['launches'])} launches where {len(expected['launches'])} are expected"
        ]
    for i, (want, got) in enumerate(zip(expected["launches"], found["launches"])):
        for field in ("kernel", "grid", "block", "engine"):
            if want[field] != got[field]:
                problems.append(f"launch {i}: {field} is {got[field]}, expected {want[field]}")
        if want.get("device", got["device"]) != got["device"]:
            problems.append(f"launch {i}: device is {got['device']}, expected {want['device']}")
        if not re.search(want.get("fallback", "^$"), got.get("fallback", "")):
            problems.append(f"launch {i}: fallback is {got.get('fallback')}")
        for kind in ("metrics", "estimates"):
            for metric, value in want.get(kind, {}).items():
                if got[kind].get(metric) != value:
                    problems.append(
                        f"launch {i}: {metric} of {kind} is {got[kind].get(metric)}, expected {value}"
                    )
        if want.get("sampled_blocks") != got.get("sampled_blocks"):
            problems.append(f"launch {i}: sampled blocks {got.get('sampled_blocks')}")
    return problems


def parse(arguments=None):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--exit", type=int, default=0)
    parser.add_argument("--stdout")
    parser.add_argument("--stderr", action="append", default=[])
    parser.add_argument("--silent", action="store_true", help="nothing may be written to stderr")
    parser.add_argument("--counters")
    parser.add_argument("--most-memory", type=int, metavar="MB", help="resident, at any moment")
    parser.add_argument("--setting", action="append", default=[])
    parser.add_argument("--installed-in", metavar="NAME",
                        help="vgpu is copied into a folder of that name")
    parser.add_argument("command", nargs="+")
    return parser.parse_known_args(arguments)


def main():
    options, options_of_vgpu = parse()
    settings = dict(setting.split("=", 1) for setting in options.setting)
    with tempfile.TemporaryDirectory() as folder:
        counters = os.path.join(folder, "counters.json")
        vgpu = options.vgpu
        if options.installed_in:
            build = os.path.dirname(os.path.dirname(vgpu))
            place = os.path.join(folder, options.installed_in)
            shutil.copytree(os.path.join(build, "lib", "vgpu"), os.path.join(place, "lib", "vgpu"))
            os.mkdir(os.path.join(place, "bin"))
            vgpu = shutil.copy(vgpu, os.path.join(place, "bin"))
        command = [vgpu] + options_of_vgpu
        if options.counters:
            command += ["--counters", counters]
        result = vgpu_command.run(*command, "--", *options.command,
                                  env=vgpu_command.environment(**settings), timeout=None)
        problems = []
        if result.returncode != options.exit:
            problems.append(f"exit status {result.returncode}, expected {options.exit}")
        if options.stdout is not None and not re.search(options.stdout, result.stdout):
            problems.append(f"stdout does not match {options.stdout!r}")
        for pattern in options.stderr:
            if not re.search(pattern, result.stderr):
                problems.append(f"stderr does not match {pattern!r}")
        if re.search("^wrong: ", result.stderr, re.MULTILINE) and options.exit != 1:
            problems.append("the program found a wrong result")  # which status 86 hides
        if options.silent and result.stderr:
            problems.append("stderr is not empty")
        resident = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
        if options.most_memory is not None and resident > options.most_memory:
            problems.append(f"{resident} MB of memory, {options.most_memory} are allowed")
        if options.counters:
            with open(options.counters) as expected, open(counters) as found:
                document = json.load(found)
                problems += check_schema(document) + check_counters(json.load(expected), document)
    if problems:
        print("\n".join(problems))
        print(f"--- stdout\n{result.stdout}--- stderr\n{result.stderr}")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
