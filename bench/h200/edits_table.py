#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A table of docs/ladder/r17.md: edits.csv, by how much cycles change where one choice is undone."""
import csv
import sys

import edits
import pages

AS_IT_IS, OTHER = "r17", "cublas"


def table(rows):
    found = {(row["edit"], row["types"], row["n"]): row for row in rows}
    problems = list(dict.fromkeys((types, side) for _, types, side in found))
    yield "| undone | | " + " | ".join(f"{side}, {types.replace('_', ' to ')}" for types, side in problems) + " |\n"
    yield "|---|---|" + "---:|" * len(problems) + "\n"
    what = {AS_IT_IS: "r17 as it is: cycles", **{edit.name: edit.what for edit in edits.EDITS}, OTHER: "cuBLAS"}
    for name in dict.fromkeys(name for name, _, _ in found):
        if name not in what:
            sys.exit(f"edits_table.py: edits.csv has '{name}', which edits.py does not name: measure again")
        cells = []
        for problem in problems:
            row = found[name, *problem]
            cycles, half = float(row["cycles"]), float(row["half_iqr"])
            share = f"± {100 * half / cycles:.1f}%"
            cells.append(f"{cycles:,.0f} {share}" if name == AS_IT_IS else f"{100 * (float(row['of_r17']) - 1):+.2f}% {share}")
            if row["right"] != "yes":
                cells[-1] += ", wrong"
        yield f"| {'' if name in (AS_IT_IS, OTHER) else f'`{name}`'} | {what[name]} | " + " | ".join(cells) + " |\n"


def main():
    rows = pages.ROOT / (sys.argv[1] if len(sys.argv) > 1 else "results/h200/edits.csv")
    first, *lines = rows.read_text().splitlines()
    pages.put_into("docs/ladder/r17.md", "edits", "".join(table(csv.DictReader(lines))) + f"\n{first.lstrip('# ')}.\n")


if __name__ == "__main__":
    main()
