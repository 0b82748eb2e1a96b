#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What sizes.sh must have shown, or exit status 1: rungs are right, a second run is the same, what was slowed is found.

  sizes_check.py FOLDER [PAGE.md]    which holds sizes.json and compare.txt; with a page the latter is put between its
                                     <!-- sizes --> and <!-- /sizes -->, and nothing is checked
"""
import json
import pathlib
import re
import sys

LEAST_SAME = 0.95
BEGIN, END = "<!-- sizes -->\n", "<!-- /sizes -->\n"


def counts(part):
    """Of "SAME 96, GONE 27", the last line that `ladder bench --compare` prints."""
    return {name: int(count) for name, count in re.findall(r"(\w+) (\d+)(?:,|$)", part.strip().splitlines()[-1])}


def put_into(page, text):
    before, _, rest = page.read_text().partition(BEGIN)
    _, found, after = rest.partition(END)
    if not found:
        sys.exit(f"sizes_check.py: {page} has no pair of markers {BEGIN.strip()} and {END.strip()}")
    page.write_text(f"{before}{BEGIN}```\n{text}```\n{END}{after}")


def main():
    folder = pathlib.Path(sys.argv[1])
    if len(sys.argv) > 2:
        put_into(pathlib.Path(sys.argv[2]), (folder / "compare.txt").read_text())
        return
    wrong = [f"{row['kernel']} at {row['problem']['m']}: {row['verdict']['reason']}"
             for row in json.loads((folder / "sizes.json").read_text())["rows"]
             if row["role"] == "rung" and row["verdict"]["outcome"] not in ("passed", "refused")]
    again, slowed = (counts(part) for part in (folder / "compare.txt").read_text().split("## ")[1:])
    judged = sum(again.get(name, 0) for name in ("SAME", "FASTER", "SLOWER", "UNSURE", "FAILED"))
    missed = sum(slowed.get(name, 0) for name in ("SAME", "FASTER", "UNSURE", "FAILED"))
    same, found = again.get("SAME", 0), slowed.get("SLOWER", 0)
    print(f"{same} of {judged} rows are the same in a second run; of {found + missed} slowed by 5% {found} were found")
    if same < LEAST_SAME * judged:
        wrong.append(f"{same} of {judged} rows are the same: fewer than {LEAST_SAME:.0%}")
    if missed or not found:
        wrong.append(f"a slowdown of 5% was not found in {missed} of {found + missed} rows")
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
