# SPDX-License-Identifier: Apache-2.0
"""Drawings of the course as SVG, from the entry `figure` of an exercise. scripts/learn-pages writes them."""
import html
import math

INK, PALE, WHITE, GRID = "#1f2933", "#eef1f4", "#ffffff", "#9aa5b1"
COLOURS = ["#7fb3d5", "#f5b971", "#a3d9a5", "#d7a9e3", "#f1948a", "#d5d8dc", "#f7dc6f", "#85c1b3"]
RED = "#c0392b"


class Picture:
    """Shapes at given places; the size is what they need."""

    def __init__(self):
        self.shapes, self.width, self.height = [], 0.0, 0.0

    def reach(self, x, y):
        self.width, self.height = max(self.width, x), max(self.height, y)

    def box(self, x, y, width, height, fill=WHITE, text="", stroke=GRID, size=11, thick=1.0):
        self.shapes.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{height:.1f}" fill="{fill}" '
            f'stroke="{stroke}" stroke-width="{thick:g}"/>')
        self.reach(x + width, y + height)
        if text:
            self.text(x + width / 2, y + height / 2 + size * 0.36, text, size, "middle")

    def cells(self, x, y, rows, cols, width, height, paint, **style):
        """A box per element; paint(row, col) is its fill, or its fill and text."""
        for row in range(rows):
            for col in range(cols):
                painted = paint(row, col)
                fill, text = (painted, "") if isinstance(painted, str) else painted
                self.box(x + col * width, y + row * height, width, height, fill, text, **style)

    def text(self, x, y, text, size=12, anchor="start", fill=INK, weight="normal"):
        self.shapes.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" '
            f'font-weight="{weight}">{html.escape(str(text))}</text>')
        self.reach(x + (len(str(text)) * size * 0.56 if anchor == "start" else 0), y + 4)

    def line(self, x1, y1, x2, y2, colour=INK, width=1.5, dash=""):
        self.shapes.append(
            f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width:g}"' + (f' stroke-dasharray="{dash}"' if dash else "") + "/>")
        self.reach(max(x1, x2), max(y1, y2))

    def arrow(self, x1, y1, x2, y2, colour=INK):
        self.line(x1, y1, x2, y2, colour)
        angle = math.atan2(y2 - y1, x2 - x1)
        points = [(x2, y2)] + [(x2 - 8 * math.cos(angle + turn), y2 - 8 * math.sin(angle + turn))
                               for turn in (0.4, -0.4)]
        self.shapes.append('<polygon points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in points) +
                           f'" fill="{colour}"/>')

    def svg(self, title):
        width, height = math.ceil(self.width + 16), math.ceil(self.height + 16)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
            f'font-family="sans-serif" role="img" aria-label="{html.escape(title)}">\n'
            f'<rect width="{width}" height="{height}" fill="{WHITE}"/>\n' + "\n".join(self.shapes) +
            "\n</svg>\n")


def threads(p, f):
    side, index = 26, 0
    for block in range(f["blocks"]):
        x0 = 16 + block * (f["threads"] * side / 1.0 + 18)
        p.text(x0, 24, f"block {block}", 12, weight="bold")
        for thread in range(f["threads"]):
            idle = index >= f["count"]
            p.box(x0 + thread * side, 32, side, side, PALE if idle else COLOURS[block % 4],
                  str(thread), size=10)
            p.text(x0 + thread * side + side / 2, 76, index, 10, "middle", RED if idle else INK)
            index += 1
    p.text(
        16, 98,
        f"i = blockIdx.x * blockDim.x + threadIdx.x: {f['count']} elements; threads without one are pale.",
        12)


def grid(p, f):
    across, down = f["grid"]
    bx, by = f["block"]
    cell_w, cell_h = 62, 30
    p.text(70, 22, "x: columns", 12)
    p.arrow(140, 18, 190, 18)
    p.text(14, 60, "y: rows", 12)
    p.arrow(34, 68, 34, 112)
    p.cells(70, 34, down * by, across * bx, cell_w, cell_h, lambda row, col: (
        COLOURS[(row // by * across + col // bx) % len(COLOURS)], f"({row},{col})"))
    p.cells(70, 34, down, across, bx * cell_w, by * cell_h, lambda row, col: "none",
            stroke=INK, thick=2)
    x = 90 + across * bx * cell_w
    for row in range(down):
        p.text(x, 34 + (row * by + 1) * cell_h + 4,
               "blocks " + ", ".join(f"({col},{row})" for col in range(across)), 12)


def matrices(p, rows, cols, depth, side):
    """Corners of A, B and C, with B above C and A beside it."""
    xa, xc, yb = 30, 30 + depth * side + 24, 30
    yc = yb + depth * side + 24
    p.text(xa, yc - 6, "A", 13, weight="bold")
    p.text(xc, yb - 8, "B", 13, weight="bold")
    p.text(xc + cols * side + 6, yc + 12, "C", 13, weight="bold")
    return (xa, yc), (xc, yb), (xc, yc)


def product(p, f):
    side, row, col = 24, f["row"], f["col"]
    a, b, c = matrices(p, f["M"], f["N"], f["K"], side)
    p.cells(*a, f["M"], f["K"], side, side, lambda i, _: COLOURS[0] if i == row else PALE)
    p.cells(*b, f["K"], f["N"], side, side, lambda _, j: COLOURS[1] if j == col else PALE)
    p.cells(*c, f["M"], f["N"], side, side,
            lambda i, j: COLOURS[2] if (i, j) == (row, col) else WHITE)
    y, x = a[1] + (row + 0.5) * side, b[0] + (col + 0.5) * side
    p.arrow(a[0] + 4, y, a[0] + f["K"] * side - 4, y)
    p.arrow(x, b[1] + 4, x, b[1] + f["K"] * side - 4)
    p.text(16, c[1] + f["M"] * side + 24,
           "One thread walks along a row of A and down a column of B, K steps.", 12)


def warp(p, f):
    """Requests of a warp: 32-byte sectors with the bytes that are used."""
    y = 20
    for row in f["rows"]:
        touched = sorted({(lane * row["stride"] + byte) // 32
                          for lane in range(32)
                          for byte in range(row["bytes"])})
        used = {lane * row["stride"] + byte for lane in range(32) for byte in range(row["bytes"])}
        share = len(used) / (32 * len(touched))
        p.text(
            16,
            y,
            f"{row['label']}: {len(touched)} sector{'s' if len(touched) > 1 else ''}, {share:.1%} used",
            12,
            weight="bold")
        width = 36 if len(touched) > 16 else 44
        for n, sector in enumerate(touched):
            x, top = 16 + n % 16 * (width + 3), y + 8 + n // 16 * 20
            p.box(x, top, width, 15, WHITE)
            for word in range(8):
                if sector * 32 + word * 4 in used:
                    lane = (sector * 32 + word * 4) // row["stride"] if row["stride"] else 0
                    p.box(x + word * width / 8, top, width / 8, 15, COLOURS[lane // 8 % 4],
                          stroke="none")
            p.box(x, top, width, 15, "none", stroke=INK)
        y += 44 + (len(touched) - 1) // 16 * 20
    p.text(16, y, "A frame is a sector of 32 bytes; colours are lanes 0-7, 8-15, 16-23 and 24-31.",
           11)


def roofline(p, f):
    x0, y0, width, height, low, high = 60, 250, 460, 220, 0.1, 200

    def place(intensity, rate):
        return (x0 + width * math.log(intensity / low) / math.log(high / low),
                y0 - height * math.log(rate / 0.3) / math.log(100 / 0.3))

    ridge = f["peak"] / f["bandwidth"]
    p.line(x0, y0, x0 + width, y0)
    p.line(x0, y0, x0, y0 - height)
    p.line(*place(low, low * f["bandwidth"]), *place(ridge, f["peak"]), COLOURS[0], 3)
    p.line(*place(ridge, f["peak"]), *place(high, f["peak"]), COLOURS[4], 3)
    p.text(x0 + width - 120, place(1, f["peak"])[1] - 8, f"{f['peak']} TFLOP/s", 12)
    p.text(x0 + 6, y0 - 60, f"{f['bandwidth']} TB/s", 12)
    for n, (name, intensity) in enumerate(f["points"]):
        x, y = place(intensity, min(f["peak"], intensity * f["bandwidth"]))
        p.line(x, y, x, y0, GRID, 1, "3 3")
        p.box(x - 4, y - 4, 8, 8, COLOURS[n % 5], stroke=INK)
        p.text(x0 + width + 16, y0 - height + 20 + n * 18, f"{intensity:g} FLOP/byte: {name}", 12)
        p.text(x - 8, y0 + 14 + n % 2 * 12, f"{intensity:g}", 10)
    p.text(x0 + width / 2, y0 + 44, "FLOP per byte (logarithmic)", 12, "middle")


def tiles(p, f):
    side, row, col = 34, f["row"], f["col"]
    a, b, c = matrices(p, f["M"], f["N"], f["K"], side)

    def numbered(k, used):
        return (COLOURS[k % 8], f"{k}") if used else PALE

    p.cells(*a, f["M"], f["K"], side, side, lambda i, k: numbered(k, i == row))
    p.cells(*b, f["K"], f["N"], side, side, lambda k, j: numbered(k, j == col))
    p.cells(*c, f["M"], f["N"], side, side, lambda i, j: INK if (i, j) == (row, col) else WHITE)
    p.text(16, c[1] + f["M"] * side + 24,
           "Each box is a tile. A tile of C is the sum of products of tiles of one number.", 12)


def edges(p, f):
    scale, tile = 3, f["tile"]
    down, across, side = math.ceil(f["M"] / tile), math.ceil(f["N"] / tile), tile * scale
    p.cells(20, 20, down, across, side, side, lambda row, col: PALE)
    p.box(20, 20, f["N"] * scale, f["M"] * scale, COLOURS[0], f"{f['M']} x {f['N']}", size=14)
    p.cells(20, 20, down, across, side, side, lambda row, col: "none", stroke=INK)
    idle = 1 - f["M"] * f["N"] / (down * across * tile * tile)
    p.text(20, 40 + down * tile * scale,
           f"Tiles of {tile} x {tile}: {idle:.0%} of the threads have no element (pale).", 12)


def timeline(p, f):
    unit, top = 62, 40
    for n, (name, parts) in enumerate(f["rows"]):
        y = top + n * 46
        p.text(16, y + 20, name, 12, weight="bold")
        for begin, length, text, colour in parts:
            p.box(96 + begin * unit, y, length * unit, 30, COLOURS[colour], text, size=11)
    bottom = top + len(f["rows"]) * 46
    for at, name in f.get("bars", []):
        p.line(96 + at * unit, top - 8, 96 + at * unit, bottom - 8, INK, 2.5)
        p.text(96 + at * unit, top - 14, name, 11, "middle")
    if "clash" in f:
        begin, end = f["clash"]
        p.box(96 + begin * unit, top - 6, (end - begin) * unit, bottom - top, "none", stroke=RED,
              thick=2.5)
        p.text(96 + begin * unit, bottom + 10, "race", 13, fill=RED, weight="bold")
    p.arrow(96, bottom + 6, 170, bottom + 6)
    p.text(176, bottom + 10, "time", 11)


def thread_tile(p, f):
    side = max(5, min(20, 480 // max(f["bm"], f["bn"])))
    p.text(20, 18, "a thread's results in the tile", 12, weight="bold")
    p.box(20, 26, f["bn"] * side, f["bm"] * side, PALE, stroke=INK, thick=2)
    row, col = f["thread"]
    for down, right in f.get("copies", [[0, 0]]):
        p.box(20 + (col * f["tn"] + right) * side, 26 + (row * f["tm"] + down) * side,
              f["tn"] * side, f["tm"] * side, COLOURS[2], stroke=INK)
    for x in range(1, f["bn"] // f["tn"]):
        p.line(20 + x * f["tn"] * side, 26, 20 + x * f["tn"] * side, 26 + f["bm"] * side, GRID, 0.6)
    for y in range(1, f["bm"] // f["tm"]):
        p.line(20, 26 + y * f["tm"] * side, 20 + f["bn"] * side, 26 + y * f["tm"] * side, GRID, 0.6)
    x = 40 + f["bn"] * side
    numbers = f["tm"] + f["tn"] if "copies" not in f else 2 * (f["tm"] + f["tn"])
    results = f["tm"] * f["tn"] * len(f.get("copies", [0]))
    p.text(x, 46, f"{numbers} numbers from shared memory", 12)
    p.text(x, 64, f"for {results} multiply-adds per step of k", 12)


def align(p, f):
    side = 40
    for n in range(f["count"] + f["offset"] + 3):
        kind = n < f["offset"] or n >= f["offset"] + f["count"]
        head = f["offset"] <= n < 4
        last = (f["offset"] + f["count"]) // 4 * 4
        colour = WHITE if kind else COLOURS[4] if head or n >= last else COLOURS[n // 4 % 3]
        p.box(16 + n * side, 30, side, side, colour, "" if kind else f"x[{n - f['offset']}]",
              size=10)
        p.text(16 + n * side, 86, 4 * n, 9)
        if n % 4 == 0:
            p.line(16 + n * side, 22, 16 + n * side, 76, INK, 2)
    p.text(
        16, 110,
        "Bytes; thick lines are multiples of 16. Head and tail (red) go one by one, the rest as float4.",
        12)


def banks(p, f):
    side = 18
    for n, (label, stride, first) in enumerate(f["rows"]):
        y = 24 + n * 62
        counts = [0] * 32
        for lane in range(32):
            counts[(first + lane * stride) % 32] += 1
        p.text(16, y, f"{label}: {max(counts)} wavefront{'s' if max(counts) > 1 else ''}", 12,
               weight="bold")
        for bank, count in enumerate(counts):
            p.box(16 + bank * side, y + 8, side, side,
                  COLOURS[2] if count == 1 else RED if count else PALE, str(count) if count else "",
                  size=10)
    p.text(16, 24 + len(f["rows"]) * 62,
           "Words that each of the 32 banks must serve for one load of a warp.", 12)


def swizzle(p, f):
    side = 36
    for part, (title, permuted) in enumerate((("as it is", False), ("column ^ row", True))):
        x0 = 20 + part * (f["side"] * side + 50)
        p.text(x0, 20, title, 12, weight="bold")

        def element(row, bank, permuted=permuted):
            col = bank ^ row if permuted else bank
            return COLOURS[4] if col == 0 else PALE, f"{row},{col}"

        p.cells(x0, 30, f["side"], f["side"], side, side, element, size=10)
    p.text(20, 54 + f["side"] * side,
           "A column of boxes is a bank. The red elements are one column of the matrix.", 12)


def limits(p, f):
    for n, (name, blocks) in enumerate(f["rows"]):
        y, warps = 20 + n * 34, blocks * f["per_block"]
        p.text(16, y + 16, name, 12)
        p.box(130, y, 6 * min(64, warps), 22, COLOURS[4] if warps < f["need"] else COLOURS[2])
        p.text(138 + 6 * min(64, warps), y + 16, f"{warps} warps", 12)
    p.line(130 + 6 * f["need"], 10, 130 + 6 * f["need"], 20 + len(f["rows"]) * 34, INK, 2, "4 3")
    p.text(16, 40 + len(f["rows"]) * 34,
           f"The shortest bar is the number of warps that run; {f['need']} fill the SM.", 12)


def waves(p, f):
    for n, (name, blocks) in enumerate(f["rows"]):
        y, count = 24 + n * 40, math.ceil(blocks / f["sms"])
        share = blocks / (count * f["sms"])
        p.text(16, y + 16, f"{name}: {blocks} blocks", 12)
        for wave in range(count):
            inside = min(1.0, (blocks - wave * f["sms"]) / f["sms"])
            p.box(190 + wave * 210, y, 200, 22, PALE)
            p.box(190 + wave * 210, y, 200 * inside, 22, COLOURS[2] if inside == 1 else COLOURS[1])
        p.text(200 + count * 210, y + 16, f"{share:.0%}", 12)
    p.text(16, 40 + len(f["rows"]) * 40,
           f"A wave is {f['sms']} blocks, one per SM. What is pale has no work.", 12)


def tree(p, f):
    lanes, side = f["lanes"], 44
    step, values, y = lanes // 2, lanes, 20
    level = 0
    while True:
        p.text(16, y + 20, f"step {level}" if level else "lanes", 12)
        for lane in range(values):
            p.box(80 + lane * side, y, side - 8, 28, COLOURS[level % 8],
                  f"{lanes // values}" if level else f"v{lane}", size=11)
        if values == 1:
            break
        for lane in range(step):
            p.arrow(80 + (lane + step) * side + 16, y + 28, 80 + lane * side + 26, y + 62, GRID)
        values, step, y, level = step, step // 2, y + 64, level + 1
    p.text(
        16, y + 52,
        "Each step adds the lane that lies 4, 2, 1 places above. Numbers: how many are in the sum.",
        12)


def fragment(p, _):
    """m16n8k16: which register of which lane holds which element."""
    w, h, beside = 40, 20, 20 + 16 * 40 + 30

    def matrix(x, y, rows, cols, name, gap, where):
        def element(row, col):
            lane, register = where(row, col)
            return COLOURS[lane // 4], f"{lane}:{register}"

        p.text(x, y - gap, name, 13, weight="bold")
        p.cells(x, y, rows, cols, w, h, element, size=9)

    matrix(20, 230, 16, 16, "A", 6,
           lambda r, c: (r % 8 * 4 + c % 8 // 2, f"a{r // 8 + c // 8 * 2}"))
    matrix(beside, 20, 16, 8, "B", 4, lambda r, c: (c * 4 + r % 8 // 2, f"b{r // 8}"))
    matrix(beside, 370, 16, 8, "C", 6,
           lambda r, c: (r % 8 * 4 + c // 2, f"d{r // 8 * 2 + c % 2}"))
    p.text(20, 580, "lane:register of mma.m16n8k16. Colours: g = lane / 4.", 12)


def cores(p, _):
    w, h = 92, 26
    for half in range(2):
        p.text(100 + half * w, 18, f"k {8 * half}-{8 * half + 7}", 12)
        p.cells(84 + half * w, 26, 8, 1, w, h,
                lambda group, _, half=half: (COLOURS[group], f"piece {half * 8 + group}"), size=10)
    for group in range(8):
        p.text(14, 26 + group * h + 17, f"rows {8 * group}-{8 * group + 7}", 11)
    p.text(320, 40, "shared memory, in pieces of 128 bytes:", 12)
    for piece in range(16):
        p.box(320 + piece % 8 * 40, 54 + piece // 8 * 40, 40, 30, COLOURS[piece % 8], str(piece),
              size=10)
    p.text(320, 150, "128 bytes from one group of rows to the next,", 12)
    p.text(320, 168, "1,024 bytes from k 0-7 to k 8-15.", 12)


def terms(p, _):
    side = 17
    for n, (name, begin, length, colour) in enumerate(
        (("FP32", 0, 24, 0), ("high: tf32", 0, 11, 2), ("low: tf32", 11, 11, 1))):
        y = 20 + n * 44
        p.text(16, y + 18, name, 12)
        for bit in range(24):
            inside = begin <= bit < begin + length
            p.box(120 + bit * side, y, side, 26, COLOURS[colour] if inside else WHITE, stroke=GRID)
    p.text(120, 158, "24 significant bits of FP32, and the 11 + 11 that two tf32 terms keep.", 12)
    for n, (name, error) in enumerate(
        (("high high", 11), ("+ both cross terms", 22), ("FP32", 24))):
        p.text(16, 196 + n * 26, name, 12)
        p.box(150, 182 + n * 26, 13 * error, 18, COLOURS[n], f"2^-{error}", size=11)


KINDS = {
    f.__name__: f
    for f in (threads, grid, product, warp, roofline, tiles, edges, timeline, thread_tile, align,
              banks, swizzle, limits, waves, tree, fragment, cores, terms)
}


def draw(figure, title):
    picture = Picture()
    KINDS[figure["kind"]](picture, figure)
    return picture.svg(title)
