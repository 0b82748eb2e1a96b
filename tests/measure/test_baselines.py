# SPDX-License-Identifier: Apache-2.0
"""Rounds and rows of bench/python with a PyTorch of this test's own, whose clock moves by what its
kernels say they take."""
import collections
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types
import unittest

LADDER = pathlib.Path(sys.argv[1])
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench" / "python"))
import baselines
import rounds


class Event:
    now = 0.0  # ms

    def __init__(self, enable_timing):
        self.at = None

    def record(self):
        self.at = Event.now

    def elapsed_time(self, later):
        return later.at - self.at


WAITS = []  # cycles, at heads of rounds
TORCH = types.SimpleNamespace(
    cuda=types.SimpleNamespace(Event=Event, synchronize=lambda: None, _sleep=WAITS.append))


class Turns(unittest.TestCase):
    def test_each_comes_behind_each_other_one_equally_often(self):
        for count in range(1, 10):
            behind, turns = collections.Counter(), collections.Counter()
            for number in range(2 * count):
                order = [rounds.kernel_in_turn(count, number, turn) for turn in range(count)]
                self.assertEqual(sorted(order), list(range(count)))
                behind.update(zip(order, order[1:]))
                turns.update(enumerate(order))
            self.assertEqual(set(behind.values()), {2} if count > 1 else set())
            self.assertEqual(len(behind), count * (count - 1))
            self.assertEqual(set(turns.values()), {2})


class InRounds(unittest.TestCase):
    def setUp(self):
        self.log = []
        WAITS.clear()
        for name, value in (("WARMUP_S", 0.01), ("SETTLED_S", 0.01)):
            self.addCleanup(setattr, rounds, name, getattr(rounds, name))
            setattr(rounds, name, value)

    def kernel(self, name, ms):
        def launch(*operands):
            self.log.append((name, operands))
            Event.now += ms
        return launch

    def test_every_kernel_once_a_round_each_with_its_time_and_all_copies(self):
        sets = [(1,), (2,), (3,)]
        times = {"a": 1.0, "b": 2.0, "c": 5.0}
        measured = rounds.Rounds(TORCH, [(self.kernel(name, ms), sets)
                                         for name, ms in times.items()]).measure(0.5)
        for samples, ms in zip(measured, times.values()):
            self.assertGreaterEqual(len(samples), rounds.FEWEST)
            self.assertEqual(len(samples), len(measured[0]))
            for sample in samples:
                self.assertAlmostEqual(sample, ms)
        # the host runs ahead at each of these launches
        self.assertEqual(len(WAITS), 3 * len(measured[0]))
        self.assertTrue(
            all(0 < cycles <= rounds.HEAD_S * rounds.CYCLES_A_SECOND for cycles in WAITS),
            WAITS[:5])
        for at in range(0, len(self.log) - 2, 3):
            self.assertEqual({name for name, _ in self.log[at:at + 3]}, set(times))
        for name in times:
            used = [operands for which, operands in self.log if which == name]
            self.assertEqual(used[:6], [(1,), (2,), (3,)] * 2)

    def test_the_gpu_waits_ahead_of_a_launch_for_as_long_as_the_host_takes(self):
        slow_s = 0.0005
        def slow():
            time.sleep(slow_s)
            Event.now += 1.0
        rounds.Rounds(TORCH, [(slow, [()]), (self.kernel("quick", 1.0), [()])]).measure(0)
        waits = [cycles / rounds.CYCLES_A_SECOND for cycles in WAITS]
        self.assertTrue(waits)
        self.assertEqual(len([wait for wait in waits if wait >= slow_s]) * 2, len(waits), waits[:5])

    def test_noise_goes_on_to_the_budget(self):
        turn = iter(range(10**6))
        def noisy():
            Event.now += 1.0 + next(turn) % 2
        rounds.SETTLED_S = 0.0
        quiet = rounds.Rounds(TORCH, [(self.kernel("a", 1.0), [()])]).measure(30)[0]
        self.assertLessEqual(len(quiet), rounds.MOST_A_BATCH)
        loud = rounds.Rounds(TORCH, [(noisy, [()])]).measure(30)[0]
        self.assertGreaterEqual(len(loud), rounds.MOST)  # otherwise 30 s would have passed
        spent = rounds.Rounds(TORCH, [(noisy, [()])]).measure(0)[0]
        self.assertLessEqual(len(spent), rounds.MOST_A_BATCH)


class Rows(unittest.TestCase):
    def test_the_report_reads_them_with_their_share_of_cublas(self):
        device = {
            "name": "a GPU", "cuda": True, "virtual": False, "ordinal": 0, "compute_capability": 90,
            "sm_count": 132, "memory_bytes": 1, "sm_clock_hz": 1.98e9, "fp32_flops": 6.7e13,
            "memory_bandwidth": 0.0
        }
        rung = types.SimpleNamespace(file="ladder_fp16x3")
        kernels = [baselines.Kernel("torch_ieee", "PyTorch matmul", "ieee", None),
                   baselines.Kernel("ladder_fp16x3", "two fp16 words", "fp16x3", None, rung),
                   baselines.Kernel("torch_tf32", "PyTorch matmul", "tf32", None),
                   baselines.Kernel("gemmul8_7_fast", "seven moduli", "ieee", None)]
        rows = [
            baselines.row_json(kernel, (64, 32, 16), (1e-7, 1e-8, 0.5)) for kernel in kernels[:3]
        ]
        rows.append(baselines.row_json(kernels[3], (64, 32, 16), None, "out of memory"))
        wrong = baselines.row_json(kernels[3], (64, 32, 16), (float("nan"),) * 3)
        self.assertEqual(wrong["verdict"]["outcome"], "wrong_value")
        times = {"torch_ieee": 4.0, "ladder_fp16x3": 1.0, "torch_tf32": 0.5}
        readings = rounds.Readings()
        readings.lines = ["1980, 400.0, 40", "1965, 410.0, 41", "[N/A], 1, 2"]
        telemetry = readings.telemetry()
        self.assertEqual(telemetry["readings"], 2)
        self.assertEqual(telemetry["power_w"], {"min": 400.0, "median": 405.0, "max": 410.0})
        baselines.add_timings(rows, {
            name: baselines.timing_json([ms] * 5, 2, telemetry, 0.3)
            for name, ms in times.items()
        })
        self.assertEqual(rows[1]["derived"]["percent_of_baseline"], 400)
        self.assertEqual(rows[1]["baseline"]["kernel"], "torch_ieee")
        self.assertIsNone(rows[2]["baseline"])  # not an FP32 result
        self.assertIsNone(rows[3]["timing"])
        environment = {
            "date": "2026-01-01T00:00:00Z", "version": "PyTorch", "commit": "0", "cpu": "",
            "cpu_threads": 1, "cuda_toolkit": "13.0", "cuda_runtime": "13.0", "cuda_driver": "",
            "driver": "", "cublas": "", "openblas": "", "device": device, "power_limit_w": None,
            "max_sm_clock_mhz": None
        }
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "rows.json"
            file.write_text(
                json.dumps({
                    "schema": "ladder-rows", "version": 3, "environment": environment, "rows": rows
                }))
            table = subprocess.run([LADDER, "report", file], capture_output=True, text=True,
                                   check=False)
        self.assertEqual(table.returncode, 0, table)
        lines = {
            line.split("|")[1].strip(): line
            for line in table.stdout.splitlines()
            if line.count("|") > 2
        }
        self.assertIn("| 400.0 |", lines["ladder_fp16x3"])
        self.assertIn("not_verified", lines["gemmul8_7_fast"])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
