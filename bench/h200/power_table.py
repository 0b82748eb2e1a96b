#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rows of power.csv as two tables of docs/ladder/r17.md: each load at the power cap, and cycles beside cuBLAS."""
import csv

import pages


def loads(rows):
    yield "| bf16 | TFLOP/s | of the tensor cores' products a clock | SM clock, MHz | W | J a TFLOP |\n|---|---:|---:|---:|---:|---:|\n"
    for row in rows:
        yield (f"| {row['load']} | {float(row['tflops']):.0f} | {float(row['of_peak_a_clock']):.3f} | {row['effective_mhz']} "
               f"| {row['watts']} | {row['joules_a_tflop']} |\n")


def cycles(rows):
    yield "| | cycles: products alone | r17 | cuBLAS | r17 ahead | with all SMs at the tensor cores' rate |\n"
    yield "|---|---:|---:|---:|---:|---:|\n"
    sides = {}
    for row in rows:
        sides.setdefault(row["n"], {})[row["kernel"]] = row
    for side, kernels in sides.items():
        ours, theirs = (float(kernels[name]["cycles"]) for name in ("r17_stream_k_bf16", "cublas_bf16"))
        products = ours * float(kernels["r17_stream_k_bf16"]["of_peak_a_clock"])
        figures = [f"{value:,.0f}" for value in (products, ours, theirs)] + [f"{theirs / part:.3f}" for part in (ours, products)]
        yield f"| {side} | " + " | ".join(figures) + " |\n"


def main():
    lines = (pages.ROOT / "results/h200/power.csv").read_text().splitlines()
    origin = f"\n{lines[0].lstrip('# ')}.\n"
    second = next(at for at, line in enumerate(lines) if line.startswith("n,kernel,"))
    pages.put_into("docs/ladder/r17.md", "power", "".join(loads(csv.DictReader(lines[1:second]))) + origin)
    pages.put_into("docs/ladder/r17.md", "cycles", "".join(cycles(csv.DictReader(lines[second:]))) + origin)


if __name__ == "__main__":
    main()
