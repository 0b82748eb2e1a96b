#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program of cuBLAS over libladder_cublas.so, on the virtual GPU: its results, and the report of
what was taken, forwarded and why.

  test_cublas.py VGPU LIBLADDER_CUBLAS PROGRAM"""
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

VGPU, LIBRARY, PROGRAM = sys.argv[1:4]


def run(device="h200", arguments=(), **environment):
    """The report's rows as {(function, decision): [(calls, why)]}, and stderr."""
    with tempfile.TemporaryDirectory() as folder:
        report = pathlib.Path(folder) / "report"
        result = subprocess.run([VGPU, "--device", device, PROGRAM, *arguments],
                                capture_output=True, text=True, timeout=200, check=False, env={
                                    **os.environ, "LD_PRELOAD": LIBRARY,
                                    "LADDER_CUBLAS_REPORT": str(report),
                                    **environment
                                })
        assert result.returncode == 0, (result.stdout, result.stderr)
        rows = collections.defaultdict(list)
        for line in report.read_text().splitlines()[1:]:
            function, decision, calls, *why = line.split(None, 3)
            rows[function, decision].append((int(calls), *why))
        return rows, result.stderr


class OverCublas(unittest.TestCase):
    def test_by_default(self):
        rows, _ = run()
        self.assertEqual(rows["cublasSgemm_v2", "auto"], [(6, )])  # 4, on the device, captured
        self.assertEqual(rows["cublasSgemm_v2", "ieee"], [(1, )])  # pedantic
        for why in ("math mode: allows less than FP32", "ldc = "):
            self.assertEqual(
                [calls for calls, text in rows["cublasSgemm_v2", "forwarded"] if why in text], [1])
        for name in ("cublasSgemm_v2_64", "cublasGemmEx", "cublasSgemmStridedBatched",
                     "cublasGemmStridedBatchedEx"):
            self.assertEqual(rows[name, "auto"], [(1, )], name)
        self.assertEqual(rows["cublasGemmEx", "ieee"], [(1, )])
        [(calls, why)] = rows["cublasSgemmBatched", "forwarded"]
        self.assertEqual(calls, 1)
        self.assertIn("plain kernel", why)

    def test_as_an_option_of_vgpu(self):
        launches = {}
        for who in ("host", "ladder"):
            with tempfile.TemporaryDirectory() as folder:
                counters = pathlib.Path(folder) / "counters.json"
                result = subprocess.run(
                    [VGPU, "--blas", who, "--counters", counters, PROGRAM], capture_output=True,
                    text=True, timeout=200, check=False)
                self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
                launches[who] = json.loads(counters.read_text())["launches"]
        self.assertEqual(launches["host"], [])
        self.assertGreater(len(launches["ladder"]), 10)
        self.assertTrue(
            any(launch["metrics"]["smsp__sass_thread_inst_executed_op_ffma_pred_on.sum"] > 0
                for launch in launches["ladder"]))

    def test_all_is_taken(self):
        rows, _ = run(LADDER_CUBLAS_TAKE="all", LADDER_CUBLAS_PRECISION="ieee")
        self.assertEqual(rows["cublasSgemmBatched", "ieee"], [(1, )])
        self.assertEqual(rows["cublasSgemm_v2", "ieee"], [(7, )])

    def test_another_gpu(self):
        rows, _ = run("a100")
        self.assertFalse([key for key in rows if key[1] != "forwarded"])
        rows, _ = run("a100", LADDER_CUBLAS_TAKE="all")
        self.assertEqual(rows["cublasSgemm_v2", "auto"], [(6, )])

    def test_matmul_of_cublaslt(self):
        rows, _ = run(arguments=["lt"])
        self.assertEqual(rows["cublasLtMatmul", "auto"], [(3, )])

    def test_a_report_that_cannot_be_written_is_told(self):
        result = subprocess.run([VGPU, PROGRAM], capture_output=True, text=True, timeout=200,
                                check=False, env={
                                    **os.environ, "LD_PRELOAD": LIBRARY,
                                    "LADDER_CUBLAS_REPORT": "/no/such/report"
                                })
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("LADDER_CUBLAS_REPORT: /no/such/report: No such file", result.stderr)

    def test_its_own_workspace(self):
        for setting in ("own", "program"):
            rows, _ = run(LADDER_CUBLAS_WORKSPACE=setting, LADDER_CUBLAS_PRECISION="bf16x6")
            self.assertEqual(rows["cublasSgemm_v2", "bf16x6"], [(6, )])
        rows, error = run(LADDER_CUBLAS_WORKSPACE="theirs")
        self.assertIn("'theirs' is neither program nor own", error)

    def test_rules(self):
        with tempfile.NamedTemporaryFile("w", suffix=".rules") as file:
            file.write("# m n k\n37 29 1-41 bf16x6\n* * * forward\n")
            file.flush()
            rows, _ = run(LADDER_CUBLAS_RULES=file.name)
            self.assertEqual(rows["cublasSgemm_v2", "bf16x6"], [(6, )])
            file.seek(0)
            file.write("* * 42- ieee\n* * * forward   \n     \n")
            file.truncate()
            file.flush()
            rows, _ = run(LADDER_CUBLAS_RULES=file.name)
            self.assertIn((8, "a rule forwards it"), rows["cublasSgemm_v2", "forwarded"])
            file.seek(0)
            file.write("1 2 three ieee\n")
            file.truncate()
            file.flush()
            rows, error = run(LADDER_CUBLAS_RULES=file.name)
            self.assertIn(f"{file.name}:1: must be 'M N K PRECISION'", error)
            self.assertFalse([key for key in rows if key[1] != "forwarded"])

    def test_a_wrong_setting_is_said_and_nothing_is_taken(self):
        rows, error = run(LADDER_CUBLAS_PRECISION="fp8")
        self.assertIn("'fp8' is neither a precision nor forward", error)
        self.assertFalse([key for key in rows if key[1] != "forwarded"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[4:])
