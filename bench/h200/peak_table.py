#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of peak.csv as a table, between <!-- peak --> and <!-- /peak --> of a page.

  peak_table.py [FILE.csv] [PAGE.md]      default: results/h200/peak.csv and
                                     docs/library/large-tiles.md
"""
import csv
import pathlib
import sys

import pages


def table(lines):
    origin = next(line for line in lines if line.startswith("#")).lstrip("# ").strip()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    yield f"{origin}. Errors against FP64, operands uniform in (-1, 1).\n\n"
    yield (
        "| N | operations | cuBLAS, TFLOP/s | Ladder, TFLOP/s | of cuBLAS | largest error, cuBLAS | Ladder "
        "| RMS error, cuBLAS | Ladder |\n")
    yield "|---:|---|---:|---:|---:|---:|---:|---:|---:|\n"
    for reference, ours in zip(rows[::2], rows[1::2], strict=True):
        assert reference["kernel"] == "cublas_ieee" and ours["kernel"] in ("ladder_large_tiles",
                                                                           "r12_simt_peak")
        assert (reference["n"], reference["operations"]) == (ours["n"], ours["operations"])
        rates = [f"{float(row['gflops']) / 1000:.1f}" for row in (reference, ours)]
        errors = [row[name] for name in ("largest_error", "rms_error") for row in (reference, ours)]
        yield " | ".join([
            "| " + ours["n"], ours["operations"], *rates, f"{float(ours['ratio']):.3f}", *errors
        ]) + " |\n"


def main():
    source = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pages.ROOT /
                          "results/h200/peak.csv")
    page = sys.argv[2] if len(sys.argv) > 2 else "docs/library/large-tiles.md"
    pages.put_into(page, "peak", "".join(table(source.read_text().splitlines(True))))


if __name__ == "__main__":
    main()
