#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs broken copies of each rung on the virtual GPU: each must be caught, by a check or by a wrong
result. Prints which by what.

  mutation.py --program mutant_program --vgpu VGPU [--device a100] [--rung RUNG]...
      [--kernel PART]... [--kind KIND]... [--every N] [--list]

A mutant changes the PTX text in the program's fat binary without changing its length:
  barrier   a barrier of the block is removed (not one of a warp: races within a warp are not
            checked)
  wait      a wait for asynchronous copies, for groups of wgmma or for bulk stores is removed
  bound     comparisons with m, n or a 32-bit value are off by one (< becomes <= and so on)
  stride    a leading dimension is read as another one
and in rungs for Hopper, where copies and products are asynchronous:
  fence     wgmma.fence, or a fence of the async proxy, is removed
  group     wgmma.commit_group, or the commit of a bulk group, is removed
  arrival   an arrival at an mbarrier is removed, of a thread or of its copies
  poll      a wait for an mbarrier does not wait
  parity    a wait for an mbarrier has a constant parity
  other     an arrival or a wait uses a neighbouring mbarrier, or the next stage's
  stage     the address of a stage is that of the first one

A mutant runs the problems that launch its kernel, with eager and lazy copies. If they do not catch
it, a trap in its place tells whether they reach it. If so, it is tried with random schedules, in
which warps and blocks are late, and with all of the rung's problems; if not, it is counted apart.

--kernel: only kernels whose demangled names contain PART. --kind: only these kinds. --every: of
each rung and kind only every Nth mutant, beginning with the first. --list: prints the mutants, with
the reason for those that equivalents.py excludes, and runs none; exit status 1 if an entry of
equivalents.py fits no mutant.
Exit status: 0 if all are caught, 1 if one survived or none were made.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import equivalents

# Fields of ladder::Problem, by offset in the kernel's first parameter; of ladder::PartJob for
# simt_parts.
SIZES = {0: "m", 8: "n"}
STRIDES = {24: "lda", 32: "ldb", 40: "ldc"}
SIZES_OF = {"simt_parts": {24: "rows of A", 56: "columns of B", 92: "m", 96: "n", 100: "k"}}
STRIDES_OF = {"simt_parts": {8: "A's row step", 16: "A's k step", 40: "B's column step",
                             48: "B's k step"}}
# Rungs whose kernels are instances of split_fp16's templates for other terms.
SHARE_TERMS = ("split_bf16", "guarded")
# Kernels outside their rung's namespace.
KERNELS_OF = {"tensor_tiles": "tensor_tiles", "part_tile": "simt_parts",
              "direct_along": "simt_parts", "direct_across": "simt_parts",
              "dot_product": "simt_parts", "outer_product": "simt_parts"}
OFF_BY_ONE = {b"lt": b"le", b"le": b"lt", b"gt": b"ge", b"ge": b"gt"}
TAKEN_OUT = {
    "barrier": rb"\b(bar|barrier)\.(?!warp)[^;\n]*;",
    "wait": rb"\b(cp\.async\.wait_(group|all)|(wgmma|cp\.async\.bulk)\.wait_group)[^;\n]*;",
    "fence": rb"\b(wgmma\.fence|fence\.proxy\.async)[^;\n]*;",
    "group": rb"\b(wgmma|cp\.async\.bulk)\.commit_group[^;\n]*;",
    "arrival": rb"\b(cp\.async\.)?mbarrier\.arrive[^;\n]*;",
}
STAGE_BYTES = {"r12": 12560}  # sizeof(Tile::Stage), where mbarriers lie in the stages
NOT_REACHED = "not reached"
NO_SUCH_RUN = 2  # the program's exit status
SOURCE = os.fsencode(pathlib.Path(__file__).resolve().parents[2])
LINES = {}  # of source files, by path
FILES = {}  # of a PTX text, by its end and their numbers
SCHEDULES = ("eager", "lazy")  # tried in this order, then, where a mutant is reached, these:
SEEDS = tuple(f"random:{seed}" for seed in range(1, 9))
TIMEOUT_S = 120  # of a run that takes seconds alone, on a busy machine; a deadlock is found at once


def entries(data):
    """(name, begin, end) of the kernels in the plain PTX texts of a program. Compressed texts, of
    kernels that are linked but not broken here, can show a kernel's first line as well."""
    for match in re.finditer(rb"\.entry (\w+)\(", data):
        begin = data.find(b"\n{", match.end())
        end = data.find(b"\n}", begin)
        if 0 <= begin < end and data[match.end():end].isascii() and b"\0" not in data[match.end(
        ):end]:
            yield match.group(1).decode(), match.end(), end


def blank(text):
    return b" " * len(text)


def line_of(path, number):
    """A line of a source file of this project, "" of others and of instruction wrappers (ptx/)."""
    if b"/ptx/" in path or not path.startswith(SOURCE):
        return ""
    if path not in LINES:
        LINES[path] = open(path, encoding="utf-8").read().splitlines()
    return LINES[path][number - 1].strip()


def source_of(data, at):
    """The line of source from which the instruction at `at` was compiled and, if that was inlined,
    the line that calls it: "LINE < CALL". "" if the program does not say."""
    ends = data.find(b"\0", at)
    if ends not in FILES:  # the list of files follows the kernels
        found = re.finditer(rb"\.file\s+(\d+) \"([^\"]+)\"", data[at:ends])
        FILES[ends] = {match.group(1): match.group(2) for match in found}
    where = re.compile(rb"\.loc\s+(\d+) (\d+) \d+(?:[^\n]*inlined_at (\d+) (\d+))?")
    for *here, file, line in reversed(where.findall(data, max(0, at - 4000), at)):
        places = [here, (file, line)] if file else [here]
        chain = [line_of(FILES[ends][number], int(line)) for number, line in places]
        if any(chain):
            return " < ".join(filter(None, chain))
    return ""


def field_reads(data, name, begin, end):
    """(offset of the field, register, position of the offset's digits or None) of the loads of the
    first parameter."""
    parameter = name.encode() + b"_param_0"
    alias = re.compile(rb"mov\.b64 (%rd\d+), " + parameter + rb";")
    bases = [parameter] + [match.group(1) for match in alias.finditer(data, begin, end)]
    load = re.compile(rb"ld\.param\.\w+ (%\w+), \[(" + b"|".join(map(re.escape, bases)) +
                      rb")(?:\+(\d+))?\]")
    for match in load.finditer(data, begin, end):
        yield int(match.group(3) or 0), match.group(1), match.start(3) if match.group(3) else None


def compared(data, begin, end):
    """(position of the relation, relation, type, operands) of the comparisons."""
    for match in re.compile(rb"setp\.(lt|le|gt|ge)\.(s32|s64|u32) %p\d+, (%\w+), (%\w+);").finditer(
            data, begin, end):
        yield match.start(1), match.group(1), match.group(2), match.group(3, 4)


def mutants(data, name, begin, end):
    """(kind, [(position, new bytes)])"""
    for kind, pattern in TAKEN_OUT.items():
        for match in re.compile(pattern).finditer(data, begin, end):
            yield kind, [(match.start(), blank(match.group()))]
    polls = re.compile(rb"mbarrier\.try_wait\.parity[^;\n]*, (%r\d+); selp\.s32 %r\d+, 1, (0), p;")
    for match in polls.finditer(data, begin, end):
        yield "poll", [(match.start(2), b"1")]
        for parity in (b"0", b"1"):
            own = rb"mov\.u32 " + match.group(1) + rb", " + parity + rb";\s*\{[^;]*;[^;]*$"
            if not re.search(own, data[begin:match.end(1)]):
                yield (f"parity {parity.decode()}",
                       [(match.start(1), parity.ljust(len(match.group(1))))])
    yield from at_other_barriers(data, name, begin, end)
    stages = re.compile(rb"mad\.lo\.s32 %r\d+, %r\d+, (\d{5}), %r\d+;")
    for match in stages.finditer(data, begin, end) if b"wgmma" in data[begin:end] else []:
        yield "stage", [(match.start(1), b"0    ")]
    reads = list(field_reads(data, name, begin, end)) if not of_terms(name) else []
    comparisons = list(compared(data, begin, end))
    for offset, size in SIZES_OF.get(rung_of(name), SIZES).items():
        registers = {register for at, register, _ in reads if at == offset}
        edits = [(at, OFF_BY_ONE[relation]) for at, relation, _, operands in comparisons
                 if registers & set(operands)]
        if len(edits) > 1:  # a single one is the exit of surplus blocks: they would find no work
            yield f"bound {size}", edits
    # The split kernels read a parameter again after each store: its registers count as one.
    loads = re.compile(rb"ld\.param\.u32 (%r\d+), \[([^\]]+)\];")
    parameters = dict(loads.findall(data, begin, end)) if of_terms(name) else {}
    left = collections.defaultdict(list)
    for at, relation, kind, operands in comparisons:
        if kind == b"s32":
            left[parameters.get(operands[1], operands[1])].append((at, OFF_BY_ONE[relation]))
    yield from (("bound", edits) for edits in left.values() if len(edits) > 1)
    strides = STRIDES_OF.get(rung_of(name), STRIDES)
    for offset, stride in strides.items():
        places = [at for found, _, at in reads if found == offset]
        for other, other_stride in strides.items():
            if places and other != offset and len(str(other)) <= len(str(offset)):
                text = (b"%d" % other).ljust(len(str(offset)))
                yield f"stride {stride} as {other_stride}", [(at, text) for at in places]


def at_other_barriers(data, name, begin, end):
    """Arrivals and waits at another offset, which has room where "::cta" and spaces stood."""
    stage = STAGE_BYTES.get(rung_of(name))
    if stage is None:
        return
    uses = re.compile(
        rb"(?:cp\.async\.)?mbarrier\.(?:arrive|try_wait)[^;\n]*(\[(%\w+)(?:\+(\d+))?\])[^;\n]*;")
    for match in uses.finditer(data, begin, end):
        for other, by in ("the next mbarrier", 8), ("the mbarrier before", -8), ("the next stage",
                                                                                 stage):
            if by == stage and b"wait" in match.group():
                continue  # emptied or filled later than its own: that waits longer
            offset = int(match.group(3) or 0) + by
            address = b"[%s%+d]" % (match.group(2), offset) if offset else b"[%s]" % match.group(2)
            text = match.group().replace(match.group(1), address).replace(b"::cta",
                                                                          b"").replace(b", ", b",")
            if len(text) <= len(match.group()):
                yield f"other {other}", [(match.start(), text.ljust(len(match.group())))]


def apply(data, edits):
    broken = bytearray(data)
    for at, text in edits:
        broken[at:at + len(text)] = text
    return bytes(broken)


def trapped(data, edits):
    """A trap in place of each instruction that `edits` change."""
    text = data
    for at, _ in edits:
        begin = max(data.rfind(end, 0, at) for end in (b";", b"{", b"}", b"\n")) + 1
        begin = re.compile(rb"\s*(@!?%p\d+\s+)?").match(data, begin).end()
        length = data.index(b";", at) + 1 - begin
        text = text[:begin] + b"trap;".ljust(length) + text[begin + length:]
    return text


def run(options, program, rung, schedule="eager", counters=None, only=()):
    """What caught it: a check's name, "result", "hang", "refused"; "" if nothing did. Of the rung's
    runs `only` some, or all."""
    command = [options.vgpu, "--fail-fast", "--device", options.device, "--schedule", schedule,
               "--threads", "1"]
    command += ["--counters", counters] if counters else []
    try:
        result = subprocess.run(command + ["--", program, rung, *map(str, only)],
                                capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    if result.returncode == 86:
        return "check: " + result.stderr.split("vgpu: ", 1)[1].split(":", 1)[0].split("\n", 1)[0]
    return {0: "", 1: "result"}.get(result.returncode,
                                    f"status {result.returncode}: {result.stderr[-300:]}")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True,
                          check=True).stdout
    return dict(zip(names, text.splitlines()))


def of_terms(name):
    """Whether a kernel belongs to the split products; its first parameter is not a Problem."""
    return re.match(r"_ZN6ladder\d+(kernel|fused_kernel|first_pass|binary64_product|keep_c|"
                    r"split_(at_once|across|strips|in_product)|add_(split|fused)_parts)[IE]",
                    name) is not None


def rung_of(name):
    if of_terms(name):
        return "split_fp16"  # of the rungs that share these kernels, this one is broken
    match = re.match(r"_ZN6ladder\d+(r\d\d)_", name)
    if match:
        return match.group(1)
    match = re.match(r"_ZN6ladder\d+([a-z_]+)[IE\d]", name)
    return KERNELS_OF.get(match.group(1)) if match else None


def runs_of(options, rung, folder, pool):
    """The program's runs of this rung by the kernels, demangled, that they launch. Exits where one
    does not pass."""
    def launched(number):
        counters = os.path.join(folder, f"{rung}-{number}.json")
        by = run(options, options.program, rung, counters=counters, only=(number,))
        if by.startswith(f"status {NO_SUCH_RUN}:"):
            return None
        if by:
            sys.exit(f"mutation: {rung} itself does not pass its run {number}: {by}")
        with open(counters, encoding="utf-8") as file:
            return {launch["kernel"] for launch in json.load(file)["launches"]}

    runs, number = collections.defaultdict(list), 1
    while True:  # some at a time, until one is not there
        together = range(number, number + 2 * os.cpu_count())
        for which, kernels in zip(together, pool.map(launched, together)):
            if kernels is None:
                return runs
            for kernel in kernels:
                runs[kernel].append(which)
        number = together.stop


def identified(data, name, begin, end):
    """Mutants of a kernel as (equivalents.Mutant, edits). Its source is the lines that it
    changes."""
    found = [(kind, " | ".join(dict.fromkeys(source_of(data, at) for at, _ in edits)), edits)
             for kind, edits in mutants(data, name, begin, end)]
    copies = collections.Counter((kind, source) for kind, source, _ in found)
    seen = collections.Counter()
    for kind, source, edits in found:
        seen[kind, source] += 1
        yield (equivalents.Mutant(kind, source, seen[kind, source], copies[kind, source]), edits)


def chosen(options, data, names, rung, kernels):
    """(name, Mutant, edits, the entry of equivalents.py or None) of the rung's mutants."""
    for name, begin, end in kernels:
        shared = rung in SHARE_TERMS and of_terms(name)
        if rung_of(name) != rung and not shared:
            continue
        if options.kernel and not any(part in names[name] for part in options.kernel):
            continue
        for mutant, edits in identified(data, name, begin, end):
            if not options.kind or mutant.kind.split()[0] in options.kind:
                yield name, mutant, edits, equivalents.known(rung, names[name], mutant)


def listed(options, data, names, rungs, kernels):
    """Prints all mutants, and the entries of equivalents.py that fit none of a rung of theirs."""
    used = set()
    for rung in rungs:
        for name, mutant, _, entry in chosen(options, data, names, rung, kernels):
            used |= {(rung, other) for other in equivalents.ENTRIES
                     if other.fits(rung, names[name], mutant)}
            print(f"{rung}: {names[name]}: {mutant}" + (f": {entry.reason}" if entry else ""))
    if options.kernel or options.kind:
        return 0
    stale = [f"STALE, {rung}: {entry}" for rung in rungs for entry in equivalents.ENTRIES
             if rung in entry.rungs and (rung, entry) not in used]
    print("\n".join(stale))
    return 1 if stale else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--device", default="a100")
    parser.add_argument("--rung", action="append")
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--list", action="store_true")
    options = parser.parse_args()
    data = open(options.program, "rb").read()
    kernels = [entry for entry in entries(data) if rung_of(entry[0])]
    names = demangled([name for name, _, _ in kernels])
    for part, rung in KERNELS_OF.items():
        if rung in (options.rung or ()) and not any(part in name for name, _, _ in kernels):
            sys.exit(f"mutation: {rung} has no kernel of the name {part}")
    rungs = options.rung or sorted({rung_of(name) for name, _, _ in kernels})
    if options.list:
        return listed(options, data, names, rungs, kernels)
    caught, survivors, made = collections.defaultdict(collections.Counter), [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(
            os.cpu_count()) as pool:
        def outcome(rung, number, edits, only):
            path = os.path.join(folder, f"{rung}-{number}")

            def write(program):
                with open(path, "wb") as file:
                    file.write(program)
                os.chmod(path, 0o755)

            def tried(schedules,
                      runs):  # a wait that does not wait shows where copies come late, or warps
                return next(
                    filter(None, (run(options, path, rung, schedule, only=runs)
                                  for schedule in schedules)), "")

            write(apply(data, edits))
            by = tried(SCHEDULES, only)
            if not by:
                write(trapped(data, edits))
                by = "" if run(options, path, rung, only=only) else NOT_REACHED
            if not by:  # its effect may be on memory that another kernel reads
                write(apply(data, edits))
                by = tried(SEEDS, only) or tried(SCHEDULES, ())
            os.remove(path)
            return by

        for rung in rungs:
            if by := run(options, options.program, rung):
                sys.exit(f"mutation: {rung} itself does not pass: {by}")
            runs = runs_of(options, rung, folder, pool)
            seen, todo = collections.Counter(), []
            for name, mutant, edits, entry in chosen(options, data, names, rung, kernels):
                kind = mutant.kind.split()[0]
                if names[name] in runs and entry is None:
                    if seen[kind] % options.every == 0:
                        todo.append((name, mutant, edits))
                    seen[kind] += 1
            results = pool.map(
                lambda item: outcome(rung, item[0], item[1][2], runs[names[item[1][0]]]),
                enumerate(todo))
            for (name, mutant, _), by in zip(todo, results):
                made += 1
                caught[rung, mutant.kind.split()[0]][by or "SURVIVED"] += 1
                if not by:
                    survivors.append(f"{names[name]}: {mutant}")
                    print(f"SURVIVED {survivors[-1]}", flush=True)
    for (rung, kind), how in sorted(caught.items()):
        print(f"{rung}  {kind:<8} " + ", ".join(f"{n} {by}" for by, n in sorted(how.items())))
    missed = sum(how[NOT_REACHED] for how in caught.values())
    print(
        f"mutation: {made} mutants, {made - len(survivors) - missed} caught, {missed} where the problems do not come"
    )
    return 1 if survivors or not made else 0


if __name__ == "__main__":
    sys.exit(main())
