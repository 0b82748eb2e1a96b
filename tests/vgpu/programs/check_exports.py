# SPDX-License-Identifier: Apache-2.0
"""check_exports.py NM NODE PREFIX ROWS.inc... -- LIBRARY...: together the libraries, in the order
in which the loader looks, export every name in the files of rows (VGPU_STUB(name),
VGPU_OF_12(name, ...), VGPU_DRIVER(name, ...)) and, besides, only names that begin with PREFIX ("-":
none). The first library's names stand under the version node NODE ("-": none)."""
import re
import subprocess
import sys

nm, node, prefix = sys.argv[1:4]
files, libraries = sys.argv[4:sys.argv.index("--")], sys.argv[sys.argv.index("--") + 1:]
wanted = set()
for path in files:
    with open(path) as file:
        wanted |= set(re.findall(r"^VGPU_(?:STUB|DRIVER|OF_12|MOVED|MISSING_OF_12)\((\w+)", file.read(),
                                 re.M))
found, problems = {}, []
for library in libraries:
    lines = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library],
                           capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        kind, name = line.split()[1:]
        if kind == "A":
            continue
        symbol, _, version = name.partition("@@")
        expected = node if library == libraries[0] and node != "-" else ""
        if version != expected:
            problems.append(f"{symbol} stands under {version or 'no node'} in {library}")
        found.setdefault(symbol, version)
problems += [f"missing: {name}" for name in sorted(wanted - set(found))]
problems += [
    f"exported without need: {name}" for name in sorted(set(found) - wanted)
    if not name.startswith(prefix)
]
if len(wanted) < 40:
    problems.append(f"only {len(wanted)} names in {files}")
print("\n".join(problems) or f"{len(wanted)} names")
sys.exit(1 if problems else 0)
