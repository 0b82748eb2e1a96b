#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/layers refuses what scripts/rooms.txt forbids: each rule is broken once in a made-up
tree."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LAYERS = pathlib.Path(sys.argv.pop()) / "layers"


def check(files):
    """Exit status and output of scripts/layers on a tree of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            path = pathlib.Path(folder) / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        done = subprocess.run([sys.executable, LAYERS, "--source", folder], capture_output=True,
                              text=True)
        return done.returncode, done.stdout


class Layers(unittest.TestCase):
    def refused(self, files, *parts):
        status, output = check(files)
        self.assertEqual(status, 1, output)
        for part in parts:
            self.assertIn(part, output)

    def test_what_the_table_allows(self):
        _, output = check({
            "src/device/tile.cuh": "", "include/ladder/kernel.hpp": "",
            "src/rungs/cuda/r01_a.cu": '#include "device/tile.cuh"\n#include <ladder/kernel.hpp>\n'
        })
        self.assertNotIn("r01_a", output)

    def test_a_rung_includes_the_library(self):
        self.refused(
            {"src/gemm/plan.hpp": "", "src/rungs/cuda/r01_a.cu": '#include "gemm/plan.hpp"\n'},
            'src/rungs/cuda/r01_a.cu: includes "gemm/plan.hpp", but src/rungs sees src/problem')

    def test_a_rung_includes_another(self):
        self.refused(
            {"src/rungs/cuda/r01_a.cu": "", "src/rungs/cuda/r02_b.cu": '#include "r01_a.cu"\n'},
            "no rung includes another")

    def test_a_relative_include_and_one_in_angle_brackets_are_found(self):
        for include in ('"../verify/bound.hpp"', "<verify/bound.hpp>"):
            self.refused(
                {"src/verify/bound.hpp": "", "src/measure/timer.cpp": f"#include {include}\n"},
                "src/measure sees")

    def test_a_file_outside_all_rooms(self):
        self.refused({"src/other/a.hpp": ""}, "src/other/a.hpp: lies in no room")

    def test_a_rung_that_is_too_heavy(self):
        headers = {f"src/device/h{i}.cuh": "\n" * 100 for i in range(9)}
        includes = "".join(f'#include "device/h{i}.cuh"\n' for i in range(9))
        self.refused({**headers, "src/rungs/cuda/r01_a.cu": includes + "\n" * 250},
                     "r01_a: 259 lines, at most 250",
                     "r01_a: 1159 lines with every header it reaches, at most 800",
                     "r01_a: 9 headers reached, at most 8")


if __name__ == "__main__":
    unittest.main()
