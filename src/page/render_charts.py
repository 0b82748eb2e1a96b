# SPDX-License-Identifier: Apache-2.0
"""Draws Vega-Lite specifications as SVG: reads a JSON array of them, writes a JSON array of
pictures.

Ladder runs it as `python -I -c TEXT SPECS.json PICTURES.json`. Exit status 3: vl-convert is not
installed.
"""
import json
import re
import sys

try:
    import vl_convert
except ImportError:
    sys.exit(3)


def cut(svg):
    """Coordinates to a hundredth of a pixel; words and numbers of the data stay."""
    return re.sub(r' (?:d|transform|x|y|x1|x2|y1|y2|width|height)="[^"]*"',
                  lambda attribute: re.sub(r"(\.\d\d)\d+", r"\1", attribute.group()), svg)


def main(specs, pictures):
    with open(specs, encoding="utf-8") as file:
        wanted = json.load(file)
    # Data is in the specifications: nothing is fetched.
    drawn = [cut(vl_convert.vegalite_to_svg(spec, allowed_base_urls=[])) for spec in wanted]
    with open(pictures, "w", encoding="utf-8") as file:
        json.dump(drawn, file)


if len(sys.argv) == 3:
    try:
        main(*sys.argv[1:])
    # whatever a user's own specification makes of it is told in one line
    except Exception as error:
        sys.exit((str(error).strip() or type(error).__name__).splitlines()[0])
