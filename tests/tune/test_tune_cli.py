# SPDX-License-Identifier: Apache-2.0
"""ladder tune from outside, on the virtual GPU: table, files, bad input, and what is left after
SIGINT and SIGKILL."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import LADDER, VIRTUAL, Folder

NVCC = subprocess.run([LADDER, "doctor"], capture_output=True, text=True, check=False).stdout
HAS_NVCC = any(line.split()[:2] == ["ok", "nvcc"] for line in NVCC.splitlines())
# one cache for all tests here: no candidate is compiled twice
CACHE = tempfile.TemporaryDirectory()
ENVIRONMENT = {**os.environ, "XDG_CACHE_HOME": CACHE.name}
PARAMETERS = ["BM", "BN", "BK", "TM", "TN", "blocks"]
BY_HAND = [128, 128, 8, 8, 8, 2]


def command(*arguments):
    return [LADDER, "tune", "r09", "--device", "virtual:h200", "--jobs", "2", *arguments]


def wait_for(condition, process, seconds=150):
    """True once `condition` holds; False if the process ended or time ran out before."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        if process.poll() is not None:
            return condition()
        time.sleep(0.05)
    return False


class BadInput(Folder):
    def rejected(self, *arguments, says, **keywords):
        super().rejected("tune", *arguments, says=says, **keywords)

    def test_names_the_argument_and_the_rule(self):
        self.rejected(says=["RUNG"])
        self.rejected("r99", says=["RUNG", "r99"])
        self.rejected("r01",
                      says=["r01_naive", "no search space", "r09_autotuned", "r10_warp_tile"])
        self.rejected("r09", "--budget", "0", says=["--budget", "more than 0"])
        self.rejected("r09", "--budget", "nan", says=["--budget"])
        self.rejected("r09", "--budget", "x", says=["--budget"])
        self.rejected("r09", "--jobs", "0", says=["--jobs", "at least 1"])
        self.rejected("r09", "--strategy", "luck", says=["--strategy", "'luck'", "halving"])
        self.rejected("r09", "--shape", "0x8x8", says=["--shape", "empty"])
        self.rejected("r09", "--shape", "8y8", says=["--shape", "8y8"])
        self.rejected("r09", "--json", "/no/such/folder/x.json", says=["--json", "/no/such/folder"])
        self.rejected("r09", "--output", self.folder.name, says=["--output", "folder"])
        self.rejected("r09", "--heat-map", self.path("x.png"),
                      says=["--heat-map", ".svg", ".vl.json", ".csv"])
        self.rejected("r09", "--axes", "BM", says=["--axes", "'BM'", "BK"])
        self.rejected("r09", "--axes", "BM,BM", says=["--axes"])
        self.rejected("r09", "--axes", "BM,XX", says=["--axes", "XX"])
        self.rejected("r09", "--points", self.path("none.json"), says=["--points", "none.json"])
        pathlib.Path(self.path("rows.json")).write_text('{"schema": "ladder-rows"}')
        self.rejected("r09", "--points", self.path("rows.json"),
                      says=["--points", "rows.json", "ladder-tuning"])
        self.rejected("r09", "--source", self.folder.name, says=["--source", "no checkout"])
        self.rejected("r09", "--device", "cpu", says=["--device"])
        self.rejected("r09", "--candidates", "3", says=["--candidates requires --suite"])
        self.rejected("r09", "--device", "virtual:abacus", says=["--device"])

    def test_help_has_examples(self):
        result = subprocess.run([LADDER, "tune", "--help"], capture_output=True, text=True,
                                check=False)
        self.assertEqual(result.returncode, 0)
        for text in ("Examples:", "--budget", "--heat-map", "--points", "--output"):
            self.assertIn(text, result.stdout)
        self.assertNotIn(
            "tune-worker",
            subprocess.run([LADDER, "--help"], capture_output=True, text=True, check=False).stdout)


@unittest.skipUnless(VIRTUAL and HAS_NVCC, "needs the virtual GPU and nvcc")
class OnTheVirtualGpu(Folder):
    def test_a_table_and_files(self):
        # One candidate, named in a file of points as an earlier search would have left it.
        points = {
            "schema": "ladder-tuning", "version": 1, "rung": "r09_autotuned", "candidates": [{
                "parameters": dict(zip(PARAMETERS, values)), "status": "passed", "ms": ms
            } for values, ms in ((BY_HAND, 3.5), ([64, 64, 8, 8, 8, 2], 3.9))]
        }
        pathlib.Path(self.path("points.json")).write_text(json.dumps(points))
        arguments = command("--budget", "120", "--points", self.path("points.json"), "--json",
                            self.path("all.json"), "--output", self.path("h200.json"), "--heat-map",
                            self.path("map.vl.json"), "--axes", "BM,BN")
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=200, check=False,
                                env=ENVIRONMENT)
        self.assertEqual(result.returncode, 0, result)
        for text in ("r09_autotuned, NVIDIA H200 (virtual), 4096x4096x4096", "model", "set by hand",
                     "2 passed", "rank correlation"):
            self.assertIn(text, result.stdout)
        self.assertNotIn("GFLOP/s", result.stdout)  # the model has no measured rate of any GPU

        everything = self.read("all.json")
        self.assertEqual(everything["schema"], "ladder-tuning")
        self.assertEqual(everything["basis"], "model")
        self.assertFalse(everything["interrupted"])
        self.assertNotEqual(everything["commit"], "")
        self.assertEqual(len(everything["candidates"]), 2)
        for candidate in everything["candidates"]:
            self.assertEqual(candidate["status"], "passed", candidate["reason"])
            self.assertIsNone(candidate["ms"])
            self.assertGreater(candidate["model"]["ms"], 0)
            self.assertGreater(candidate["registers"], 0)
        self.assertEqual(everything["agreement"]["candidates"], 2)

        tuned = self.read("h200.json")
        self.assertEqual(tuned["gpu"], "NVIDIA H200")
        entry = tuned["rungs"]["r09_autotuned"]
        self.assertEqual(entry["parameters"], PARAMETERS)
        self.assertEqual(
            entry["values"],
            list(everything["candidates"][everything["winner"]]["parameters"].values()))
        self.assertEqual(entry["basis"], "model")
        self.assertIsNone(entry["gflops"])

        cells = self.read("map.vl.json")["datasets"]["cells"]
        self.assertEqual({(cell["row"], cell["column"])
                          for cell in cells}, {("BM 128", "BN 128"), ("BM 64", "BN 64")})

        arguments[-4:] = ["--heat-map", self.path("map.csv")]
        result = subprocess.run(arguments, capture_output=True, text=True, timeout=200, check=False,
                                env=ENVIRONMENT)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("0 compiled, 2 from the cache", result.stdout)
        with open(self.path("map.csv"), newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual([row["status"] for row in rows], ["passed", "passed"])
        self.assertEqual({row["BM"] for row in rows}, {"128", "64"})

    def temporary(self):
        os.makedirs(self.path("tmp"), exist_ok=True)
        return self.path("tmp")

    def stopped(self, how):
        """Starts a search, stops it once a best so far is on disk; (process, tuned file's entry,
        candidates)."""
        process = subprocess.Popen(
            command("--budget", "170", "--json", self.path("all.json"), "--output",
                    self.path("h200.json")), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**ENVIRONMENT, "TMPDIR": self.temporary()})
        there = wait_for(lambda: os.path.exists(self.path("h200.json")), process)
        process.send_signal(how)
        output, errors = process.communicate(timeout=30)
        self.assertTrue(there, output + errors)
        entry = self.read("h200.json")["rungs"]["r09_autotuned"]
        self.assertTrue(entry["interrupted"])
        self.assertEqual(len(entry["values"]), len(PARAMETERS))
        everything = self.read("all.json")
        self.assertTrue(everything["interrupted"])
        self.assertGreaterEqual(len(everything["candidates"]), 1)
        self.assertIsNotNone(everything["winner"])
        return process, output

    def test_interrupted_keeps_the_best_so_far(self):
        process, output = self.stopped(signal.SIGINT)
        self.assertEqual(process.returncode, 130)
        self.assertIn("best", output)
        self.assertEqual(os.listdir(self.temporary()), [])

    def test_killed_keeps_the_best_so_far(self):
        process, _ = self.stopped(signal.SIGKILL)
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["all.json", "h200.json", "tmp"])
        # Files that the killed search was compiling are removed by the next one.
        points = self.path("one.json")
        pathlib.Path(points).write_text(
            json.dumps({
                "schema": "ladder-tuning", "rung": "r09_autotuned", "candidates": [{
                    "parameters": dict(zip(PARAMETERS, BY_HAND)), "status": "passed", "ms": 1
                }]
            }))
        result = subprocess.run(command("--budget", "120", "--points",
                                        points), capture_output=True, text=True, timeout=200,
                                check=False, env={**ENVIRONMENT, "TMPDIR": self.temporary()})
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(os.listdir(self.temporary()), [])

    def test_a_file_of_another_gpu_is_left_alone(self):
        before = '{"gpu": "NVIDIA A100", "rungs": {}}'
        pathlib.Path(self.path("a100.json")).write_text(before)
        result = subprocess.run(command("--budget", "120", "--output",
                                        self.path("a100.json")), capture_output=True, text=True,
                                timeout=200, check=False, env=ENVIRONMENT)
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("another GPU", result.stderr)
        self.assertEqual(pathlib.Path(self.path("a100.json")).read_text(), before)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
