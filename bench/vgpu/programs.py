#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that were built elsewhere, on a GPU and under vgpu, and makes a table of both.

programs.py run LIST --runs FOLDER [--vgpu COMMAND] [--seconds 60] [--jobs 1] [--cores N]
            [--until SECONDS] [--only REGEX] [--missing] [--memory GIB]
programs.py table LIST --runs FOLDER --table results/vgpu/programs.csv [--comment TEXT]
            [--differences] [--update]

LIST is a CSV file with the columns program, repository, commit, folder, command, right, note and
options (of vgpu). `run` executes each command in its folder, without a shell: with --vgpu under
vgpu (COMMAND may have options, "build/bin/vgpu --device h100"), else as it is, on the GPU of the
machine. What a run did becomes a file in FOLDER. --jobs programs run at a time, each with --cores
processors of its own. --until: no program starts, and none runs on, after that many seconds; those
without a result are left to the next call with --missing.

`table` judges what the runs did. `right` says how a program's output tells that it is right:

  exit        by exit status 0 alone
  REGEX       the output contains it; the exit status is 0
  !REGEX      the output does not contain it; the exit status is 0
  gpu         the program has no check. Its exit status and its lines are those of the GPU, apart
              from lines that state times, rates and amounts of memory, and from numbers' last
              digits
  lines       as gpu, with the lines in any order: kernels print them, and blocks have no order

It has one row per program that ran under vgpu, in the order of their names:

  program, repository, commit, command, judge (program, gpu), gpu, outcome, seconds, cause, note

  right       as above; the cause is what a check found, if one fired
  finding     a check fired, and the program is not right
  refused     vgpu named something that it does not do
  late        stopped after --seconds
  wrong       anything else: another result, another exit status, a crash

`gpu` is the same of the run on the GPU: right, wrong or late, nothing if there was none. `seconds`
and `cause` are those of the run under vgpu; the cause is the first line of vgpu's report, or the
program's. --differences prints for all programs where the lines of the two runs differ. --update
keeps what the table has of other programs, and of programs that did not run on a GPU what one said
before, and its comments. Exit status 0 if no program is wrong that a GPU runs right.
"""
import argparse
import collections
import concurrent.futures
import csv
import io
import json
import os
import pathlib
import queue
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import whole_file  # noqa: E402

COLUMNS = ("program", "repository", "commit", "command", "judge", "gpu", "outcome", "seconds",
           "cause", "note")
FINDING_STATUS = 86
# Findings after which a program goes on, or which it gets from a GPU, too.
AS_ON_A_GPU = ("vgpu/race", "vgpu/uninitialized-read", "vgpu/barrier-divergence", "vgpu/assertion",
               "vgpu/trap", "vgpu/invalid-free", "vgpu/bad-host-pointer")
REMARKS = ("times between events are those of this host's clock", "no fault in itself")
KEPT = 200_000  # characters of an output
CUT = "\n[...]\n"
REFUSED = re.compile(r"^vgpu: .*(not implemented|not supported|unsupported|cannot be executed|"
                     r"no code|cannot run|cannot be replaced|is refused|has no |stripped|unknown )",
                     re.M)
# What differs between two runs of a sound program, or on GPUs of different memory.
TIMES = re.compile(r"\b(time[sd]?|elapsed|seconds?|sec|m?s|us|ns|msec|usec|[GMK]i?B/s|bandwidth|"
                   r"throughput|g?flops?/?s?|fps|rate|speed-?up|performance)\b|"
                   r"mem\w*\b.*\d ?[KMG]i?B\b", re.I)
NUMBER = re.compile(r"[-+]?\d+\.?\d*(?:[eE][-+]?\d+)?")
DIGITS = 1e-3
OF_A_GPU = ("gpu", "lines")  # the outputs that a GPU's run judges
VIRTUAL = " (virtual)"  # which a virtual device adds to the GPU's name
# `own`: the status of the program where vgpu ended with its own, because a check fired.
Run = collections.namedtuple("Run", "status seconds out err own", defaults=(None,))


def ended(process, seconds):
    """The exit status of a process that had so long to end; None: it had to be stopped."""
    try:
        status = process.wait(max(seconds, 0))
    except subprocess.TimeoutExpired:
        status = None
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return status


def kept(file):
    file.seek(0)
    text = file.read().decode("utf-8", "replace")
    half = KEPT // 2
    return text if len(text) <= KEPT else text[:half] + CUT + text[-half:]


def run(command, folder, seconds, memory, cores):
    """What the command did."""

    def limit():
        if memory:
            resource.setrlimit(resource.RLIMIT_DATA, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.sched_setaffinity(0, cores)

    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(command, cwd=folder, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, start_new_session=True, preexec_fn=limit)
        status = ended(process, seconds)
        took = time.monotonic() - start
        return Run(status, took, kept(out), kept(err))


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def file_of(folder, program, way):
    name = re.sub(r"[^\w.+-]", "_", f"{program['repository']}_{program['program']}")
    return folder / f"{name}.{way}.json"


def run_of(folder, program, way):
    """The run of this command, if there is one."""
    path = file_of(folder, program, way)
    if not path.exists():
        return None
    record = json.loads(path.read_text(encoding="utf-8"))
    same = record.pop("command") == program["command"]
    return Run(**record) if same else None


def run_all(options):
    options.runs.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + options.until
    processors = sorted(os.sched_getaffinity(0))
    size = options.cores or len(processors)
    vgpu = shlex.split(options.vgpu or "")
    if vgpu:
        vgpu[0] = os.path.abspath(vgpu[0])
    way = "vgpu" if vgpu else "gpu"
    free = queue.Queue()
    for job in range(options.jobs):
        free.put({processors[(job * size + i) % len(processors)] for i in range(size)})

    def one(program):
        left = end - time.monotonic()
        if left < 1:
            return
        command = shlex.split(program["command"])
        cores = free.get()
        try:
            left = end - time.monotonic()
            with tempfile.TemporaryDirectory() as folder:
                report = os.path.join(folder, "sarif")
                if vgpu:
                    own = shlex.split(program.get("options") or "")
                    command = [*vgpu, "--sarif", report, *own, "--", *command]
                result = run(command, program["folder"], min(options.seconds, left),
                             options.memory << 30 if vgpu else 0, cores)
                if vgpu and result.status == FINDING_STATUS:
                    result = result._replace(own=own_status(report))
        except OSError as error:
            result = Run(127, 0.0, "", str(error))
        finally:
            free.put(cores)
        if result.status is None and left < options.seconds:
            return
        record = {"command": program["command"]} | result._asdict()
        whole_file.replace(file_of(options.runs, program, way), json.dumps(record))
        print(f"{program['program']}: {result.status} {result.seconds:.1f}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        todo = [program for program in rows_of(options.list)
                if options.only.search(program["program"])
                and not (options.missing and run_of(options.runs, program, way))]
        for future in [pool.submit(one, program) for program in todo]:
            future.result()
    return 0


def own_status(report):
    """The exit status of the program that a SARIF file tells of; None if launches failed that a GPU
    may execute."""
    try:
        with open(report, encoding="utf-8") as file:
            told = json.load(file)["runs"][0]
    except OSError:
        return None
    alike = all(result["ruleId"] in AS_ON_A_GPU for result in told["results"])
    return told["invocations"][0]["exitCode"] if alike else None


def first_line(text, pattern=r"\S"):
    """The first line of the text that matches, as one cell of the table: without folders."""
    for line in text.splitlines():
        if re.search(pattern, line):
            return re.sub(r"/\S*/([^/\s]+)", r"\1", " ".join(line.split()))[:200]
    return ""


def report_of(result):
    """The first line of vgpu's first report, without its name. Remarks are none."""
    reports = re.split(r"^(?=vgpu: (?! ))", result.err, flags=re.M)[1:]
    return first_line("\n".join(report[len("vgpu: "):].splitlines()[0] for report in reports
                                if not any(remark in report for remark in REMARKS)))


def cause_of(result):
    return report_of(result) or first_line(result.err) or first_line(
        result.out, r"(?i)fail|error|wrong|mismatch|incorrect")


def same_line(line, other):
    """Whether two lines are equal apart from the last digits of their numbers."""
    if line == other:
        return True
    if NUMBER.sub("", line) != NUMBER.sub("", other):
        return False
    pairs = zip(map(float, NUMBER.findall(line)), map(float, NUMBER.findall(other)))
    return all(abs(a - b) <= DIGITS * max(abs(a), abs(b)) for a, b in pairs)


def difference(result, other, order=list):
    """The first lines in which two runs of a program differ, or nothing."""
    parts = [order(part) for text in (result.out, other.out) for part in compared(text)]
    for lines, others in zip(parts[:len(parts) // 2], parts[len(parts) // 2:]):
        for pair in zip(lines, others):
            if not same_line(*pair):
                return " | ".join(pair)
    if len(parts) == 2 and len(parts[0]) != len(parts[1]):
        return f"{len(parts[0])} lines | {len(parts[1])}"
    return "" if len(parts) % 2 == 0 else "an output is longer"


def compared(text):
    """The lines to compare; of an output that was cut those before the cut, and those behind it
    from the last one on."""
    before, *behind = text.replace(VIRTUAL, "").split(CUT)
    parts = [before.splitlines()[:-1 if behind else None]]
    parts += [part.splitlines()[:0:-1] for part in behind]
    return [[line for line in part if not TIMES.search(line)] for part in parts]


def judged(result, right, gpu):
    """Outcome and cause of one run."""
    if result.status is None:
        return "late", report_of(result)
    fired = result.status == FINDING_STATUS
    status = result.own if fired else result.status
    output = result.out + result.err
    wanted = 0
    differs = ""
    if right == "exit":
        says_right = True
    elif right in OF_A_GPU:
        differs = difference(result, gpu, sorted if right == "lines" else list)
        says_right = not differs
        wanted = gpu.status
    else:
        says_right = right.startswith("!") != bool(re.search(right.removeprefix("!"), output))
    if status == wanted and says_right:
        return "right", cause_of(result) if fired else ""
    if fired:
        return "finding", cause_of(result)
    if refusal := REFUSED.search(result.err):
        return "refused", first_line(result.err[refusal.start() + len("vgpu: "):])
    if result.status != wanted:
        status = f"exit status {result.status}" if result.status >= 0 else signal.Signals(
            -result.status).name
        return "wrong", f"{status}; {cause_of(result)}"
    if differs:
        return "wrong", first_line(f"the GPU prints other lines: {differs}")
    return "wrong", cause_of(result) or "it does not say that it is right"


def row_of(program, options):
    """The row of a program that ran; for one without a check the GPU's run is the measure."""
    result = run_of(options.runs, program, "vgpu")
    gpu = run_of(options.runs, program, "gpu")
    measured = gpu is not None and gpu.status is not None
    if result is None or (program["right"] in OF_A_GPU and not measured):
        return None
    on_gpu = ""
    if gpu:
        right = "exit" if program["right"] in OF_A_GPU else program["right"]
        on_gpu = judged(gpu, right, gpu)[0]
        if on_gpu not in ("right", "late"):
            on_gpu = "wrong"
    outcome, cause = judged(result, program["right"], gpu)
    if options.differences and measured and outcome == "right":
        if differs := difference(result, gpu):
            print(f"{program['program']}: {differs}")
    return {name: program.get(name, "") for name in COLUMNS} | {
        "judge": "gpu" if program["right"] in OF_A_GPU else "program", "gpu": on_gpu,
        "outcome": outcome, "seconds": f"{result.seconds:.1f}", "cause": cause}


def make_table(options):
    comment, rows = options.comment, {}
    if options.update:
        rows = {(row["repository"], row["program"]): row for row in rows_of(options.table)}
        with open(options.table, encoding="utf-8") as file:
            comment = "".join(line[2:] for line in file if line.startswith("#"))
    for program in rows_of(options.list):
        key = program["repository"], program["program"]
        if row := row_of(program, options):
            rows[key] = row | {"gpu": row["gpu"] or rows.get(key, row)["gpu"]}
    text = io.StringIO()
    text.writelines(f"# {line}\n" for line in comment.splitlines())
    table = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    table.writeheader()
    table.writerows(row for _, row in sorted(rows.items()))
    whole_file.replace(options.table, text.getvalue())
    counts = collections.Counter((row["gpu"] or "no run", row["outcome"]) for row in rows.values())
    for (gpu, outcome), count in sorted(counts.items()):
        print(f"GPU {gpu}, vgpu {outcome}: {count}")
    return 1 if any(row["outcome"] == "wrong" and row["gpu"] in ("", "right")
                    for row in rows.values()) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    ways = parser.add_subparsers(required=True)
    runs = ways.add_parser("run")
    runs.set_defaults(do=run_all)
    runs.add_argument("--vgpu", metavar="COMMAND")
    runs.add_argument("--seconds", type=float, default=60)
    runs.add_argument("--jobs", type=int, default=1)
    runs.add_argument("--cores", type=int)
    runs.add_argument("--until", type=float, default=float("inf"))
    runs.add_argument("--only", type=re.compile, default=re.compile(""))
    runs.add_argument("--missing", action="store_true")
    runs.add_argument("--memory", type=int, default=8, metavar="GIB")
    table = ways.add_parser("table")
    table.set_defaults(do=make_table)
    table.add_argument("--table", required=True, type=pathlib.Path)
    table.add_argument("--comment", default="bench/vgpu/programs.py: default checks")
    table.add_argument("--differences", action="store_true")
    table.add_argument("--update", action="store_true")
    for way in (runs, table):
        way.add_argument("list", type=pathlib.Path)
        way.add_argument("--runs", required=True, type=pathlib.Path)
    options = parser.parse_args()
    return options.do(options)


if __name__ == "__main__":
    sys.exit(main())
