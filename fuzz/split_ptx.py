#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seeds for fuzzing from PTX files: split_ptx.py FOLDER FILE.ptx... Each seed is a file's head and
as many of its kernels as fit, because mutation is more effective on small inputs. Comments, line
information and kernels that call functions are left out; a file with no other kernels gives no
seed."""
import os
import re
import sys

MOST_BYTES, LARGEST_KERNEL = 12000, 5000

folder = sys.argv[1]
os.makedirs(folder, exist_ok=True)
for path in sys.argv[2:]:
    text = "\n".join(line for line in open(path).read().splitlines()
                     if line.strip() and not line.startswith(("//", "\t.loc")))
    head = re.search(r"\.version.*\n\.target.*\n\.address_size.*\n", text).group(0)
    kernels = re.findall(r"^\.visible \.entry .*?^}", text, re.DOTALL | re.MULTILINE)
    variables = re.findall(r"^\.visible \.(?:global|const) .*;$", text, re.MULTILINE)
    seed = head + "".join(variable + "\n" for variable in variables if len(variable) < 500)
    for kernel in kernels:
        if len(kernel
               ) < LARGEST_KERNEL and "call" not in kernel and len(seed) + len(kernel) < MOST_BYTES:
            seed += kernel + "\n"
    if ".entry" in seed:
        name = os.path.splitext(os.path.basename(path))[0]
        open(os.path.join(folder, name), "w").write(seed)
