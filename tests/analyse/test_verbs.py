# SPDX-License-Identifier: Apache-2.0
"""The analysing verbs from outside: published figures, the model against measurements, errors."""
import json
import pathlib
import re
import subprocess
import sys
import unittest

LADDER = pathlib.Path(sys.argv[1])
SOURCE = pathlib.Path(sys.argv[2])


def ladder(*arguments, **keywords):
    return subprocess.run([LADDER, *arguments], capture_output=True, text=True, timeout=240, **keywords)


def explained(*arguments):
    result = ladder("explain", *arguments, "--json")
    assert result.returncode == 0, result
    return json.loads(result.stdout)


class PublishedFigures(unittest.TestCase):
    """Of the worklog and the notes on kernels 1 to 10, on an RTX A6000 (whose 30 TFLOP/s is its base clock)."""

    def test_a6000_at_4092_and_4096(self):
        for side in ("4092", "4096"):
            e = explained("r01", "--device", "a6000", "--shape", side, "--clock", "base")
            self.assertEqual(round(e["work"]["flop"] / 1e9), 137)
            self.assertEqual(round(e["work"]["read_bytes"] / 1e6), 201)
            self.assertEqual(round(e["work"]["write_bytes"] / 1e6), 67)
            self.assertEqual(round(e["work"]["least_bytes"] / 1e6), 268)
            self.assertIn(int(e["work"]["flop_per_byte"]), (511, 512))
            self.assertEqual(round(e["machine"]["peak_flops"] / 1e12), 30)
            self.assertEqual(round(e["machine"]["bandwidth"] / 1e9), 768)
            self.assertEqual(round(e["machine"]["ridge_flop_per_byte"]), 39)
            self.assertEqual(round(e["work"]["compute_ms"], 1), 4.5)
            self.assertEqual(round(e["work"]["memory_ms"], 2), 0.35)
        e = explained("r01", "--device", "a6000", "--shape", "4092", "--clock", "base")
        self.assertEqual(int(e["work"]["flop_per_byte"]), 511)
        self.assertEqual(round(e["launch"]["uncached_bytes"] / 1e9), 548)
        self.assertEqual(round(e["launch"]["uncached_flop_per_byte"], 2), 0.25)
        self.assertEqual(round(e["launch"]["uncached_over_least"] / 1e3), 2)
        self.assertEqual(e["launch"]["loads_per_result"]["global_formula"], "2K")

    def test_text_says_them(self):
        text = ladder("explain", "r01", "--device", "a6000", "--shape", "4092", "--clock", "base").stdout
        for figure in ("137 GFLOP", "268 MB: 201 MB read, 67 MB written", "511 FLOP/B", "30.3 TFLOP/s", "768 GB/s",
                       "39 FLOP/B", "4.52 ms", "0.35 ms", "548 GB, 0.25 FLOP/B"):
            self.assertIn(figure, text)

    def test_loads_a_result(self):
        for rung, both in {"r03_smem_tile_32": ("K/16", "2K"), "r04": ("K/32", "9K/8"), "r05": ("K/64", "K/4")}.items():
            loads = explained(rung, "--device", "a6000")["launch"]["loads_per_result"]
            self.assertEqual((loads["global_formula"], loads["shared_formula"]), both)

    def test_transactions_of_a_warp(self):
        def loads(rung):
            return {a["elements"][0]: a for a in explained(rung)["accesses"]
                    if a["memory"] == "global" and not a["store"] and a["elements"].startswith(("A", "B"))}
        naive, coalesced = loads("r01"), loads("r02")
        self.assertEqual((naive["A"]["sectors"], naive["B"]["sectors"]), (32, 1))
        self.assertEqual((coalesced["A"]["sectors"], coalesced["B"]["sectors"]), (1, 4))
        self.assertEqual(coalesced["B"]["lines"], 1)
        self.assertRegex(naive["A"]["elements"], r"^A: rows 0-31, column \d+$")
        self.assertRegex(coalesced["B"]["elements"], r"^B: row \d+, columns 0-31$")

    def test_rtx5070ti(self):
        for tile, least, shared in (("16", 0.9971, 2048), ("32", 0.6672, 8192)):
            e = explained("r03_smem_tile_" + tile, "--device", "rtx5070ti")
            self.assertEqual(round(e["machine"]["peak_flops"] / 1e12), 44)
            self.assertEqual(e["machine"]["sm_count"], 70)
            self.assertEqual(e["launch"]["shared_bytes"], shared)
            # What the articles saw achieved is what fits, less a little.
            self.assertLess(abs(e["occupancy"]["occupancy"] - least), 0.005)

    def test_instruction_mix(self):
        mix = explained("r03_smem_tile_32")["loop_mix"]
        self.assertEqual(mix["FFMA"], mix["LDS"])  # one of sB's a multiply-add; sA's come four at a time
        self.assertEqual(4 * mix["LDS.128"], mix["FFMA"])
        self.assertGreater(explained("r06")["loop_mix"]["LDS.128"], 0)


class Prediction(unittest.TestCase):
    def test_within_a_quarter_of_measurements_and_in_their_order(self):
        out = ladder("explain", "--accuracy").stdout
        rows = re.findall(r"\| (r\d\d\w*) \| ([\d.]+) \| ([\d.]+) \| ([-+][\d.]+)% \|", out)
        self.assertGreater(len(rows), 8, out)
        for kernel, _, _, error in rows:
            self.assertLess(abs(float(error)), 25, kernel)
        rates = [(float(p), float(m)) for _, p, m, _ in rows]
        for predicted, measured in rates:
            for other_predicted, other_measured in rates:
                if measured < 0.92 * other_measured:  # nearer ones are a tie
                    self.assertLess(predicted, other_predicted)

    def test_counts_scale_exactly(self):
        e = explained("r05", "--shape", "384x384x448", "--beta", "0")
        compared = [c for c in e["counters"].values() if c["counted"] is not None]
        self.assertGreater(len(compared), 10)
        for name, c in e["counters"].items():
            self.assertEqual(c["predicted"], c["counted"], name)


class BadInput(unittest.TestCase):
    def rejected(self, *arguments, says):
        result = ladder(*arguments)
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stderr.count("\n"), 1, result.stderr)
        for text in says:
            self.assertIn(text, result.stderr)

    def test_names_the_argument_and_the_rule(self):
        self.rejected("explain", "r05", "--device", "abacus", says=["--device", "abacus", "a6000"])
        self.rejected("explain", "r99", says=["RUNG", "r99"])
        self.rejected("explain", "h01", says=["RUNG", "CUDA"])
        self.rejected("explain", "r05", "--shape", "4x4", says=["--shape", "4x4"])
        self.rejected("explain", "r05", "-m", "-3", says=["-m"])
        self.rejected("explain", "r05", "--clock", "fast", says=["--clock", "fast"])
        self.rejected("explain", "r05", "--device", "h200", "--clock", "base", says=["--clock", "h200"])
        self.rejected("explain", "r05", "--measured", "/nonexistent", says=["--measured", "/nonexistent"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
