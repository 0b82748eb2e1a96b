#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what sizes.sh measured: rungs are right, a second run is the same, every slowed rung is
found. Exit status 1 if not.

  sizes_check.py FOLDER [PAGE.md]    FOLDER holds sizes-*.json and compare.txt. With a page,
                                     compare.txt is put between its
                                     <!-- sizes --> and <!-- /sizes -->, and nothing is checked.
"""
import collections
import json
import pathlib
import re
import sys

import pages

LEAST_SAME = 0.95
SLOWED_AT = 4096  # the cube of sizes.sh's slowed run


def counts(part):
    """The sums over the lines "SAME 96, GONE 27", with which `ladder bench --compare` ends."""
    sums = collections.Counter()
    for line in part.splitlines():
        if re.fullmatch(r"([A-Z]+ \d+(, )?)+", line):
            sums.update({name: int(count) for name, count in re.findall(r"(\w+) (\d+)", line)})
    return sums


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        pages.put_into(sys.argv[2], "sizes", f"```\n{(folder / 'compare.txt').read_text()}```\n")
        return
    rungs = [
        row for file in sorted(folder.glob("sizes-*.json"))
        for row in json.loads(file.read_text())["rows"] if row["role"] == "rung"
    ]
    wrong = [f"{row['kernel']} at {row['problem']['m']}: {row['verdict']['reason']}"
             for row in rungs if row["verdict"]["outcome"] not in ("passed", "refused")]
    again, slowed = (folder / "compare.txt").read_text().split("## ")[1:]
    judged = sum(count for name, count in counts(again).items() if name not in ("NEW", "GONE"))
    same = counts(again)["SAME"]
    if same < LEAST_SAME * judged:
        wrong.append(f"{same} of {judged} rows are the same: fewer than {LEAST_SAME:.0%}")
    # Unchanged rows are not printed, so a rung that is not reported as SLOWER was missed.
    timed = [row["kernel"] for row in rungs if row["problem"]["m"] == SLOWED_AT and row["timing"]]
    missed = [kernel for kernel in timed if not re.search(rf"^{kernel} .* SLOWER$", slowed, re.M)]
    print(
        f"{same} of {judged} rows are the same in a second run; of {len(timed)} rungs slowed by 5% {len(timed) - len(missed)} "
        "were found")
    # Libraries were not slowed. Their change shows the effect of the clock, which is higher beside
    # slowed kernels.
    misled = re.findall(r"^(cu\w+) .* SLOWER$", slowed, re.M)
    print(f"not slowed and SLOWER all the same: {' '.join(misled) or 'none'}")
    if missed or not timed:
        wrong.append(
            f"a slowdown of 5% was not found in {len(missed)} of {len(timed)} rungs: {' '.join(missed)}"
        )
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
