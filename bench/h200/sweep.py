#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rows, quantiles, losers and maps of random problems (sweep.sh).

  sweep.py rows ROWS.json --seed SEED --l2 warm|cold --into FILE.csv
  sweep.py report FILE.csv... --into FOLDER

`rows` turns what `ladder bench --save` wrote into one line per problem and kernel. `report` writes
FOLDER/sweep.txt and FOLDER/sweep-KERNEL.svg from such files. Its exit status is 1 if a kernel is
wrong or was not measured. A ratio is the rate of a kernel over that of the baseline, from the same
rounds.
"""
import argparse
import csv
import html
import json
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
import whole_file  # noqa: E402  (its folder is known only now)

COLUMNS = ("seed m n k ops kernel outcome us iqr_percent samples baseline baseline_us "
           "baseline_iqr_percent ratio").split()
SLOWER = 0.95    # a ratio below this is slower by over 5%
LONG_US = 20     # of the baseline: above it a launch's overhead is small
LISTED = 200     # losers per kernel in the text; the rows have all
QUANTILES = (0.01, 0.05, 0.5)


def figures(timing):
    """Median in microseconds and interquartile range in per cent of it."""
    ms = timing["ms"]
    return ms["median"] * 1e3, 100 * (ms["p75"] - ms["p25"]) / ms["median"]


def row_of(row, seed):
    problem = row["problem"]
    outcome = row["verdict"]["outcome"]
    line = {
        "seed": seed,
        **{size: problem[size] for size in "mnk"},
        "ops": problem.get("op_a", "N") + problem.get("op_b", "N"),
        "kernel": row["kernel"],
        "outcome": outcome,
    }
    timing, baseline = row["timing"], row["baseline"]
    if outcome == "passed" and (not timing or timing["alarms"] or not baseline):
        line["outcome"] = "not measured"
    if line["outcome"] != "passed":
        return line
    us, iqr = figures(timing)
    baseline_us, baseline_iqr = figures(baseline["timing"])
    return line | {
        "us": f"{us:.3f}", "iqr_percent": f"{iqr:.1f}", "samples": timing["ms"]["n"],
        "baseline": baseline["kernel"], "baseline_us": f"{baseline_us:.3f}",
        "baseline_iqr_percent": f"{baseline_iqr:.1f}", "ratio": f"{baseline_us / us:.4f}"
    }


def write_rows(options):
    document = json.loads(pathlib.Path(options.rows).read_text())
    made = document["environment"]
    lines = [
        f"# {made['date'][:10]}, commit {made['commit']}, CUDA {made['cuda_toolkit']}, "
        f"{made['device']['name']}, driver {made['driver']}, cuBLAS {made['cublas']}; "
        f"random:{options.seed}, {options.l2} cache", ",".join(COLUMNS)
    ]
    for row in document["rows"]:
        line = row_of(row, options.seed)
        lines.append(",".join(str(line.get(column, "")) for column in COLUMNS))
    whole_file.replace(options.into, "\n".join(lines) + "\n")


def read_rows(names):
    rows, headers = [], []
    for name in names:
        lines = pathlib.Path(name).read_text().splitlines()
        headers += [line[2:] for line in lines if line.startswith("#")]
        for row in csv.DictReader(line for line in lines if not line.startswith("#")):
            for key in ("m", "n", "k"):
                row[key] = int(row[key])
            for key in ("us", "baseline_us", "ratio"):
                row[key] = float(row[key]) if row[key] else None
            rows.append(row)
    return rows, headers


def quantile(values, share):
    """Interpolated linearly between the ordered values."""
    ordered = sorted(values)
    at = share * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def geometric_mean(values):
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def alignment(row):
    """The largest of 4, 32 and 128 that divides the rows of A, B and C, or 1."""
    a, b = row["ops"]
    lengths = (row["m" if a == "T" else "k"], row["k" if b == "T" else "n"], row["n"])
    return max(step for step in (1, 4, 32, 128) if all(size % step == 0 for size in lengths))


def long_beside(row):
    short, *_, longest = sorted((row["m"], row["n"], row["k"]))
    return 100 <= short <= 500 and longest >= 2048


CLASSES = (
    ("all", lambda row: True),
    ("all sizes at least 1024", lambda row: min(row["m"], row["n"], row["k"]) >= 1024),
    ("baseline over 20 us", lambda row: row["baseline_us"] > LONG_US),
    ("k under 256, an operand transposed", lambda row: row["k"] < 256 and "T" in row["ops"]),
    ("a size of 100 to 500, another over 2047", long_beside),
    ("m or n is 1", lambda row: min(row["m"], row["n"]) == 1),
    *((f"rows of {step} elements" if step > 1 else "other rows",
       lambda row, step=step: alignment(row) == step) for step in (128, 32, 4, 1)),
    *((ops, lambda row, ops=ops: row["ops"] == ops) for ops in ("NN", "NT", "TN", "TT")),
)
HEAD = f"{'':40}{'n':>6}{'p1':>7}{'p5':>7}{'p50':>7}{'mean':>7}{'worst':>7}{'slow':>6}{'brief':>6}"


def class_line(name, rows):
    ratios = [row["ratio"] for row in rows]
    slower = [row for row in rows if row["ratio"] < SLOWER]
    large = sum(row["baseline_us"] > LONG_US for row in slower)
    numbers = [quantile(ratios, share) for share in QUANTILES]
    numbers += [geometric_mean(ratios), min(ratios)]
    return (f"{name:40}{len(rows):6}" + "".join(f"{number:7.3f}" for number in numbers) +
            f"{large:6}{len(slower) - large:6}")


def shape(row):
    return f"{row['m']}x{row['n']}x{row['k']} {row['ops']}"


def kernel_text(kernel, rows):
    measured = [row for row in rows if row["outcome"] == "passed"]
    lines = [f"## {kernel} over {', '.join(sorted({row['baseline'] for row in measured}))}", HEAD]
    for name, belongs in CLASSES:
        if members := [row for row in measured if belongs(row)]:
            lines.append(class_line(name, members))
    losers = sorted((row for row in measured if row["ratio"] < SLOWER),
                    key=lambda row: row["ratio"])
    if losers:
        lines += ["", f"{'slower by over 5%':30}{'ratio':>7}{'us':>11}{'baseline':>11}  seed"]
    for row in losers[:LISTED]:
        lines.append(f"{shape(row):30}{row['ratio']:7.3f}{row['us']:11.2f}"
                     f"{row['baseline_us']:11.2f}  {row['seed']}")
    if len(losers) > LISTED:
        lines.append(f"and {len(losers) - LISTED} more")
    for row in rows:
        if row["outcome"] != "passed":
            lines.append(f"{row['outcome']}: {shape(row)}, seed {row['seed']}")
    return lines


# The map: m and n on logarithmic axes, a panel per range of k, a mark per problem. From orange
# (slower) over grey to blue (faster); distinguishable with any colour vision.
BINS = ((0.5, "#7f2704"), (0.8, "#d94801"), (0.95, "#fdae6b"), (1.05, "#bdbdbd"), (1.5, "#9ecae1"),
        (2.5, "#4292c6"), (math.inf, "#08306b"))
PANELS = ((0, 32), (32, 128), (128, 512), (512, 2048), (2048, math.inf))
SIDE, GAP, TOP, LEFT, MARK, OCTAVES = 220, 26, 74, 46, 5, 14


def bin_of(ratio):
    return next(at for at, (end, _) in enumerate(BINS) if ratio < end)


def place(size):
    return math.log2(size) / OCTAVES * (SIDE - MARK)


def legend():
    at, begin = LEFT, "0"
    for end, colour in BINS:
        text = f"{begin} to {end:g}" if end < math.inf else f"over {begin}"
        yield f'<rect x="{at}" y="32" width="10" height="10" fill="{colour}"/>'
        yield f'<text x="{at + 14}" y="41">{text}</text>'
        at, begin = at + 100, f"{end:g}"


def panel(rows, left, name):
    bottom = TOP + SIDE
    yield f'<text x="{left}" y="{TOP - 8}">{html.escape(name)}</text>'
    yield f'<rect x="{left}" y="{TOP}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#999"/>'
    for size, label in ((1, "1"), (16, "16"), (256, "256"), (4096, "4096")):
        x, y = left + place(size) + MARK / 2, bottom - place(size) - MARK / 2
        yield f'<text x="{x:.0f}" y="{bottom + 14}" text-anchor="middle">{label}</text>'
        if left == LEFT:
            yield f'<text x="{left - 5}" y="{y + 4:.0f}" text-anchor="end">{label}</text>'
    marks = {}
    for row in rows:
        x, y = left + place(row["n"]), bottom - MARK - place(row["m"])
        marks.setdefault(bin_of(row["ratio"]),
                         []).append(f"M{x:.1f} {y:.1f}h{MARK}v{MARK}h-{MARK}z")
    # The slowest last, so that nothing hides them.
    for at in sorted(marks, reverse=True):
        yield f'<path fill="{BINS[at][1]}" d="{"".join(marks[at])}"/>'


def picture(kernel, rows):
    measured = [row for row in rows if row["outcome"] == "passed"]
    width = LEFT + len(PANELS) * (SIDE + GAP)
    title = f"{kernel}: rate over the baseline's on {len(measured)} random problems, m over n"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {TOP + SIDE + 22}" '
        f'role="img" aria-label="{html.escape(title)}" font-family="sans-serif" font-size="12">',
        '<rect width="100%" height="100%" fill="#fff"/>',
        f'<text x="{LEFT}" y="20" font-size="15">{html.escape(title)}</text>', *legend()
    ]
    for i, (begin, end) in enumerate(PANELS):
        name = f"k from {begin} to {end - 1}" if end < math.inf else f"k from {begin} on"
        inside = [row for row in measured if begin <= row["k"] < end]
        lines += panel(inside, LEFT + i * (SIDE + GAP), name if begin else f"k under {end}")
    return "\n".join([*lines, "</svg>"]) + "\n"


def write_report(options):
    rows, headers = read_rows(options.rows)
    folder = pathlib.Path(options.into)
    lines = [f"# {header}" for header in headers]
    lines += [
        "# ratio: the rate over the baseline's. mean: geometric. slow, brief: slower by over 5% where",
        f"# the baseline takes over {LONG_US} us, and where it does not."
    ]
    for kernel in dict.fromkeys(row["kernel"] for row in rows):
        own = [row for row in rows if row["kernel"] == kernel]
        lines += ["", *kernel_text(kernel, own)]
        whole_file.replace(folder / f"sweep-{kernel}.svg", picture(kernel, own))
    whole_file.replace(folder / "sweep.txt", "\n".join(lines) + "\n")
    return 1 if not rows or any(row["outcome"] != "passed" for row in rows) else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    rows = verbs.add_parser("rows")
    rows.add_argument("rows")
    rows.add_argument("--seed", required=True)
    rows.add_argument("--l2", required=True)
    rows.add_argument("--into", required=True)
    report = verbs.add_parser("report")
    report.add_argument("rows", nargs="+")
    report.add_argument("--into", required=True)
    options = parser.parse_args()
    return write_rows(options) if options.verb == "rows" else write_report(options)


if __name__ == "__main__":
    sys.exit(main())
