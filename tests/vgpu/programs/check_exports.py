# SPDX-License-Identifier: Apache-2.0
"""check_exports.py NM LIBRARY NAMES.inc PREFIX NODE: the stand-in exports every name in NAMES.inc
and, besides, only names that begin with PREFIX ("-": none), all under the version node NODE."""
import re
import subprocess
import sys

nm, library, names_file, prefix, node = sys.argv[1:]
with open(names_file) as file:
    wanted = set(re.findall(r"VGPU_STUB\((\w+)\)", file.read()))
lines = subprocess.run([nm, "-D", "--defined-only", "--with-symbol-versions", library],
                       capture_output=True, text=True, check=True).stdout.splitlines()
found = {}
for line in lines:
    kind, name = line.split()[1:]
    if kind != "A":
        symbol, _, version = name.partition("@@")
        found[symbol] = version
problems = [f"missing: {name}" for name in sorted(wanted - set(found))]
problems += [
    f"exported without need: {name}" for name in sorted(set(found) - wanted)
    if not name.startswith(prefix)
]
problems += [
    f"{name} stands under {version or 'no node'}" for name, version in sorted(found.items())
    if version != node
]
if len(wanted) < 40:
    problems.append(f"only {len(wanted)} names in {names_file}")
print("\n".join(problems) or f"{len(found)} names")
sys.exit(1 if problems else 0)
