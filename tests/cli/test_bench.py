# SPDX-License-Identifier: Apache-2.0
"""ladder bench from outside, on the host: rows, shapes and suites, comparisons and their exit
status, bad input."""
import pathlib
import signal
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import LADDER, Folder, ladder

QUICK = ["--device", "cpu", "--budget", "0.02"]


def bench(*arguments):
    return ladder("bench", *arguments)


class BadInput(Folder):
    def rejected(self, *arguments, says, **keywords):
        super().rejected("bench", *arguments, says=says, **keywords)

    def test_names_the_argument_and_the_rule(self):
        self.rejected("r99", says=["--kernel", "r99"])
        self.rejected("--suite", "round", says=["--suite", "'round'", "square", "transformer"])
        self.rejected("--suite", "round", says=["random:SEED:N"])
        for bad in ("random", "random:1", "random:1:0", "random:1:5000", "random:-1:4"):
            self.rejected("--suite", bad, says=["--suite", f"'{bad}'", "from 1 to 4096"])
        self.rejected("--warm-up", "0", says=["--warm-up"])
        self.rejected("--shape", "1x2", says=["--shape", "'1x2'", "MxNxK"])
        self.rejected("--shape", "8..1*2", says=["--shape", "ends before"])
        self.rejected("--l2", "hot", says=["--l2", "'hot'", "both"])
        self.rejected("--budget", "0", says=["--budget"])
        self.rejected("--noise=-1", says=["--noise"])
        self.rejected("--max-launch", "0", says=["--max-launch"])
        self.rejected("--tolerance=-1", says=["--tolerance"])
        self.rejected("--handicap=-5", says=["--handicap"])
        self.rejected("--handicap", "5", "--device", "cpu", says=["--handicap", "GPU"])
        self.rejected("--baseline", "r99", says=["--baseline", "r99"])
        self.rejected("--baseline", "r03", says=["--baseline", "name one"])
        self.rejected("--battery", "slow", "--device", "cpu", says=["--battery", "slow"])
        self.rejected("--save", "/no/such/folder/x.json", says=["--save", "/no/such/folder"])
        self.rejected("--compare", self.path("none.json"), says=["--compare", "none.json"])
        self.rejected("--rows", self.path("none.json"), says=["--rows", "--compare"])
        self.rejected("--device", "virtual:h200", says=["--device", "clock"])
        self.rejected("--device", "gpu", says=["--device", "'gpu'"])
        self.rejected("r01", "--device", "cpu", says=["--kernel", "GPU"])
        self.rejected("--device", "cpu", "--shape", "2000000x2000000x4",
                      says=["--shape", "memory", "GiB"])

    def test_help_lists_the_suites(self):
        result = bench("--help")
        self.assertEqual(result.returncode, 0)
        for word in ("Examples:", "square", "odd", "tall", "wide", "thin", "deep", "small",
                     "transformer", "batches", "mixed", "random:SEED:N"):
            self.assertIn(word, result.stdout)
        self.assertNotIn("--resume", result.stdout)


class OnTheHost(Folder):
    def test_saves_a_row_a_kernel_and_shape(self):
        result = bench("h01", *QUICK, "--shape", "16..64*2,40x48x36", "--save",
                       self.path("rows.json"))
        self.assertEqual(result.returncode, 0, result)
        rows = self.read("rows.json")["rows"]
        self.assertEqual([(r["problem"]["m"], r["problem"]["n"], r["problem"]["k"]) for r in rows],
                         [(16, 16, 16), (32, 32, 32), (64, 64, 64), (40, 48, 36)])
        for row in rows:
            self.assertEqual(row["verdict"]["outcome"], "passed")
            self.assertEqual(row["timing"]["alarms"], [])
            self.assertGreaterEqual(row["timing"]["ms"]["n"], 5)
            self.assertGreater(row["derived"]["tflops"], 0)
            self.assertIn(f"{row['problem']['m']}x{row['problem']['n']}x{row['problem']['k']}",
                          result.stdout)
        report = subprocess.run([LADDER, "report", self.path("rows.json")], capture_output=True,
                                text=True, check=False)
        self.assertIn("| h01_naive |", report.stdout)

    def test_leaves_out_what_takes_too_long_and_says_so(self):
        result = bench("h01", *QUICK, "--shape", "32,256", "--max-launch", "1e-3", "--save",
                       self.path("rows.json"))
        rows = self.read("rows.json")["rows"]
        self.assertEqual(len(rows), 2, result)
        self.assertIsNone(rows[1]["timing"])
        self.assertIn("over the 0.00100 s of --max-launch", rows[1]["note"])
        self.assertIn(rows[1]["note"], result.stdout)

    def test_draws_a_suite(self):
        result = bench("h03", *QUICK, "--warm-up", "0.01", "--suite", "random:7:3", "--max-launch",
                       "0.05", "--save", self.path("rows.json"))
        self.assertEqual(result.returncode, 0, result)
        shapes = [row["problem"] for row in self.read("rows.json")["rows"]]
        self.assertEqual(len(shapes), 3)
        self.assertIn("24x4x188 (op NT)", result.stdout)
        products = [shape["m"] * shape["n"] * shape["k"] for shape in shapes]
        self.assertEqual(products, sorted(products))

    def test_goes_on_from_the_rows_of_a_process_that_ended(self):
        whole = bench("h01", *QUICK, "--shape", "16,32,64", "--save", self.path("rows.json"))
        self.assertEqual(whole.returncode, 0, whole)
        document = self.read("rows.json")
        document["rows"] = [row for row in document["rows"] if row["problem"]["m"] != 32]
        timing = document["rows"][0]["timing"]
        path = self.write("rows.json", document)
        rest = bench("h01", *QUICK, "--shape", "16,32,64", "--save", path, "--resume", path)
        self.assertEqual(rest.returncode, 0, rest)
        self.assertIn("32x32x32", rest.stdout)
        self.assertNotIn("64x64x64", rest.stdout)
        rows = self.read("rows.json")["rows"]
        self.assertEqual(sorted(row["problem"]["m"] for row in rows), [16, 32, 64])
        self.assertEqual(rows[0]["timing"], timing)

    def test_interrupted_keeps_the_rows_so_far(self):
        process = subprocess.Popen([
            LADDER, "bench", "h01", *QUICK, "--shape", "40..400+1", "--save",
            self.path("rows.json")
        ], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = []
        while not any("passed" in line for line in lines):
            lines.append(process.stdout.readline())
            self.assertNotEqual(lines[-1], "")
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        rows = self.read("rows.json")["rows"]
        self.assertGreaterEqual(len(rows), 1)
        self.assertLess(len(rows), 361)
        self.assertIn(f"interrupted: {len(rows)} row", output)


def at(median, step):
    """The order statistics of 11 samples, `step` apart."""
    keys = {"min": -5, "p5": -4.5, "p25": -2.5, "median": 0, "p75": 2.5, "p95": 4.5, "max": 5}
    return {"n": 11, **{key: median + steps * step for key, steps in keys.items()}, "mad": 3 * step}


class Compare(Folder):
    def setUp(self):
        super().setUp()
        bench("h01", *QUICK, "--shape", "24,48", "--save", self.path("old.json"))
        # Times that no machine disturbs: samples 0.1% apart.
        self.document = self.read("old.json")
        for row in self.document["rows"]:
            row["timing"]["ms"] = at(10.05, 0.01)
        self.old = self.write("old.json", self.document)

    def against(self, factor):
        for row in self.document["rows"][:1]:
            row["timing"]["ms"] = at(factor * 10.05, 0.01)
        return bench("--compare", self.old, "--rows", self.write("new.json", self.document))

    def test_the_same(self):
        result = self.against(1.0)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("SAME 2", result.stdout)

    def test_a_slowdown_of_five_per_cent_fails(self):
        result = self.against(1.05)
        self.assertEqual(result.returncode, 1, result)
        self.assertRegex(result.stdout, r"h01_naive +24x24x24 .*\+5\.0% +SLOWER")
        self.assertIn("SLOWER 1, SAME 1", result.stdout)

    def test_faster_passes(self):
        result = self.against(0.9)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("FASTER 1", result.stdout)

    def test_a_kernel_that_fails_now_fails_the_gate(self):
        self.document["rows"][1]["verdict"].update(outcome="nan", reason="an element is NaN")
        result = self.against(1.0)
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("FAILED: an element is NaN", result.stdout)

    def test_what_looks_slower_is_measured_twice(self):
        for row in self.document["rows"]:
            row["timing"]["ms"] = at(1e-6, 1e-9)
        result = bench("h01", *QUICK, "--shape", "24,48", "--compare",
                       self.write("old.json", self.document))
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("SLOWER 2", result.stdout)
        measured, _, _ = result.stdout.partition("against ")
        self.assertEqual(measured.count("24x24x24"), 2)
        self.assertEqual(measured.count("48x48x48"), 2)

    def test_against_what_is_measured_now(self):
        for row in self.document["rows"]:
            row["timing"]["ms"] = at(1e6, 1)
        result = bench("h01", *QUICK, "--shape", "24,48", "--compare",
                       self.write("old.json", self.document))
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("FASTER 2", result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
