# SPDX-License-Identifier: Apache-2.0
"""Kernels timed in turn, as src/measure does it: each round launches every one once, so that all
see the same clocks."""
import math
import statistics
import subprocess
import time

BATCH_S, MOST_A_BATCH = 0.2, 10  # rounds between two readings of the host's clock
WARMUP_S, SETTLED_S, NOISE, FEWEST, MOST = 0.3, 0.3, 0.005, 5, 500  # the first two: per kernel
# at most; multiple of the host's time; about a GPU's clock
HEAD_S, OF_HOST, CYCLES_A_SECOND = 2e-3, 1.5, 2e9


def statistics_of(samples):
    """The order statistics that docs/schema.md lists under timing.ms."""
    ordered = sorted(samples)
    median = statistics.median(ordered)

    def at(share):
        place = share * (len(ordered) - 1)
        low = math.floor(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (ordered[high] - ordered[low]) * (place - low)

    return {
        "n": len(ordered), "min": ordered[0], "p5": at(0.05), "p25": at(0.25), "median": median,
        "p75": at(0.75), "p95": at(0.95), "max": ordered[-1],
        "mad": statistics.median(abs(sample - median) for sample in ordered)
    }


def kernel_in_turn(kernels, number, turn):
    """The one whose turn is the turn-th of this round: src/measure/turns.hpp, which names the
    source."""
    at = turn if number % 2 == 0 else kernels - 1 - turn
    zigzag = kernels - at // 2 if at % 2 == 0 else at // 2 + 1
    return (zigzag + number // 2) % kernels


class Readings:
    """Clock, power and temperature every tenth of a second while the block runs; empty where
    nvidia-smi is not."""

    def __enter__(self):
        self.lines = []
        try:
            self.process = subprocess.Popen([
                "nvidia-smi", "--query-gpu=clocks.sm,power.draw,temperature.gpu",
                "--format=csv,noheader,nounits", "-lms", "100", "-i", "0"
            ], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        except OSError:
            self.process = None
        return self

    def __exit__(self, *_):
        if self.process is not None:
            self.process.terminate()
            self.lines = self.process.communicate()[0].splitlines()

    def telemetry(self):
        """As docs/schema.md has it under timing.telemetry."""
        readings = []
        for line in self.lines:
            try:
                clock, power, temperature = (float(part) for part in line.split(","))
            except ValueError:  # "[N/A]", or a truncated line
                continue
            readings.append((clock, power, temperature))
        summary = {
            "readings": len(readings), "sm_clock_mhz": None, "power_w": None, "temperature_c": None,
            "clock_reasons": None
        }
        for name, values in zip(("sm_clock_mhz", "power_w", "temperature_c"), zip(*readings)):
            summary[name] = {
                "min": min(values), "median": statistics.median(values), "max": max(values)
            }
        return summary


class Rounds:
    """`launches` are (launch, sets of operands, which are rotated)."""

    def __init__(self, torch, launches):
        self.torch, self.launches = torch, launches
        self.number = 0  # of the next round
        self.used = [0] * len(launches)
        self.warmup_s = 0.0  # that measure() took
        # Time that the GPU waits before each launch, per kernel, so that no launch waits for
        # Python, even if a previous one synchronizes.
        self.heads_s = [0.0] * len(launches)

    def run(self, rounds):
        """(kernel, milliseconds of the GPU, seconds of the host) of each launch."""
        torch, timed = self.torch, []
        for _ in range(rounds):
            for turn in range(len(self.launches)):
                which = kernel_in_turn(len(self.launches), self.number, turn)
                launch, sets = self.launches[which]
                operands = sets[self.used[which] % len(sets)]
                self.used[which] += 1
                first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                if self.heads_s[which]:
                    torch.cuda._sleep(int(self.heads_s[which] *
                                          CYCLES_A_SECOND))  # noqa: SLF001  there is no public one
                start = time.monotonic()
                first.record()
                launch(*operands)
                last.record()
                timed.append((which, first, last, time.monotonic() - start))
            self.number += 1
        torch.cuda.synchronize()
        return [(which, first.elapsed_time(last), host_s) for which, first, last, host_s in timed]

    def measure(self, budget):
        """Samples in ms of each kernel: until the noise of all is low, or `budget` seconds per
        kernel are spent."""
        count = len(self.launches)
        begin, host_s = time.monotonic(), [[] for _ in range(count)]
        while self.warmup_s < WARMUP_S * count:
            start = time.monotonic()
            for which, _, seconds in self.run(1):
                host_s[which].append(seconds)
            round_s = time.monotonic() - start
            self.warmup_s = time.monotonic() - begin
        self.heads_s = [min(HEAD_S, OF_HOST * statistics.median(some)) for some in host_s]
        batch = max(1, min(MOST_A_BATCH, int(BATCH_S / round_s)))
        samples, start = [[] for _ in range(count)], time.monotonic()
        while len(samples[0]) < MOST:
            for which, ms, _ in self.run(batch):
                samples[which].append(ms)
            spent = (time.monotonic() - start) / count
            noise = max(statistics_of(some)["mad"] / statistics.median(some) for some in samples)
            if len(samples[0]) >= FEWEST and (spent > budget or
                                              (spent > SETTLED_S and noise < NOISE)):
                break
        return samples
