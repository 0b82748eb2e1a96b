#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds to the corpus: encodings of instructions with the text that NVIDIA's disassembler has for
them.

usage: make_corpus.py CUBIN...

cuobjdump and nvdisasm must be in PATH; nvcc -cubin -arch=sm_90a makes cubins. corpus_000.txt has
opcodes below 0x800, corpus_800.txt the others. corpus_products.txt, which no script adds to, has
the matrix products of sm_90.

One instruction per line: the architectures that it stands for, address, the 128 bits as two words,
text. Of instructions of sm_90 that differ only in guard, predicates, the numbers of registers,
immediates' values or scheduling hints, the first is kept. Another one is kept if one of its bits is
set, or clear, in no kept instruction of its opcode. Of every other architecture the first is kept;
it is one of sm_90's, where its disassembler has the same text for that. What the corpus has already
comes first.
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile

HINTS = 105  # the first bit of the scheduling hints, which are the last ones of an encoding
FILES = [pathlib.Path(__file__).with_name(f"corpus_{first}.txt") for first in ("000", "800")]
HEAD = ("# SPDX-License-Identifier: Apache-2.0\n"
        "# Made by make_corpus.py. Architectures, address, bits 0 to 63, bits 64 to 127, text.\n")


def cleaned(text):
    text = re.sub(r"\(\*.*?\*\)|\s[&?]\S+", "", text)
    return re.sub(r"\s+", " ", text.replace(".reuse", "").rstrip(" ;")).strip()


def disassembled(listing):
    """(architecture, address, bits 0 to 63, bits 64 to 127, text) of each instruction."""
    first = architecture = None
    for line in listing.splitlines():
        if match := re.match(r"\s*code for sm_(\d+)", line):
            architecture = int(match.group(1))
        if match := re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x([0-9a-f]{16}) \*/", line):
            first = match
        elif (match := re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)) and first:
            yield (architecture, int(first.group(1), 16), first.group(3), match.group(1),
                   cleaned(first.group(2)))
            first = None


def run(*command, check=False):
    return subprocess.run(command, capture_output=True, text=True, check=check)


def instructions(path):
    if path not in FILES:
        yield from disassembled(run("cuobjdump", "-sass", path, check=True).stdout)
        return
    with open(path) as corpus:
        for line in corpus:
            if not line.startswith("#"):
                architectures, address, low, high, text = line.rstrip("\n").split(" ", 4)
                for architecture in architectures.split(","):
                    yield int(architecture), int(address, 16), low, high, text


def shape(low, text):
    """What instructions have in common of which few are kept."""
    text = re.sub(r"^@\S+ ", "", text).replace("!", "").replace("URZ", "UR0")
    text = re.sub(r"\b(U?P)T", r"\g<1>0", text).replace("RZ", "R0")
    text = re.sub(r"\b(U?R|U?P|B|SB)\d+", r"\1#", text)
    text = re.sub(r"-?\b0x[0-9a-f]+", "0x#", text)
    return low[-3:], re.sub(r"(?<=[ ,\[])[+-]?[0-9.]+(e[+-]?\d+)?(?=[,\s]|$)", "#", text)


def bits(low, high):
    """The opcode with each bit but the hints."""
    word = int(high + low, 16)
    return {(low[-3:], bit, word >> bit & 1) for bit in range(HINTS)}


def disassembly(architecture, address, words):
    """The texts of encodings at consecutive addresses; None for an unknown one."""
    texts = [None] * len(words)
    places = list(range(len(words)))  # what is left of them
    with tempfile.NamedTemporaryFile() as raw:
        while places:
            raw.seek(0)
            raw.truncate()
            for place in places:
                raw.write(struct.pack("<QQ", *(int(word, 16) for word in words[place])))
            raw.flush()
            result = run("nvdisasm", "-hex", "-ndf", "-base", hex(address), "-b",
                         f"SM{architecture}", raw.name)
            unknown = re.search(r"at address 0x([0-9a-f]+)", result.stderr)
            if not unknown:
                for place, found in zip(places, disassembled(result.stdout), strict=True):
                    texts[place] = found[-1]
                break
            del places[(int(unknown.group(1), 16) - address) // 16]
    return texts


def add_architecture(kept, architecture, shapes):
    """`kept` has rows [architectures, instruction] by shape, `shapes` the architecture's
    instructions."""
    known = [(key, row) for key in shapes for row in kept.get(key, [])]
    texts = disassembly(architecture, 0, [row[1][1:3] for _, row in known])
    done = set()
    for (key, row), text in zip(known, texts):
        address, *words, expected = row[1]
        # What depends on the address is disassembled by itself.
        if key not in done and (text == expected or text
                                and disassembly(architecture, address, [words]) == [expected]):
            row[0].append(architecture)
            done.add(key)
    for key in shapes.keys() - done:
        kept.setdefault(key, []).append([[architecture], shapes[key]])


def main():
    kept, others, known = {}, {}, set()
    for path in FILES + sys.argv[1:]:
        for architecture, *instruction in instructions(path):
            _, low, high, text = instruction
            key = shape(low, text)
            if architecture != 90:
                others.setdefault(architecture, {}).setdefault(key, instruction)
            elif new := ({key} | bits(low, high)) - known:
                known |= new
                kept.setdefault(key, []).append([[90], instruction])
    for architecture, shapes in others.items():
        add_architecture(kept, architecture, shapes)
    texts = [HEAD, HEAD]
    for key in sorted(kept):
        for architectures, (address, low, high, text) in kept[key]:
            texts[int(low[-3:], 16) >= 0x800] += (
                f"{','.join(map(str, sorted(architectures)))} {address:x} {low} {high} {text}\n")
    for path, text in zip(FILES, texts):
        path.write_text(text)


main()
