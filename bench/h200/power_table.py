#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two tables of docs/lab/power.md: power.csv, each load at the power cap, and cycles.csv, cycles
beside cuBLAS."""
import csv

import pages


def loads(rows):
    yield "| bf16 | TFLOP/s | of the tensor cores' products per clock | SM clock, MHz | W | J per TFLOP |\n|---|---:|---:|---:|---:|---:|\n"
    for row in rows:
        yield (
            f"| {row['load']} | {float(row['tflops']):.0f} | {float(row['of_peak_a_clock']):.3f} | {row['effective_mhz']} "
            f"| {row['watts']} | {row['joules_a_tflop']} |\n")


RUNG, OTHER = ("ladder_",
               "r17_stream_k_"), "cublas_"  # rows before the library had a name of its own: r17


def cycles(rows):
    yield "| | cycles: products alone | r17 | cuBLAS | cuBLAS / r17 | with all SMs at the tensor cores' rate |\n"
    yield "|---|---:|---:|---:|---:|---:|\n"
    found = {(row["n"], row["kernel"]): row for row in rows}
    for (side, kernel), row in found.items():
        if not kernel.startswith(RUNG):
            continue
        types = kernel.removeprefix(RUNG[0]).removeprefix(RUNG[1])
        ours, theirs = float(row["cycles"]), float(found[side, OTHER + types]["cycles"])
        products = ours * float(row["of_peak_a_clock"])
        figures = [f"{value:,.0f}" for value in (products, ours, theirs)
                   ] + [f"{theirs / part:.3f}" for part in (ours, products)]
        yield f"| {side}, {types.replace('_', ' to ')} | " + " | ".join(figures) + " |\n"


def main():
    for name, made in (("power", loads), ("cycles", cycles)):
        first, *lines = (pages.ROOT / f"results/h200/{name}.csv").read_text().splitlines()
        origin = f"\n{first.lstrip('# ')}.\n"
        pages.put_into("docs/lab/power.md", name, "".join(made(csv.DictReader(lines))) + origin)


if __name__ == "__main__":
    main()
