#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Breaks each rung in every way of a list, one at a time, and runs the broken program on the virtual GPU: every mutant
must be caught, by a check or by a wrong result. Prints which by what.

  mutation.py --program mutant_program --vgpu VGPU [--device a100] [--rung RUNG]... [--kernel PART]... [--kind KIND]... [--every N]

Mutants are edits of the PTX text in the program's fat binary, of the same length:
  barrier   a barrier of the block is taken out (each in turn); not one of a warp, inside which races are not looked for
  wait      a wait for asynchronous copies is taken out (each in turn), or for groups of wgmma or of bulk stores
  bound     comparisons with m, with n, or with what is left of k, are off by one (< becomes <= and so on)
  stride    a leading dimension is read as another one
and of rungs for Hopper, where products and copies run beside the threads:
  fence     wgmma.fence, or a fence of the asynchronous proxy, is taken out
  group     wgmma.commit_group or the commit of a bulk group is taken out
  arrival   an arrival at an mbarrier is taken out, or of copies that never arrive
  poll      a wait for an mbarrier does not wait
  parity    ... waits for one and the same parity
  other     an arrival or a wait uses the mbarrier beside its own: the stage's other one, or the next stage's
  stage     a stage's address is always the first one's
A mutant is tried under several schedules of the virtual GPU, until one catches it: eager, lazy, and some random ones, where warps and
blocks come late, too.
With --kernel only kernels are broken whose demangled name has that part, with --kind only in that way. With --every N, of each
rung and kind only every Nth mutant is made, the first among them. A mutant runs the problems that launch its
kernel; of one that they do not catch, a trap in its place tells whether they reach it; where they do, random schedules and
all of the rung's problems are tried, and where they do not it is counted apart.
Exit status: 0 all caught, 1 one survived, or none were made.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

# Fields of ladder::Problem, by offset in the kernel's first parameter; of ladder::PartJob for simt_parts.
SIZES = {0: "m", 8: "n"}
STRIDES = {24: "lda", 32: "ldb", 40: "ldc"}
SIZES_OF = {"simt_parts": {24: "the lines of A", 56: "the lines of B", 92: "m", 96: "n", 100: "k"}}
STRIDES_OF = {"simt_parts": {8: "A's line step", 16: "A's k step", 40: "B's line step", 48: "B's k step"}}
# Kernels outside their rung's namespace.
SHARE_WORDS = ("split_bf16", "guarded")  # rungs of whose kernels all or most are those of split_fp16, for other words
KERNELS_OF = {"tensor_tiles": "tensor_tiles", "part_tile": "simt_parts", "thin_product": "simt_parts", "outer_product": "simt_parts"}
OFF_BY_ONE = {b"lt": b"le", b"le": b"lt", b"gt": b"ge", b"ge": b"gt"}
# Kernels with a 16-bit C by tensor map, whose tiles have four chunks, and two with narrow tiles: of three, and of three and a
# part.
WHOLE_CHUNKS = (("r16", "bfloat16, 128, 256, 4>, true>"),
                ("tensor_tiles", "bfloat16, 128, 256, 4, (ladder::Blocks)1, 256>, (ladder::tensor_tiles::Finish)0"))
THREE_CHUNKS = ("tensor_tiles", "bfloat16, 128, 256, 4, (ladder::Blocks)1, 192>, (ladder::tensor_tiles::Finish)0")
WITH_RESTS = ("tensor_tiles", "bfloat16, 128, 256, 4, (ladder::Blocks)1, 232>, (ladder::tensor_tiles::Finish)0")
# Mutants that do the same as the rung, by rung, part of the kernel's name and what they change: the mutant as it is printed, or
# the line of source that it was compiled from, which keeps its name when others come. With the reason.
EQUIVALENT = {
    ("r08", ", true>", "3 comparisons with a 32-bit value"):
        "columns of the first row: a vector that begins at n is stored with no element",
    **{("r12", "", what): "the stage behind the last one: nothing is copied there and nothing of it is used"
       for what in ("wait 1", "poll 3", "poll 3 for parity 0", "poll 3 for parity 1")},
    ("guarded", "first_pass<ladder::TermFormat<__half, 2>, 256, 4, (ladder::split_detail::Extra)2>", "barrier 4"):
        "no block has a second group: the pass that counts is always wanted",
    ("guarded", "first_pass<ladder::TermFormat<__half, 2>, 256, 4, (ladder::split_detail::Extra)2>", "4 comparisons with a 32-bit value"):
        "a line has a block of its own",
    ("simt_parts", "thin_product<ladder::ThinTile<2", "4 comparisons with m"):
        "C has two rows wherever this tile is taken: none lies beyond",
    ("simt_parts", "thin_product<ladder::ThinTile<2", "7 comparisons with a 32-bit value"):
        "the same, as the small operand's lines are copied",
    ("simt_parts", "thin_product", "2 comparisons with a 32-bit value"):
        "one element more of the small operand is copied, past its padding: a zero that nobody reads",
    ("r15", "", "2 comparisons with a 32-bit value"):
        "producer and consumers take one step more, past k: its copies are zeros",
    **{(rung, kernel, what): "a later step of a tile: since the fence before nothing has touched what wgmma uses"
       for rung, kernel, what in (
           *((*of, f"fence {n}") for of in WHOLE_CHUNKS for n in range(3, 9)),
           *((*of, f"fence {n}") for of in (THREE_CHUNKS, WITH_RESTS) for n in range(4, 16)),
           ("tensor_tiles", " 64, 128, 9, (ladder::Blocks)0, 128>, (ladder::tensor_tiles::Finish)0", "fence 3"),
           *(("tensor_tiles", " 64, 64, 13, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)2", f"fence {n}") for n in (2, 3)))},
    **{("tensor_tiles", "float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)2", f"arrival {n}"):
       "the last two steps of a block's only part of a tile: nothing is copied to their stages again" for n in (3, 4)},
    **{("tensor_tiles", "float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1", what):
       "the last two steps of a block's only tile here: nothing is copied to their stages again" for what in ("wait 3", "arrival 4")},
    **{(*of, f"wait {n}"): "the first step of a tile: there is no group before its own"
       for of, waits in zip((*WHOLE_CHUNKS, THREE_CHUNKS, WITH_RESTS), ((2,), (3,), (3, 5), (3, 5))) for n in waits},
    **{(*of, f"barrier {n}"): "a turn that the second warpgroup does not wait for: its products begin sooner, and are the same"
       for of, numbers in ((WHOLE_CHUNKS[1], (9,)), (THREE_CHUNKS, (12, 15, 16)), (WITH_RESTS, (12, 14, 16, 19))) for n in numbers},
    **{(*of, what): "four chunks a tile, two buffers: in every tile this wait is for one and the same parity" for of in WHOLE_CHUNKS
       for what in ("poll 4 for parity 1", "poll 7 for parity 1", "poll 10 for parity 0", "poll 13 for parity 0", "poll 17 for parity 1")},
    **{(*of, "6 comparisons with a 32-bit value"): "whether a step is a tile's first one, in those that never are" for of in WHOLE_CHUNKS},
    **{("tensor_tiles", kernel, "arrival 4"): "the last stage of a block's only piece, which nobody fills again"
       for kernel in (" 64, 64, 13, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1",
                      " 64, 64, 12, (ladder::Blocks)4, 64>, (ladder::tensor_tiles::Finish)0")},
    **{(*of, f"group {n}"): "a chunk of a block's last tile, which nobody writes over: the next one's group does for both"
       for of, numbers in (*((of, (9, 10, 11)) for of in WHOLE_CHUNKS), (THREE_CHUNKS, (16, 17)), (WITH_RESTS, (16, 17, 18)))
       for n in numbers},
    ("r16", "", "if (end_.tile < begin_.tile || (last && end_.step == begin_.step)) return false;"):
        "where a block's share of cut tiles ends: r16 cuts none",
    ("tensor_tiles", "", "if (tile_ >= plan_.whole_tiles) return false;"):
        "producer and consumers take a tile more, which lies beyond C: its copies are zeros, nothing of it is stored",
    (*WITH_RESTS, "2 comparisons with a 32-bit value, number 3"): "how many boxes of B a tile has: here as many as a stage",
    ("tensor_tiles", " 64, 128, 9, (ladder::Blocks)1, 128>, (ladder::tensor_tiles::Finish)0", "barrier 2"):
        "of the warps that store for others: a small tile leaves from registers, and they are done",
    ("tensor_tiles", " 64, 128, 9, (ladder::Blocks)1, 128>, (ladder::tensor_tiles::Finish)0",
     "2 comparisons with a 32-bit value, number 2"):
        "producer and consumers take one step more, past k: its copies are zeros",
    ("split_fp16", "CooperativeTile<ladder::TermFormat<__half, 2>, 3, 256, 3, 4>, false", "fence 2"):
        "a slab's second half: since the fence before nothing has written what wgmma uses",
    **{("split_fp16", kernel, what): "a line has a block of its own, and no block a second group: split_fp16's pass is always wanted"
       for kernel, what in (("split_at_once<ladder::TermFormat<__half, 2>, 256", "2 comparisons with a 32-bit value"),
                            ("first_pass<ladder::TermFormat<__half, 2>, 256, 1,", "3 comparisons with a 32-bit value"),
                            ("first_pass<ladder::TermFormat<__half, 2>, 32, 2,", "barrier 2"),
                            ("first_pass<ladder::TermFormat<__half, 2>, 256, 1,", "barrier 3"),
                            ("first_pass<ladder::TermFormat<__half, 2>, 256, 4,", "barrier 3"))},
    **{(rung, "split_strips<", "barrier 11"):
       "the last one of the cluster: a block has waited for all that is sent to it, and what it sends comes from registers"
       for rung in ("split_bf16", "split_fp16", "guarded")},
    ("split_fp16", "split_at_once<ladder::TermFormat<__half, 2>, 256", "8 comparisons with a 32-bit value"):
        "a block splits the tile behind its own as well, which has the same words",
}
# The same of the kernels of words, whatever the words. Of each: the comparisons in the loops that fill rings and with the
# number of tiles.
WIDE, OTHERS = (" 256, 3, 4>", " 256, 3, 6>"), (" 128, 3, 3>", " 128, 4, 4>", " 64, 3, 3>", " 64, 4, 4>")
RINGS = [("fused_kernel", (1, 2, 11)), ("PingPongTile", (1, 2, 42))]
RINGS += [(tile + ", false", (1, 2, 11)) for tile in WIDE + OTHERS]
RINGS += [(tile + ", true", (2, 3)) for tile in WIDE + OTHERS]
for rung in "split_bf16", "split_fp16", "guarded":
    EQUIVALENT[rung, "", "if (first_unit) ptx::mbarrier_wait(ptx::shared_address(&barriers.full[0]), 0);"] = (
        "the first unit comes alone for the sake of time")
    EQUIVALENT[rung, "", "const int scale = line < x.lines ? __ldg(x.gExponent + line) : 0;"] = (
        "what the scale of a line that is not there says chooses between two ways to the same elements")
    for kernel, units in RINGS:
        EQUIVALENT |= {(rung, kernel, f"number {n}"): "a unit more, which nobody multiplies, or a tile more, which lies beyond C"
                       for n in units}
    EQUIVALENT |= {(rung, "PingPongTile", f"{n} comparisons with a 32-bit value"): "of some of a thread's columns, which C has, or lacks"
                   for n in (2, 4)}
    EQUIVALENT[rung, "first_pass<", "2 comparisons with a 32-bit value"] = "no block has a second group: the pass is always wanted"
    EQUIVALENT |= {(rung, "split_at_once<", f"number {n}"): "a block takes the tile behind its own as well, which has the same words"
                   for n in (2, 3)}
    EQUIVALENT[rung, "split_at_once<ladder::TermFormat<__nv_bfloat16, 3>, 256", "number 4"] = "a line has a block of its own"
    EQUIVALENT[rung, "split_at_once<", "__syncthreads();  // scales are there"] = (
        "they are first read behind the barrier of a strip's first tile")
    EQUIVALENT[rung, "split_strips<", "2 comparisons with a 32-bit value, number 3"] = (
        "which lanes send: so deep, clusters have eight blocks, for all of which a warp has lanes")
    EQUIVALENT[rung, "PingPongTile", "barrier 2"] = "the block has no tile before this one"
# Mutants that nothing here sees, with the reason.
NOT_SEEN = {
    **{(rung, "split_strips<", "2 comparisons with a 32-bit value, number 4"):
       "a strip more, which was not loaded, behind the last one: nobody's lines, or where only A lies across k B's first ones, "
       "whose words the kernel beside writes: here it runs afterwards" for rung in ("split_bf16", "split_fp16", "guarded")},
    **{(rung, kernel, f"number {n}"): "C's edge on a way that no problem here takes with this tile: beta, exceptional lines, pairs"
       for rung in ("split_bf16", "split_fp16", "guarded")
       for kernel, numbers in (("fused_kernel", (6, 7, 8, 9)), *((tile + ", false", (8, 9)) for tile in WIDE + OTHERS))
       for n in numbers},
    ("split_fp16", " 64, 3, 3>, false", "barrier 2"):
        "sums handed on are flagged before all warps have written theirs: with none of the seeds here the block that takes them in "
        "comes in between",
    ("guarded", "kernel<ladder::CooperativeTile<ladder::TermFormat<__nv_bfloat16, 3>, 6,", "barrier 1"):
        "a kernel that the device does not choose here: its mbarriers are made, and nobody comes to them",
    ("guarded", "kernel<ladder::PingPongTile<ladder::TermFormat<__nv_bfloat16, 3>, 6,", "barrier 1"): "the same",
    **{("split_fp16", f" {tile}>, false", "if (end_.tile < begin_.tile || (last && end_.step == begin_.step)) return false;"):
       "where a block's share of cut tiles ends: no problem here gives a block of this tile a second part of one"
       for tile in ("256, 3, 4", "128, 3, 3")},
    ("tensor_tiles", "Finish)1", "if (end_.tile < begin_.tile || (last && end_.step == begin_.step)) return false;"):
        "where a block's share of cut tiles ends: of what is stored this way no problem here cuts tiles",
    **{(*of, "if (pair.n >= narrow.columns) {"): "the first narrow tile of a second band of C, which no problem here has"
       for of in (THREE_CHUNKS, WITH_RESTS)},
    **{(*of, f"poll {n} for parity {parity}"): "a wait of consumers that in the problems here comes in turns of one parity only"
       for of, both in ((THREE_CHUNKS, ((4, 10, 13, 16), (18, 19, 20, 33))), (WITH_RESTS, ((4, 10, 13, 16, 23, 26, 29), (18, 19, 20, 32, 33))))
       for parity, polls in enumerate(both) for n in polls},
    **{(*of, f"address of a stage {n}"): "a step that in the problems here finds the ring at its first stage"
       for of in (THREE_CHUNKS, WITH_RESTS) for n in (4, 9)},
    (*THREE_CHUNKS, "wait 29"): "of a tile's last stage, which here nobody fills again",
    ("tensor_tiles", "", "if (tile < T::kBand * plan.tiles_n) {"): "the first tile of a second band of C, which no problem here has",
    **{("tensor_tiles", "float, 128, 64, 9, (ladder::Blocks)0, 64>, (ladder::tensor_tiles::Finish)1", f"poll {n} for parity 0"):
       "a wait of consumers that in the problems here comes in a ring's first turn only" for n in (1, 2)},
    (*WHOLE_CHUNKS[1], "wait 12"): "products under way as a turn begins still read the stage that is released: here nobody fills it yet",
    **{(*of, f"poll {n} for parity 0"):
       "half of a block's last waits do not wait: neighbours' arrivals come in order here, and the others are waited for"
       for of, n in ((WHOLE_CHUNKS[1], 19), (THREE_CHUNKS, 3))},
    **{(*of, f"poll {n}"): "a chunk is written before the one that was there has been read: the warp that stores is ahead, as a rule"
       for of, polls in ((WHOLE_CHUNKS[0], (17,)), (WHOLE_CHUNKS[1], (4, 7, 17)), (THREE_CHUNKS, (7, 24, 27, 34)), (WITH_RESTS, (7, 24, 34)))
       for n in polls},
    **{(*of, what): "a wait for a chunk to have been read that comes in turns of one parity only"
       for of, waits in ((THREE_CHUNKS, ("poll 24 for parity 1", "poll 30 for parity 0", "poll 34 for parity 0")),
                         (WITH_RESTS, ("poll 7 for parity 1", "poll 24 for parity 1", "poll 27 for parity 0",
                                       "poll 30 for parity 0", "poll 34 for parity 1")))
       for what in waits},
    **{(*of, f"barrier {n}"): "a block's last chunks go where all warps of a warpgroup have multiplied: here each reads of A what it writes"
       for of, n in zip((*WHOLE_CHUNKS, THREE_CHUNKS, WITH_RESTS), (3, 14, 21, 21))},
    **{(*WHOLE_CHUNKS[0], what): "of a tile's last stage, which here nobody fills again" for what in ("wait 8", "arrival 15")},
    (*WHOLE_CHUNKS[0], "poll 16 for parity 0"): "a wait of consumers that in the problems here comes in turns of one parity only",
}
TAKEN_OUT = {
    "wait": rb"\b(cp\.async\.wait_(group|all)|wgmma\.wait_group|cp\.async\.bulk\.wait_group)[^;\n]*;",
    "fence": rb"\b(wgmma\.fence|fence\.proxy\.async)[^;\n]*;",
    "group": rb"\b(wgmma|cp\.async\.bulk)\.commit_group[^;\n]*;",
    "arrival": rb"\b(cp\.async\.)?mbarrier\.arrive[^;\n]*;",
}
STAGE_BYTES = {"r12": 12560}  # sizeof(Tile::Stage), where mbarriers lie in the stages
NOT_REACHED = "not reached"
NO_SUCH_RUN = 2  # the program's exit status
LINES = {}  # of source files
SCHEDULES = ("eager", "lazy")  # tried in this order, then, where a mutant is reached, these:
SEEDS = tuple(f"random:{seed}" for seed in range(1, 9))
TIMEOUT_S = 120  # of a run that takes seconds alone, on a busy machine; a deadlock is found at once


def entries(data):
    """(name, begin, end) of the kernels in the plain PTX texts of a program. Compressed texts, of kernels that are linked
    but not broken here, can show a kernel's first line as well."""
    for match in re.finditer(rb"\.entry (\w+)\(", data):
        begin = data.find(b"\n{", match.end())
        end = data.find(b"\n}", begin)
        if 0 <= begin < end and data[match.end():end].isascii() and b"\0" not in data[match.end():end]:
            yield match.group(1).decode(), match.end(), end


def blank(text):
    return b" " * len(text)


def source_line(data, at):
    """The line of source that what stands at `at` was compiled from, without the spaces around it; of an instruction's wrapper
    the line that calls it. "" where the program does not say."""
    ends = data.find(b"\0", at)

    def text(number, line):
        path = re.compile(rb"\.file\s+" + number + rb' "([^"]+)"').search(data, at, ends)
        if not path or b"/ptx/" in path.group(1) or not os.path.exists(path.group(1)):
            return ""
        if path.group(1) not in LINES:
            LINES[path.group(1)] = open(path.group(1), encoding="utf-8").read().splitlines()
        return LINES[path.group(1)][int(line) - 1].strip()

    where = re.compile(rb"\.loc\s+(\d+) (\d+) \d+(?:[^\n]*inlined_at (\d+) (\d+))?")
    for number, line, caller, caller_line in reversed(where.findall(data, max(0, at - 4000), at)):
        if found := text(number, line) or (caller and text(caller, caller_line)):
            return found
    return ""


def field_reads(data, name, begin, end):
    """(offset of the field, register, position of the offset's digits or None) of the loads of the first parameter."""
    parameter = name.encode() + b"_param_0"
    alias = re.compile(rb"mov\.b64 (%rd\d+), " + parameter + rb";")
    bases = [parameter] + [match.group(1) for match in alias.finditer(data, begin, end)]
    load = re.compile(rb"ld\.param\.\w+ (%\w+), \[(" + b"|".join(map(re.escape, bases)) + rb")(?:\+(\d+))?\]")
    for match in load.finditer(data, begin, end):
        yield int(match.group(3) or 0), match.group(1), match.start(3) if match.group(3) else None


def compared(data, begin, end):
    """(position of the relation, relation, type, operands) of the comparisons."""
    for match in re.compile(rb"setp\.(lt|le|gt|ge)\.(s32|s64|u32) %p\d+, (%\w+), (%\w+);").finditer(data, begin, end):
        yield match.start(1), match.group(1), match.group(2), match.group(3, 4)


def mutants(data, name, begin, end):
    """(kind, what, [(position, new bytes)])"""
    for number, match in enumerate(re.compile(rb"\b(bar|barrier)\.(?!warp)[^;\n]*;").finditer(data, begin, end), 1):
        yield "barrier", f"barrier {number}", [(match.start(), blank(match.group()))]
    for kind, pattern in TAKEN_OUT.items():
        for number, match in enumerate(re.compile(pattern).finditer(data, begin, end), 1):
            yield kind, f"{kind} {number}", [(match.start(), blank(match.group()))]
    polls = re.compile(rb"mbarrier\.try_wait\.parity[^;\n]*, (%r\d+); selp\.s32 %r\d+, 1, (0), p;")
    for number, match in enumerate(polls.finditer(data, begin, end), 1):
        yield "poll", f"poll {number}", [(match.start(2), b"1")]
        for parity in (b"0", b"1"):
            if re.search(rb"mov\.u32 " + match.group(1) + rb", " + parity + rb";\s*\{[^;]*;[^;]*$", data[begin:match.end(1)]):
                continue  # that is the one
            yield ("parity", f"poll {number} for parity {parity.decode()}",
                   [(match.start(1), parity.ljust(len(match.group(1))))])
    yield from at_other_barriers(data, name, begin, end)
    stages = re.compile(rb"mad\.lo\.s32 %r\d+, %r\d+, (\d{5}), %r\d+;")
    for number, match in enumerate(stages.finditer(data, begin, end) if b"wgmma" in data[begin:end] else [], 1):
        yield "stage", f"address of a stage {number}", [(match.start(1), b"0    ")]
    reads = list(field_reads(data, name, begin, end)) if not of_words(name) else []
    comparisons = list(compared(data, begin, end))
    for offset, size in SIZES_OF.get(rung_of(name), SIZES).items():
        registers = {register for at, register, _ in reads if at == offset}
        edits = [(at, OFF_BY_ONE[relation]) for at, relation, _, operands in comparisons if registers & set(operands)]
        if len(edits) > 1:  # a single one is the exit of surplus blocks, which would find nothing to do
            yield "bound", f"{len(edits)} comparisons with {size}", edits
    # Registers of kernels of words that hold one and the same parameter, read again after each store, count as one.
    loads = re.compile(rb"ld\.param\.u32 (%r\d+), \[([^\]]+)\];")
    parameters = dict(loads.findall(data, begin, end)) if of_words(name) else {}
    left = collections.defaultdict(list)
    for at, relation, kind, operands in comparisons:
        if kind == b"s32":
            left[parameters.get(operands[1], operands[1])].append((at, OFF_BY_ONE[relation]))
    for number, edits in enumerate((edits for edits in left.values() if len(edits) > 1), 1):
        yield "bound", f"{len(edits)} comparisons with a 32-bit value, number {number}", edits
    strides = STRIDES_OF.get(rung_of(name), STRIDES)
    for offset, stride in strides.items():
        places = [at for found, _, at in reads if found == offset]
        for other, other_stride in strides.items():
            if places and other != offset and len(str(other)) <= len(str(offset)):
                yield "stride", f"{stride} read as {other_stride}", [(at, (b"%d" % other).ljust(len(str(offset)))) for at in places]


def at_other_barriers(data, name, begin, end):
    """Arrivals and waits at another offset, which has room where "::cta" and spaces stood."""
    stage = STAGE_BYTES.get(rung_of(name))
    if stage is None:
        return
    uses = re.compile(rb"(?:cp\.async\.)?mbarrier\.(?:arrive|try_wait)[^;\n]*(\[(%\w+)(?:\+(\d+))?\])[^;\n]*;")
    for number, match in enumerate(uses.finditer(data, begin, end), 1):
        for other, by in ("the next mbarrier", 8), ("the mbarrier before", -8), ("the next stage", stage):
            if by == stage and b"wait" in match.group():
                continue  # emptied or filled later than its own: that waits longer
            offset = int(match.group(3) or 0) + by
            address = b"[%s%+d]" % (match.group(2), offset) if offset else b"[%s]" % match.group(2)
            text = match.group().replace(match.group(1), address).replace(b"::cta", b"").replace(b", ", b",")
            if len(text) <= len(match.group()):
                yield "other", f"use {number} of {other}", [(match.start(), text.ljust(len(match.group())))]


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
    """What caught it: a check's name, "result", "hang", "refused"; "" if nothing did. Of the rung's runs `only` some, or all."""
    command = [options.vgpu, "--device", options.device, "--schedule", schedule, "--threads", "1"]
    command += ["--counters", counters] if counters else []
    try:
        result = subprocess.run(command + ["--", program, rung, *map(str, only)], capture_output=True, text=True, timeout=TIMEOUT_S,
                                check=False)
    except subprocess.TimeoutExpired:
        return "hang"
    if result.returncode == 86:
        return "check: " + result.stderr.split("vgpu: ", 1)[1].split(":", 1)[0].split("\n", 1)[0]
    return {0: "", 1: "result"}.get(result.returncode, f"status {result.returncode}: {result.stderr[-300:]}")


def demangled(names):
    text = subprocess.run(["c++filt"], input="\n".join(names), capture_output=True, text=True, check=True).stdout
    return dict(zip(names, text.splitlines()))


def of_words(name):
    """Whether a kernel is one of those that rungs with words share; its first parameter is no ladder::Problem."""
    return re.match(r"_ZN6ladder(12split_detail|\d+add_split_parts)", name) is not None


def rung_of(name):
    if of_words(name):
        return "split_fp16"  # shared by the rungs whose operands are words, of which one is broken
    match = re.match(r"_ZN6ladder\d+(r\d\d)_", name)
    if match:
        return match.group(1)
    match = re.match(r"_ZN6ladder\d+([a-z_]+)[IE\d]", name)
    return KERNELS_OF.get(match.group(1)) if match else None


def runs_of(options, rung, folder, pool):
    """The program's runs of this rung by the kernels, demangled, that they launch. Exits where one does not pass."""
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


def broken(options, data, names, rung, kernels, launched):
    """(name, kind, what, edits) of the mutants to be made."""
    seen = collections.Counter()
    for name, begin, end in kernels:
        shared = rung in SHARE_WORDS and of_words(name)
        if (rung_of(name) != rung and not shared) or names[name] not in launched:
            continue
        if options.kernel and not any(part in names[name] for part in options.kernel):
            continue
        for kind, what, edits in mutants(data, name, begin, end):
            if options.kind and kind not in options.kind:
                continue
            known = {what, what.split(",")[0], what.split(" value, ")[-1], *(source_line(data, at) for at, _ in edits)}
            if any(rung == of and part in names[name] and same in known for of, part, same in (*EQUIVALENT, *NOT_SEEN)):
                continue
            if seen[kind] % options.every == 0:
                yield name, kind, what, edits
            seen[kind] += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--vgpu", required=True)
    parser.add_argument("--device", default="a100")
    parser.add_argument("--rung", action="append")
    parser.add_argument("--kernel", action="append")
    parser.add_argument("--kind", action="append")
    parser.add_argument("--every", type=int, default=1)
    options = parser.parse_args()
    data = open(options.program, "rb").read()
    kernels = [entry for entry in entries(data) if rung_of(entry[0])]
    names = demangled([name for name, _, _ in kernels])
    caught, survivors, made = collections.defaultdict(collections.Counter), [], 0
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        def outcome(rung, number, edits, only):
            path = os.path.join(folder, f"{rung}-{number}")

            def write(program):
                with open(path, "wb") as file:
                    file.write(program)
                os.chmod(path, 0o755)

            def tried(schedules, runs):  # a wait that does not wait shows where copies come late, or warps
                return next(filter(None, (run(options, path, rung, schedule, only=runs) for schedule in schedules)), "")

            write(apply(data, edits))
            by = tried(SCHEDULES, only)
            if not by:
                write(trapped(data, edits))
                by = "" if run(options, path, rung, only=only) else NOT_REACHED
            if not by:  # what is left in scratch may be another kernel's harm
                write(apply(data, edits))
                by = tried(SEEDS, only) or tried(SCHEDULES, ())
            os.remove(path)
            return by

        for rung in options.rung or sorted({rung_of(name) for name, _, _ in kernels}):
            if by := run(options, options.program, rung):
                sys.exit(f"mutation: {rung} itself does not pass: {by}")
            runs = runs_of(options, rung, folder, pool)
            todo = list(broken(options, data, names, rung, kernels, runs))
            results = pool.map(lambda item: outcome(rung, item[0], item[1][3], runs[names[item[1][0]]]), enumerate(todo))
            for (name, kind, what, edits), by in zip(todo, results):
                made += 1
                caught[rung, kind][by or "SURVIVED"] += 1
                if not by:
                    lines = dict.fromkeys(source_line(data, at) for at, _ in edits)
                    survivors.append(f"{names[name]}: {kind}: {what}: " + " | ".join(lines))
                    print(f"SURVIVED {survivors[-1]}", flush=True)
    for (rung, kind), how in sorted(caught.items()):
        print(f"{rung}  {kind:<8} " + ", ".join(f"{n} {by}" for by, n in sorted(how.items())))
    missed = sum(how[NOT_REACHED] for how in caught.values())
    print(f"mutation: {made} mutants, {made - len(survivors) - missed} caught, {missed} where the problems do not come")
    return 1 if survivors or not made else 0


if __name__ == "__main__":
    sys.exit(main())
