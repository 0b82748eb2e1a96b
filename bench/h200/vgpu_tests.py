#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the virtual GPU's test programs on this machine's GPU, without vgpu.

usage: vgpu_tests.py pack BUILD FOLDER       copies the built programs and their list into FOLDER
       vgpu_tests.py run FOLDER [REGEX...]   runs those whose names match; builds nothing

What a test asserts holds on hardware, too, but for what the virtual GPU's checker finds: tests that
expect a finding are left out. A program that only makes sense under vgpu ends with status 77.
Prints a line per test, what it wrote to stderr if it failed, and a summary; exit status 1 if one
failed.
"""
import glob
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests/vgpu/programs"
SKIPPED, SECONDS = 77, 60


def pack(build, folder):
    sys.path.insert(0, str(TESTS))
    import run_program
    described = json.loads(
        subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True,
                       check=True).stdout)
    folder.mkdir(parents=True, exist_ok=True)
    rows, seen = [], set()
    for test in described["tests"]:
        command = test.get("command", [])
        if len(command) < 2 or not command[1].endswith("/run_program.py"):
            continue
        options = run_program.parser().parse_args(command[2:])
        if options.exit != 0 or tuple(options.command) in seen:
            continue
        seen.add(tuple(options.command))
        arguments = []
        for argument in options.command:
            if os.path.isfile(argument):
                shutil.copy2(argument, folder)
                argument = "./" + os.path.basename(argument)
            arguments.append(argument)
        rows.append({"name": test["name"], "command": arguments, "stdout": options.stdout})
    (folder / "list.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(f"{len(rows)} tests in {folder}")


def libraries():
    """Where the toolkit's libraries may be: of an installation, or of Python's packages."""
    places = [
        "/usr/local/cuda*/lib64",
        *(f"{path}/nvidia/*/lib" for path in sys.path if path.endswith("-packages"))
    ]
    return [folder for place in places for folder in glob.glob(place)]


def outcome(row, folder, environment):
    """The test's verdict and what it wrote to stderr."""
    try:
        result = subprocess.run(row["command"], cwd=folder, env=environment, capture_output=True,
                                text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired as error:
        written = (error.stdout or b"") + (error.stderr or b"")
        return f"fail: over {SECONDS} s", written.decode(errors="replace")
    if result.returncode == SKIPPED:
        return "skip", ""
    if result.returncode != 0:
        return f"fail: status {result.returncode}", result.stderr
    if row["stdout"] is not None and not re.search(row["stdout"], result.stdout):
        return f"fail: stdout does not match {row['stdout']!r}", result.stdout
    return "pass", result.stderr + result.stdout if os.environ.get("VERBOSE") else ""


def run(folder, patterns):
    environment = dict(os.environ, TESTS_GO_ON="1")
    environment["LD_LIBRARY_PATH"] = ":".join(
        [*libraries(), environment.get("LD_LIBRARY_PATH", "")])
    counts = {}
    for row in json.loads((folder / "list.json").read_text()):
        if patterns and not any(re.search(pattern, row["name"]) for pattern in patterns):
            continue
        verdict, text = outcome(row, folder, environment)
        print(f"{row['name']}: {verdict}", flush=True)
        for line in text.splitlines()[:40]:
            print(f"    {line}")
        word = verdict.split(":")[0]
        counts[word] = counts.get(word, 0) + 1
    print(", ".join(f"{count} {word}" for word, count in sorted(counts.items())))
    return 1 if counts.get("fail") else 0


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "pack":
        pack(arguments[1], pathlib.Path(arguments[2]))
        return 0
    if len(arguments) >= 2 and arguments[0] == "run":
        return run(pathlib.Path(arguments[1]), arguments[2:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
