# SPDX-License-Identifier: Apache-2.0
"""The copies of r17 that bench/h200/edits.sh times: every text that they replace is there, and the table says what rows do."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

BENCH = pathlib.Path(__file__).resolve().parents[2] / "bench" / "h200"
sys.path.insert(0, str(BENCH))
import edits
import edits_table


def run(*arguments):
    return subprocess.run([sys.executable, str(BENCH / "edits.py"), *arguments], capture_output=True, text=True)


class Edits(unittest.TestCase):
    def test_each_applies_and_changes_something(self):
        for edit in edits.EDITS:
            with self.subTest(edit.name):
                files = edits.edited(edit)
                self.assertIn(edits.RUNG, files)
                self.assertTrue(any((edits.SOURCE / name).read_text() != text for name, text in files.items()))

    def test_names_are_unique(self):
        names = [edit.name for edit in edits.EDITS]
        self.assertEqual(len(set(names)), len(names))

    def test_a_text_that_is_gone_is_refused(self):
        gone = edits.Edit("gone", "", ((edits.RUNG, "no kernel has this line", ""),))
        with self.assertRaisesRegex(SystemExit, "gone: src/rungs/cuda/r17_stream_k.cu has this 0 times"):
            edits.edited(gone)

    def test_a_text_that_is_there_twice_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "times, not once"):
            edits.edited(edits.Edit("often", "", ((edits.RUNG, "ring.advance();", ""),)))

    def test_written_files_shadow_the_source(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("write", "k_there_and_back", folder).returncode, 0)
            written = [str(path.relative_to(folder)) for path in pathlib.Path(folder).rglob("*.cu*")]
            self.assertEqual(written, [edits.RUNG])

    def test_an_unknown_edit_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            result = run("write", "no_such", folder)
        self.assertEqual(result.returncode, 1)
        self.assertIn("no edit 'no_such'", result.stderr)


def row(edit, types, cycles, of_r17, right="yes"):
    return {"n": "4096", "types": types, "edit": edit, "cycles": cycles, "half_iqr": "100", "of_r17": of_r17, "right": right}


class Table(unittest.TestCase):
    def test_shares_spread_and_wrong_results(self):
        rows = [row("r17", "fp16", "200000", "1.0000"), row("nothing_stored", "fp16", "190000", "0.9500", "no"),
                row("cublas", "fp16", "220000", "1.1000"), row("r17", "fp16_f32", "400000", "1.0000"),
                row("nothing_stored", "fp16_f32", "400000", "1.0000", "no"), row("cublas", "fp16_f32", "440000", "1.1000")]
        lines = "".join(edits_table.table(rows)).splitlines()
        self.assertEqual(lines[0], "| undone | | 4096, fp16 | 4096, fp16 to f32 |")
        self.assertEqual(lines[2], "|  | r17 as it is: cycles | 200,000 ± 0.1% | 400,000 ± 0.0% |")
        self.assertEqual(lines[3], "| `nothing_stored` | sums are neither packed nor stored | -5.00% ± 0.1%, wrong | +0.00% ± 0.0%, wrong |")
        self.assertEqual(lines[4], "|  | cuBLAS | +10.00% ± 0.0% | +10.00% ± 0.0% |")

    def test_rows_of_an_edit_that_is_gone_are_refused(self):
        with self.assertRaisesRegex(SystemExit, "measure again"):
            list(edits_table.table([row("r17", "fp16", "1", "1"), row("gone", "fp16", "1", "1")]))


if __name__ == "__main__":
    unittest.main()
