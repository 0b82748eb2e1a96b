#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that were built elsewhere under vgpu, and writes what became of each to a table.

programs.py LIST --vgpu build/bin/vgpu --table results/vgpu/programs.csv [--seconds 60]
            [--only REGEX] [--outcome REGEX] [--missing] [--memory GIB]

LIST is a CSV file with the columns program, repository, commit, folder, command, right, note and
options (of vgpu). The command runs in the folder, without a shell. `right` says how its output
tells that it is right:

  exit        by exit status 0 alone
  REGEX       the output contains it; the exit status is 0
  !REGEX      the output does not contain it; the exit status is 0
  engines     the program has no check. It runs as usual, from machine code, and once more from PTX;
              what it prints must be equal, apart from lines that state times and rates

The table has one row per program, replaced when it runs again, in the order of their names:

  program, repository, commit, command, judge (program, engines), outcome, seconds, cause, note

  right       as above
  finding     a check fired
  refused     vgpu named something that it does not do
  late        stopped after --seconds of processor time (of all its threads together), or twenty
              times that on the clock
  wrong       anything else: another result, another exit status, a crash

`seconds` is processor time, which other work on the machine changes little. `cause` is the first
line of vgpu's report, or the program's. --only and --outcome choose programs by name and by their
outcome in the table, --missing those that have no row. Exit status 0 if no program is wrong.
"""
import argparse
import collections
import csv
import io
import os
import pathlib
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import whole_file  # noqa: E402

COLUMNS = ("program", "repository", "commit", "command", "judge", "outcome", "seconds", "cause",
           "note")
FINDING_STATUS = 86
REMARK = "times between events are those of this host's clock"
WALL = 20  # times the limit of processor time
REFUSED = re.compile(r"^vgpu: .*(not implemented|not supported|unsupported|cannot be executed|"
                     r"no code|cannot run|cannot be replaced|is refused|has no |stripped|unknown )",
                     re.M)
# What differs between two runs of a sound program.
TIMES = re.compile(r"\b(time[sd]?|elapsed|seconds?|sec|m?s|us|ns|msec|usec|[GMK]i?B/s|bandwidth|"
                   r"throughput|g?flops?/?s?|fps|rate|speed-?up|performance)\b", re.I)
Run = collections.namedtuple("Run", "status seconds out err")


def run(command, folder, seconds, memory):
    """What the command did: its exit status (None: stopped), seconds, output and errors."""

    def limit():
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
        resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, start_new_session=True, preexec_fn=limit)
        try:
            status = process.wait(WALL * seconds)
        except subprocess.TimeoutExpired:
            status = None
            process.terminate()  # vgpu ends the program, whose processor time then counts
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                pass
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU) or took >= 0.9 * seconds:
            status = None
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read(1 << 24).decode("utf-8", "replace"))
    return Run(status, took, *texts)


def first_line(text, pattern=r"\S"):
    """The first line of the text that matches, as one cell of the table: without folders."""
    for line in text.splitlines():
        if re.search(pattern, line):
            return re.sub(r"/\S*/([^/\s]+)", r"\1", " ".join(line.split()))[:200]
    return ""


def report_of(result):
    """The first line of what vgpu said, without its name."""
    return first_line("\n".join(line[len("vgpu: "):] for line in result.err.splitlines()
                                if line.startswith("vgpu: ") and REMARK not in line))


def cause_of(result):
    return report_of(result) or first_line(result.err) or first_line(
        result.out, r"(?i)fail|error|wrong|mismatch|incorrect")


def same_in_every_run(text):
    return [line for line in text.splitlines() if not TIMES.search(line)]


def judged(result, right):
    """Outcome and cause of one run."""
    if result.status is None:
        return "late", report_of(result)
    if result.status == FINDING_STATUS:
        return "finding", cause_of(result)
    output = result.out + result.err
    if right in ("exit", "engines"):
        says_right = True
    elif right.startswith("!"):
        says_right = not re.search(right[1:], output)
    else:
        says_right = re.search(right, output) is not None
    if result.status == 0 and says_right:
        return "right", ""
    if refusal := REFUSED.search(result.err):
        return "refused", first_line(result.err[refusal.start() + len("vgpu: "):])
    status = f"exit status {result.status}" if result.status >= 0 else signal.Signals(
        -result.status).name
    return "wrong", f"{status}; {cause_of(result)}"


def outcome_of(program, options):
    given = shlex.split(program.get("options") or "")

    def engine(name):
        return run([options.vgpu, *given, *(["--engine", name] if name else []), "--",
                    *shlex.split(program["command"])], program["folder"], options.seconds,
                   options.memory << 30)

    result = engine("")
    outcome, cause = judged(result, program["right"])
    seconds = result.seconds
    if program["right"] == "engines" and outcome == "right":
        other = engine("ptx")
        outcome, cause = judged(other, "engines")
        cause = f"--engine ptx: {cause}" if cause else ""
        seconds += other.seconds
        lines, others = same_in_every_run(result.out), same_in_every_run(other.out)
        if outcome == "right" and lines != others:
            difference = [pair for pair in zip(lines, others) if pair[0] != pair[1]]
            cause = "the engines differ: " + (" | ".join(difference[0]) if difference else
                                              f"{len(lines)} and {len(others)} lines")
            outcome = "wrong"
    return outcome, f"{seconds:.1f}", cause


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def write(path, rows, comment):
    text = io.StringIO()
    text.write(comment)
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    for _, row in sorted(rows.items()):
        table.writerow(row)
    whole_file.replace(path, text.getvalue())


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("list", type=pathlib.Path)
    parser.add_argument("--vgpu", required=True, type=os.path.abspath)
    parser.add_argument("--table", required=True, type=pathlib.Path)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--memory", type=int, default=8, metavar="GIB")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--outcome", type=re.compile)
    parser.add_argument("--missing", action="store_true")
    options = parser.parse_args()

    rows = {}
    if options.table.exists():
        rows = {(row["repository"], row["program"]): row for row in rows_of(options.table)}
    comment = (f"# bench/vgpu/programs.py --seconds {options.seconds:g}: default checks, "
               f"{os.cpu_count()} threads\n")
    for program in rows_of(options.list):
        key = program["repository"], program["program"]
        known = rows.get(key)
        if not options.only.search(program["program"]) or (options.missing and known):
            continue
        if options.outcome and not (known and options.outcome.search(known["outcome"])):
            continue
        outcome, seconds, cause = outcome_of(program, options)
        judge = "engines" if program["right"] == "engines" else "program"
        rows[key] = {name: program.get(name, "") for name in COLUMNS} | {
            "judge": judge, "outcome": outcome, "seconds": seconds, "cause": cause}
        write(options.table, rows, comment)
        print(f"{program['program']}: {outcome} {seconds} {cause}", flush=True)
    counts = collections.Counter(row["outcome"] for row in rows.values())
    print(", ".join(f"{count} {outcome}" for outcome, count in counts.most_common()))
    return 1 if counts["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
