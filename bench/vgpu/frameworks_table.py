#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs of bench/vgpu/frameworks, and those of Python in tests/vgpu/driver, under vgpu.

frameworks_table.py --vgpu build/bin/vgpu [--file FILE] [--seconds 300] [PROGRAM...]

The frameworks are those of the Python that executes this script; bench/vgpu/frameworks.sh chooses
it. A line of the table: framework and version, program, outcome, seconds, the way in, launches by
what served them, and the cause of another outcome than "right". The program decides whether its
results are right, and says so. Where programs are named, FILE keeps the lines of the others. Exit
status 0 if all that ran are right.
"""
import argparse
import collections
import importlib.metadata
import json
import pathlib
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import whole_file  # noqa: E402

# By how a program's name begins.
PACKAGES = {"torch": "torch", "triton": "triton", "numba": "numba-cuda", "cuda": "cuda-python"}
WAYS = (("runtime", re.compile(r": shared runtime, libcudart")),
        ("static runtime", re.compile(r": static runtime")),
        ("driver", re.compile(r"^vgpu: driver API")))
NOT_A_CAUSE = re.compile(r"^vgpu: (.*: (shared|static) runtime|driver API|.*uses no CUDA library|"
                         r".*the toolkit's, not replaced|times between events)")
SERVED = {"sass": "machine code", "ptx": "PTX"}
FAULT_STATUS = 86


def programs():
    return sorted([*(ROOT / "bench/vgpu/frameworks").glob("*.py"),
                   *(ROOT / "tests/vgpu/driver").glob("*.py")])


def version(program):
    package = PACKAGES[program.stem.split("_")[0]]
    try:
        return f"{package} {importlib.metadata.version(package)}"
    except importlib.metadata.PackageNotFoundError:
        return None


def cause(status, errors):
    lines = [line for line in errors.splitlines() if line.strip()]
    said = [line for line in lines if line.startswith("vgpu: ") and not NOT_A_CAUSE.match(line)]
    if status is None:
        return "not finished in time"
    return said[0][len("vgpu: "):] if said else lines[-1] if lines else f"status {status}"


def run(options, program):
    """(outcome, seconds, ways in, launches by what served them, cause)"""
    with tempfile.TemporaryDirectory() as folder:
        counters = pathlib.Path(folder, "counters.json")
        begin = time.monotonic()
        try:
            done = subprocess.run([options.vgpu, "--verbose", "--counters", counters, "--",
                                   sys.executable, program], capture_output=True, text=True,
                                  errors="replace", timeout=options.seconds, check=False)
            status, output, errors = done.returncode, done.stdout, done.stderr
        except subprocess.TimeoutExpired as late:
            status, output, errors = None, "", (late.stderr or b"").decode(errors="replace")
        seconds = time.monotonic() - begin
        launches = json.loads(counters.read_text())["launches"] if counters.exists() else []
    ways = [name for name, said in WAYS if any(said.search(line) for line in errors.splitlines())]
    served = collections.Counter(SERVED[launch["engine"]] for launch in launches)
    if status == 0 and output.splitlines()[-1:] == ["right"]:
        return "right", seconds, ways, served, ""
    outcome = ("late" if status is None else "fault" if status == FAULT_STATUS else
               "refused" if re.search("not implemented|cannot run|cannot be replaced", errors) else
               "wrong")
    return outcome, seconds, ways, served, cause(status, errors)


def import_seconds(command):
    """of processors, which other load of the machine changes little"""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([*command, sys.executable, "-c", "import torch"], capture_output=True,
                   check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--file")
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("program", nargs="*", help="names without .py; all by default")
    options = parser.parse_args()
    known = {program.stem: program for program in programs()}
    unknown = [name for name in options.program if name not in known]
    if unknown:
        parser.error(f"no program {unknown[0]}: there are {', '.join(known)}")
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--abbrev=12"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.strip()
    head = [f"# bench/vgpu/frameworks.sh, {time.strftime('%Y-%m-%d')}, commit {commit}, Python "
            f"{platform.python_version()}, default checks",
            f"{'framework':<20} {'program':<17} {'outcome':<8} {'seconds':>7}  "
            f"{'way in':<33} launches from; cause"]
    print("\n".join(head), flush=True)
    lines, end, bad = {}, [], 0
    if options.program and options.file and pathlib.Path(options.file).exists():
        for line in pathlib.Path(options.file).read_text().splitlines()[len(head):]:
            if line.startswith("#"):
                end.append(line)
            else:
                lines[line[21:38].strip()] = line
    for name in options.program or known:
        framework = version(known[name])
        if framework is None:
            continue
        outcome, seconds, ways, served, why = run(options, known[name])
        bad += outcome != "right"
        what = ", ".join(f"{kind} {count}" for kind, count in sorted(served.items())) or "none"
        lines[name] = (f"{framework:<20} {name:<17} {outcome:<8} {seconds:>7.1f}  "
                       f"{' + '.join(ways):<33} {what}" + (f"; {why}" if why else ""))
        print(lines[name], flush=True)
    if any(name.startswith("torch") for name in lines):
        end = ["# processor seconds of `import torch`, which loads 1 GB of libraries: "
               f"{import_seconds([]):.1f} alone, {import_seconds([options.vgpu]):.1f} under vgpu"]
        print(end[0])
    if options.file:
        whole_file.replace(options.file, "\n".join([*head, *lines.values(), *end]) + "\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
