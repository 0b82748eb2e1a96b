# SPDX-License-Identifier: Apache-2.0
"""bench/h200/sweep.py: rows from a document of `ladder bench`, quantiles, losers and the map."""
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = pathlib.Path(__file__).resolve().parents[2] / "bench" / "h200" / "sweep.py"
sys.path.insert(0, str(PROGRAM.parent))
import sweep  # noqa: E402  (its folder is known only now)

MADE = {"date": "2026-01-02T03:04:05Z", "commit": "abc", "cuda_toolkit": "13.0", "driver": "580",
        "cublas": "13.1", "device": {"name": "NVIDIA H200"}}


def timing(us):
    ms = us / 1e3
    return {"ms": {"n": 9, "median": ms, "p25": 0.99 * ms, "p75": 1.01 * ms}, "alarms": []}


def row(m, n, k, us, baseline_us, outcome="passed", **ops):
    return {
        "kernel": "ladder_ieee", "problem": {"m": m, "n": n, "k": k, **ops},
        "verdict": {"outcome": outcome}, "timing": timing(us) if us else None,
        "baseline": {"kernel": "cublas_ieee", "timing": timing(baseline_us)} if us else None
    }


class Sweep(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_on(self, rows):
        document = self.folder / "rows.json"
        document.write_text(json.dumps({"environment": MADE, "rows": rows}))
        subprocess.run([PROGRAM, "rows", document, "--seed", "7", "--l2", "warm", "--into",
                        self.folder / "sweep-7.csv"], check=True)
        result = subprocess.run([PROGRAM, "report", self.folder / "sweep-7.csv", "--into",
                                 self.folder], check=False)
        return result.returncode, (self.folder / "sweep.txt").read_text()

    def test_quantiles_and_losers(self):
        rows = [row(1024, 1024, 1024, 100, ratio) for ratio in range(100, 201)]
        rows += [row(12, 13, 14, 10, 4, op_b="T"), row(2000, 2000, 30, 50, 46, op_a="T"),
                 row(64, 64, 64, 10, 9.6)]
        status, text = self.run_on(rows)
        self.assertEqual(status, 0)
        self.assertIn("# 2026-01-02, commit abc, CUDA 13.0, NVIDIA H200, driver 580", text)
        self.assertIn("random:7, warm cache", text)
        lines = {line[:40].strip(): line[40:].split() for line in text.splitlines()}
        ratios = [*(ratio / 100 for ratio in range(100, 201)), 0.4, 0.92, 0.96]
        mean = math.prod(ratios)**(1 / 104)
        # p1 of 104 is 0.03 of the way from the second to the third, p5 0.15 from 6th to 7th.
        self.assertEqual(lines["all"], ["104", "0.921", "1.022", "1.485", f"{mean:.3f}", "0.400",
                                        "1", "1"])
        self.assertEqual(lines["all sizes at least 1024"],
                         ["101", "1.010", "1.050", "1.500",
                          f"{math.prod(ratios[:101])**(1 / 101):.3f}", "1.000", "0", "0"])
        self.assertEqual(lines["k under 256, an operand transposed"][0], "2")
        self.assertEqual(lines["NT"][:1], ["1"])
        after = text.split("slower by over 5% ")[-1]
        self.assertEqual([line.split()[:3] for line in after.splitlines()[1:]],
                         [["12x13x14", "NT", "0.400"], ["2000x2000x30", "TN", "0.920"]])

    def test_what_was_not_measured_fails(self):
        late = row(5, 6, 7, 10, 20)
        late["timing"]["alarms"] = ["faster than possible"]
        for bad, says in ((row(1, 2, 3, 0, 0, "wrong_value"), "wrong_value: 1x2x3 NN, seed 7"),
                          (row(1, 2, 3, 0, 0), "not measured: 1x2x3 NN"),
                          (late, "not measured: 5x6x7 NN")):
            status, text = self.run_on([row(8, 8, 8, 1, 2), bad])
            self.assertEqual(status, 1)
            self.assertIn(says, text)

    def test_map_has_a_mark_per_problem_in_its_panel_and_color(self):
        self.run_on([row(16384, 1, 8, 1, 3), row(1, 16384, 16384, 2, 1), row(9, 9, 100, 1, 1)])
        root = xml.etree.ElementTree.parse(self.folder / "sweep-ladder_ieee.svg").getroot()
        paths = [node for node in root.iter() if node.tag.endswith("path")]
        marks = [(node.get("fill"), node.get("d")) for node in paths]
        self.assertEqual([fill for fill, _ in marks],
                         [sweep.BINS[-1][1], sweep.BINS[3][1], sweep.BINS[1][1]])
        left, top = float(sweep.LEFT), float(sweep.TOP)
        self.assertEqual(marks[0][1], f"M{left} {top}h5v5h-5z")  # n = 1 left, m = 16384 on top
        wide = left + 4 * (sweep.SIDE + sweep.GAP) + sweep.SIDE - 5
        self.assertEqual(marks[2][1], f"M{wide} {top + sweep.SIDE - 5}h5v5h-5z")

    def test_alignment_is_that_of_all_rows_in_memory(self):
        def at(m, n, k, ops):
            return sweep.alignment({"m": m, "n": n, "k": k, "ops": ops})

        self.assertEqual(at(3, 128, 128, "NN"), 128)
        self.assertEqual(at(3, 128, 128, "TN"), 1)
        self.assertEqual(at(32, 128, 5, "TN"), 32)
        self.assertEqual(at(3, 4, 100, "NT"), 4)


if __name__ == "__main__":
    unittest.main()
