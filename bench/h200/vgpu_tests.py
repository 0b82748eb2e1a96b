#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the virtual GPU's test programs on this machine's GPU, without vgpu.

usage: vgpu_tests.py pack BUILD FILE.tar.xz    packs the built programs, their list and this script
       vgpu_tests.py run FOLDER [REGEX...]     runs those whose names match; builds nothing

What a test asserts holds on hardware, too, but for what the virtual GPU's checker finds: tests that
expect a finding, or run PTX where there is machine code, are left out; what a program prints is
compared where vgpu has no option. A program that only makes sense under vgpu ends with status 77.
Prints a line per test and the first lines that it wrote if it failed, and a summary; exit status 1
if one failed. A test that does not end is asked by SIGTERM where it is, then killed.

environment: TESTS_AT_ONCE=N (4) tests run at a time, TESTS_SECONDS=N (180) in all, VERBOSE=1 shows
what passed, too.
"""
import concurrent.futures
import glob
import itertools
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

TESTS = pathlib.Path(__file__).resolve().parents[2] / "tests/vgpu/programs"
ONLY_VGPU = r"\.cuda12$"  # programs with a library in the place of CUDA 12's runtime
SKIPPED, SECONDS, LINES, WIDTH = 77, 30, 40, 300


def stdout_of(options, options_of_vgpu):
    """What the program must print, as a regular expression: what it prints under vgpu, unless an
    option of vgpu's adds to that or the device's name is in it."""
    if options.stdout is None or options_of_vgpu:
        return None
    return options.stdout.replace("NVIDIA H200 ", "NVIDIA ")


def rows_of(described, folder):
    """A row for each different command, whose files are copied into the folder."""
    sys.path.insert(0, str(TESTS))
    import run_program
    seen = set()
    for test in described["tests"]:
        command = test.get("command", [])
        if len(command) < 2 or not command[1].endswith("/run_program.py"):
            continue
        options, options_of_vgpu = run_program.parse(command[2:])
        if options.exit != 0 or "--engine=ptx" in options_of_vgpu or tuple(options.command) in seen:
            continue
        if re.search(ONLY_VGPU, test["name"]):
            continue
        seen.add(tuple(options.command))
        arguments = []
        for argument in options.command:
            if os.path.isfile(argument):
                shutil.copy2(argument, folder)
                argument = "./" + os.path.basename(argument)
            arguments.append(argument)
        yield {"name": test["name"], "command": arguments,
               "stdout": stdout_of(options, options_of_vgpu)}


def pack(build, path):
    described = json.loads(
        subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"], capture_output=True,
                       check=True).stdout)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name) / "vgpu_tests"
        folder.mkdir()
        rows = list(rows_of(described, folder))
        for library in glob.glob(f"{build}/lib*/libvgpu_*.so"):  # what programs are linked to
            shutil.copy2(library, folder)
        (folder / "list.json").write_text(json.dumps(rows, indent=1) + "\n")
        shutil.copy2(__file__, folder)
        with tarfile.open(path, "w:xz") as archive:
            archive.add(folder, "vgpu_tests")
    print(f"{len(rows)} tests in {path}, {os.path.getsize(path) >> 20} MB")


def libraries():
    """Where the toolkit's libraries may be: of an installation, or of Python's packages."""
    places = [
        "/usr/local/cuda*/lib64",
        *(f"{path}/nvidia/*/lib" for path in sys.path if path.endswith("-packages"))
    ]
    return [folder for place in places for folder in glob.glob(place)]


def end(process):
    """Asks the test's processes where they are, and kills them."""
    for number, wait in ((signal.SIGTERM, 2), (signal.SIGKILL, None)):
        try:
            os.killpg(process.pid, number)
            process.wait(wait)
        except (ProcessLookupError, subprocess.TimeoutExpired):
            pass


def outcome(row, folder, environment, deadline):
    """The test's verdict and what it wrote."""
    seconds = min(SECONDS, deadline - time.monotonic())
    if seconds < 1:
        return "late", ""
    with tempfile.TemporaryFile("w+", errors="replace") as out, \
         tempfile.TemporaryFile("w+", errors="replace") as err:
        process = subprocess.Popen(row["command"], cwd=folder, env=environment, stdout=out,
                                   stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        end(process)
        out.seek(0)
        err.seek(0)
        printed, told = out.read(1 << 20), err.read(1 << 20)
    if status == SKIPPED:
        return "skip", ""
    if status is None:
        return f"fail: over {seconds:.0f} s", told + printed
    if status != 0:
        return f"fail: status {status}", told + printed
    if row["stdout"] is not None and not re.search(row["stdout"], printed):
        return f"fail: stdout does not match {row['stdout'][:200]!r}", told + printed
    return "pass", told + printed if os.environ.get("VERBOSE") else ""


def brief(text):
    """The first lines, those that repeat once with their number."""
    lines = []
    for line, same in itertools.groupby(text.splitlines()):
        count = len(list(same))
        lines.append(f"    {line[:WIDTH]}" + (f"  (x {count})" if count > 1 else ""))
    if len(lines) > LINES:
        lines[LINES - 1:] = [f"    ... {len(lines) - LINES + 1} more"]
    return lines


def run(folder, patterns):
    folder = folder.resolve()
    environment = dict(os.environ, TESTS_GO_ON="1")
    environment["LD_LIBRARY_PATH"] = ":".join(
        [str(folder), *libraries(),
         environment.get("LD_LIBRARY_PATH", "")])
    deadline = time.monotonic() + int(os.environ.get("TESTS_SECONDS", "180"))
    rows = [
        row for row in json.loads((folder / "list.json").read_text())
        if not patterns or any(re.search(pattern, row["name"]) for pattern in patterns)
    ]
    words = {}
    with concurrent.futures.ThreadPoolExecutor(int(os.environ.get("TESTS_AT_ONCE", "4"))) as pool:
        verdicts = pool.map(lambda row: outcome(row, folder, environment, deadline), rows)
        for row, (verdict, text) in zip(rows, verdicts):
            print("\n".join([f"{row['name']}: {verdict}", *brief(text)]), flush=True)
            words.setdefault(verdict.split(":")[0], []).append(row["name"])
    for word in ("fail", "late"):
        print(f"{word}: {' '.join(words.get(word, ['none']))}")
    print(", ".join(f"{len(names)} {word}" for word, names in sorted(words.items())))
    return 1 if "fail" in words or "late" in words else 0


def main():
    arguments = sys.argv[1:]
    if len(arguments) == 3 and arguments[0] == "pack":
        pack(arguments[1], arguments[2])
        return 0
    if len(arguments) >= 2 and arguments[0] == "run":
        return run(pathlib.Path(arguments[1]), arguments[2:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())
