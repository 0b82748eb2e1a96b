# SPDX-License-Identifier: Apache-2.0
"""Text that is made from rows, put between a page's markers: <!-- NAME --> and <!-- /NAME -->, each
a line of its own."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "bench"))
import whole_file  # noqa: E402  (its folder is known only now)


def put_into(page, name, text):
    page = ROOT / page
    begin, end = f"<!-- {name} -->\n", f"<!-- /{name} -->\n"
    before, _, rest = page.read_text().partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        sys.exit(
            f"{pathlib.Path(sys.argv[0]).name}: {page} has no pair of markers {begin.strip()} and {end.strip()}"
        )
    whole_file.replace(page, f"{before}{begin}{text}{end}{after}")
