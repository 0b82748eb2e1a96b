# SPDX-License-Identifier: Apache-2.0
"""ladder tune h04 from outside: the blocks that it saves, and what it refuses."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import Folder, ladder


class Blocks(Folder):
    def test_saves_the_blocks_of_this_processor(self):
        result = ladder("tune", "h04", "--shape", "200x2000x600", "--budget", "0.2", "--output",
                        self.path("tuned.json"))
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("what follows from the caches", result.stdout)
        saved = self.read("tuned.json")
        for key in ("l1", "l2", "rows", "cols", "depth", "gflops", "by_rule_gflops", "rounds"):
            self.assertGreater(saved[key], 0, key)
        self.assertGreaterEqual(saved["gflops"], saved["by_rule_gflops"])
        self.assertIn(f"{saved['rows']} x {saved['cols']} x {saved['depth']}", result.stdout)

    def test_bad_input(self):
        for arguments, says in ((["--budget",
                                  "0"], "--budget"), (["--json",
                                                       "x"], "--json"), (["--shape",
                                                                          "0"], "--shape"),
                                (["--device", "cuda:0"], "--device"), (["--output",
                                                                        "/none/such"], "--output")):
            self.rejected("tune", "h04", *arguments, says=[says])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
