#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a corpus: encodings of one architecture's instructions with the text that NVIDIA's
disassembler has for them. corpus.txt is sm_90's (corpus_products.txt has its matrix products),
corpus_<architecture>.txt that of another one.

usage: make_corpus.py [--few] [corpus.txt] CUBIN... > new   (cuobjdump in PATH; nvcc -cubin
                                                            -arch=sm_90a makes cubins)

One instruction a line: address, the 128 bits as two words, text. Of instructions that differ only
in the numbers of their registers, in immediates' values or in scheduling hints, a few are kept;
with --few one, and none besides that differs in guard or predicates only. The lines of an earlier
corpus come first.
"""
import re
import subprocess
import sys

FEW = "--few" in sys.argv
KEPT_OF_A_SHAPE = 1 if FEW else 2


def instructions(path):
    if path.endswith(".txt"):
        with open(path) as corpus:
            for line in corpus:
                if not line.startswith("#"):
                    address, low, high, text = line.rstrip("\n").split(" ", 3)
                    yield int(address, 16), low, high, text
    else:
        yield from disassembled(path)


def disassembled(cubin):
    listing = subprocess.run(["cuobjdump", "-sass", cubin], capture_output=True, text=True,
                             check=True).stdout
    first = None
    for line in listing.splitlines():
        match = re.match(r"\s*/\*([0-9a-f]{4,})\*/\s+(.*?)\s*;?\s*/\* 0x([0-9a-f]{16}) \*/", line)
        if match:
            first = match
            continue
        match = re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/", line)
        if match and first:
            text = re.sub(r"\(\*.*?\*\)|\s[&?]\S+", "", first.group(2))
            text = text.replace(".reuse", "").rstrip(" ;")
            yield int(first.group(1),
                      16), first.group(3), match.group(1), re.sub(r"\s+", " ", text).strip()
            first = None


def shape(low, text):
    if FEW:
        text = re.sub(r"^@\S+ ", "", text).replace("!", "").replace("URZ", "UR0")
        text = re.sub(r"\b(U?P)T", r"\g<1>0", text).replace("RZ", "R0")
    text = re.sub(r"\b(U?R|U?P|B|SB)\d+", r"\1#", text)
    text = re.sub(r"-?\b0x[0-9a-f]+", "0x#", text)
    return low[-3:], re.sub(r"(?<=[ ,\[])[+-]?[0-9.]+(e[+-]?\d+)?(?=[,\s]|$)", "#", text)


def main():
    kept = {}
    for cubin in (argument for argument in sys.argv[1:] if argument != "--few"):
        for address, low, high, text in instructions(cubin):
            same = kept.setdefault(shape(low, text), [])
            if len(same) < KEPT_OF_A_SHAPE:
                same.append(f"{address:x} {low} {high} {text}")
    print("# SPDX-License-Identifier: Apache-2.0")
    print("# Made by make_corpus.py. Address, bits 0 to 63, bits 64 to 127, text.")
    for key in sorted(kept):
        for line in kept[key]:
            print(line)


main()
