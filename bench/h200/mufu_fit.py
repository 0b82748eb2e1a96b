#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The coefficients of MUFU's interpolation (vgpu/machine/isa/mufu_tables.inc), from the results of
bench_mufu on an H200. Needs NumPy and SciPy.

  mufu_fit.py FOLDER > vgpu/machine/isa/mufu_tables.inc

FOLDER has what `bench_mufu FOLDER` wrote. An argument is the number of a segment and 17 bits x
within it. In each segment value = c0 + c1 x + c2 square(x) + bias, whose results are cut to 24
bits: each result bounds the value. c1 and c2 are the only numbers of their unit within the bounds,
c0 and the bias are then bounded too. A function for which any result is out of bounds is an error,
so what is printed reproduces every result in FOLDER.
"""
import pathlib
import sys

import numpy as np
from scipy.optimize import linprog

UNITS = 46  # values are integers in units of 2^-46
X = np.arange(1 << 17)
# Name, segments, and the units of c0, c1 and c2 as powers of two.
FUNCTIONS = [("ex2", 64, -25, -38, -38), ("lg2", 64, -26, -38, -37), ("rcp", 128, -26, -40, -39),
             ("rsqrt", 128, -26, -40, -38), ("sqrt", 128, -25, -40, -39),
             ("sin", 64, -25, -37, -37)]


def squares(x):
    """x squared, without the partial products of two bits below 2^19, in units of 2^19."""
    bits = [x >> i & 1 for i in range(17)]
    kept = sum(bits[i] << 2 * i for i in range(10, 17))
    kept += sum(bits[i] * bits[j] << i + j + 1 for i in range(17) for j in range(i) if i + j > 17)
    return kept >> 19


SQUARES = squares(X)


def folded_units(bits, cosine):
    """The unit of 2^-25 turns within a quarter, from radians, as the compiler multiplies them."""
    turns_per_radian = np.array([0x3e22f983], np.uint32).view(np.float32).astype(float)
    product = np.abs(bits.view(np.float32)) * turns_per_radian
    nearest = product.astype(np.float32)
    turns = (nearest.view(np.uint32) - (nearest > product)).view(np.float32).astype(float)
    units = (turns * 2**25).astype(np.int64)
    return np.where((units >> 23 & 1) != cosine, ~units, units) & (1 << 23) - 1


def bounds(path):
    """The arguments of a file, and the least and the largest value that give their results."""
    name, first = path.name.split(".")
    results = np.fromfile(path, np.uint32)
    bits = (np.arange(len(results)) + int(first, 16)).astype(np.uint32)
    mantissa, exponent = bits.astype(np.int64) & 0x7fffff, (bits >> 23 & 255).astype(int) - 127
    odd = exponent & 1
    argument, scale, offset = mantissa, 0 * exponent, 0
    size = results & 0x7fffffff
    given = (size >= 0x800000) & (size < 0x7f800000)
    if name == "ex2":
        fixed = np.floor(np.abs(bits.view(np.float32)) * 2.0**23).astype(np.int64)
        given &= (bits < 1 << 31) | (fixed & 0x7fffff != 0)  # negative whole numbers are exact
        fixed = np.where(bits >> 31 == 1, ~fixed, fixed)
        argument, scale = fixed & 0x7fffff, -(fixed >> 23)
    elif name == "lg2":
        given &= bits != 0x3f800000
        offset = -exponent
    elif name == "rcp":
        argument, scale = mantissa << 1, exponent  # segments are half as long
    elif name == "rsqrt":
        given &= (mantissa | odd) != 0  # powers of 4 have exact results
        argument, scale = mantissa | odd << 23, exponent - odd >> 1
    elif name == "sqrt":
        argument, scale = mantissa | odd << 23, -(exponent - odd >> 1)
    else:
        argument = folded_units(bits, name == "cos")
    argument, results = argument[given], results[given]
    value = results.view(np.float32) * 2.0**scale[given]
    if name in ("sin", "cos"):
        value = np.abs(value)
    size, width = np.abs(value), 2.0**(np.frexp(value)[1] - 24 + UNITS)
    if name == "lg2":
        width = np.maximum(width, 2.0**(UNITS - 36))  # next to 1 it is cut to units of 2^-36
    low = size * 2.0**UNITS
    low = np.where(value < 0, -low - width + 1, low)
    low += (np.zeros(len(bits), int) + offset)[given] * 2.0**UNITS
    return argument, low.astype(np.int64), (low + width - 1).astype(np.int64)


def function_bounds(folder, name, segments):
    low = np.full(segments << 17, -1 << 60)
    high = -low
    for path in sorted(folder.glob(name + ".*")) + (sorted(folder.glob("cos.*"))
                                                    if name == "sin" else []):
        argument, least, largest = bounds(path)
        np.maximum.at(low, argument, least)
        np.minimum.at(high, argument, largest)
    return low.reshape(segments, -1), high.reshape(segments, -1)


def coefficient(low, high, index):
    """The middle of what coefficient `index` may be, by constraints that are added as needed."""
    given = np.flatnonzero(high - low < 1 << 59)
    terms = np.stack([0 * X + 1.0, X / 2**17, SQUARES / 2**15], 1)[given]
    origin = low[given[0]]
    scale = 2.0**(UNITS - 24)
    low, high = (low[given] - origin) / scale, (high[given] - origin) / scale
    active = set(np.linspace(0, len(given) - 1, 60).astype(int))
    ends = []
    for sign in (1, -1):
        while True:
            at = sorted(active)
            answer = linprog(sign * np.eye(3)[index],
                             A_ub=np.vstack([terms[at], -terms[at]]),
                             b_ub=np.concatenate([high[at], -low[at]]),
                             bounds=[(None, None)] * 3,
                             method="highs")
            assert answer.status == 0, "no coefficients"
            value = terms @ answer.x
            beyond = np.maximum(value - high, low - value)
            if beyond.max() < 1e-6:
                break
            active |= set(np.argsort(beyond)[-12:])
        ends.append(answer.x[index] * scale)
    return sum(ends) / 2


def fit(folder, name, segments, unit0, unit1, unit2):
    every_low, every_high = function_bounds(folder, name, segments)
    ranges, rows = [], []
    for low, high in zip(every_low, every_high):
        c1 = round(coefficient(low, high, 1) / 2**17 / 2**(UNITS + unit1))
        c2 = round(coefficient(low, high, 2) / 2**15 / 2**(UNITS + unit2))
        rest = (c1 * X << UNITS + unit1) + (c2 * SQUARES << UNITS + unit2)
        ranges.append([(low - rest).max(), (high - rest).min()])
        rows.append([c1, c2])
    ranges, unit = np.array(ranges), 1 << UNITS + unit0
    assert (ranges[:, 0] <= ranges[:, 1]).all(), name
    start, length = ranges[:, 0] % unit, ranges[:, 1] - ranges[:, 0]
    # The bias is the least in its range; it begins where a segment's does.
    biases = [b for b in start if ((b - start) % unit <= length).all()]
    assert biases, name
    bias = int(biases[0])
    constants = -(-(ranges[:, 0] - bias) // unit)
    print(f"constexpr Interpolation<{segments}> {name}{{")
    print(f"    {bias} * 0x1p-{UNITS}, 0x1p{unit0}, 0x1p{unit1}, 0x1p{unit2}, {{")
    for i in range(0, segments, 3):
        print("    " + " ".join(f"{{{constants[j]}, {rows[j][0]}, {rows[j][1]}}},"
                                for j in range(i, min(i + 3, segments))))
    print("    }};", flush=True)


def main():
    print("// SPDX-License-Identifier: Apache-2.0\n"
          "// Written by bench/h200/mufu_fit.py from the results of an H200 (bench/h200/mufu.cu).")
    for function in FUNCTIONS:
        fit(pathlib.Path(sys.argv[1]), *function)


if __name__ == "__main__":
    main()
