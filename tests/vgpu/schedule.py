# SPDX-License-Identifier: Apache-2.0
"""What vgpu --source says of a kernel's schedule, against the control codes that this script reads
from the same machine code: schedule.py --nvcc NVCC --vgpu VGPU"""
import argparse
import json
import os
import re
import struct
import subprocess
import tempfile

PROGRAM = """
__global__ void chase(const int* next, const float* x, float* y, int n) {
  int at = threadIdx.x;
  float sum = 0.0F;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    at = next[at];
    sum += x[at];
  }
  y[threadIdx.x] = sum;
}
int main() {
  int* next;
  float *x, *y;
  cudaMalloc(&next, 64 * 4);
  cudaMalloc(&x, 64 * 4);
  cudaMalloc(&y, 64 * 4);
  cudaMemset(next, 0, 64 * 4);
  cudaMemset(x, 0, 64 * 4);
  chase<<<1, 64>>>(next, x, y, 10);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""
LOAD, CHAIN, BRANCH, NOP = 0x981, 0x221, 0x947, 0x918  # LDG, FADD, BRA
INDEX, ELEMENT = (number for number, line in enumerate(PROGRAM.splitlines(), 1)
                  if re.search(r"next\[at\]|x\[at\]", line))


def code_of(cubin):
    """(opcode, target, stall, scoreboard of the result, mask of waits) of each instruction."""
    table, = struct.unpack_from("<Q", cubin, 0x28)
    count, names = struct.unpack_from("<HH", cubin, 0x3c)
    sections = [struct.unpack_from("<IIQQQQ", cubin, table + 64 * n) for n in range(count)]
    for section in sections:
        name = cubin[sections[names][4] + section[0]:].split(b"\0")[0]
        if not name.startswith(b".text."):
            continue
        text = cubin[section[4]:section[4] + section[5]]
        for at in range(0, len(text), 16):
            low, high = struct.unpack_from("<QQ", text, at)
            distance = (low >> 34 | (high & 0x3ffff) << 30) << 8 | low >> 16 & 0xff
            distance -= (distance >> 55 & 1) << 56
            control = high >> 41
            yield (low & 0xfff, at + 16 + 4 * distance, control & 15, control >> 5 & 7,
                   control >> 11 & 63)


def check(launch, code):
    while code[-1][0] == NOP:
        code.pop()
    slots, stalls = (sum(line["schedule"][name] for line in launch["source"])
                     for name in ("issue_slots", "stall_cycles"))
    assert slots == len(code), (slots, len(code))
    assert stalls == sum(max(1, stall) for _, _, stall, _, _ in code), stalls
    last, first = next((n, target // 16) for n, (opcode, target, *_) in enumerate(code)
                       if opcode == BRANCH and target < 16 * n)
    loop, hot = code[first:last + 1], launch["hot_loop"]
    assert (hot["first"], hot["last"]) == (16 * first, 16 * last), hot
    assert hot["iterations"] == 2 * 10, hot
    assert hot["stall_cycles"] == sum(max(1, stall) for _, _, stall, _, _ in loop), hot
    pipes = {pipe["name"]: pipe for pipe in hot["pipes"]}
    assert pipes["issue"]["slots"] == len(loop) and pipes["issue"]["cycles"] == len(loop) / 4, pipes
    # FADD; the two addresses by IMAD.WIDE, in the heavier half of the FMA pipe; ISETP
    assert (pipes["fma"]["slots"], pipes["fma"]["cycles"]) == (3, 3 / 4), pipes
    assert (pipes["fmaheavy"]["slots"], pipes["fmaheavy"]["cycles"]) == (2, 1), pipes
    assert (pipes["alu"]["slots"], pipes["alu"]["cycles"]) == (1, 2 / 4), pipes
    assert (pipes["lsu"]["slots"], pipes["lsu"]["cycles"]) == (2, 2), pipes
    # Each load is one request of at least a cycle; its address depends on the load before.
    loads = [16 * (first + n) for n, (opcode, *_) in enumerate(loop) if opcode == LOAD]
    assert len(loads) == 2 and pipes["L1 and shared memory"]["slots"] == 2, pipes
    assert [wait["setter"]["offset"] for wait in hot["chain"]] == loads, hot
    assert hot["chain"][1]["waiter"]["text"].startswith("FADD"), hot
    assert [wait["setter"]["line"] for wait in hot["chain"]] == [INDEX, ELEMENT], hot
    for wait in hot["chain"]:
        setter, waiter = (code[wait[name]["offset"] // 16] for name in ("setter", "waiter"))
        assert wait["scoreboard"] == setter[3] and waiter[4] >> setter[3] & 1, wait
    # The line of the second load waits for the first one.
    waits = next(line for line in launch["source"] if line["line"] == ELEMENT)["schedule"]["waits"]
    assert any(wait["line"] == INDEX and wait["for"] == "result" for wait in waits), waits


def main():
    parser = argparse.ArgumentParser()
    for name in ("nvcc", "vgpu"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = lambda name: os.path.join(folder, name)
        with open(path("chase.cu"), "w") as file:
            file.write(PROGRAM)
        compiler = [options.nvcc, "-arch=sm_90", "-lineinfo", "-cudart", "shared", path("chase.cu")]
        subprocess.run([*compiler, "-o", path("chase")], check=True)
        subprocess.run([*compiler, "-cubin", "-o", path("chase.cubin")], check=True)
        shown = subprocess.run(
            [options.vgpu, "--source", "--counters", path("counters"), "--", path("chase")],
            check=True, capture_output=True, text=True).stdout
        with open(path("counters")) as file:
            launch, = json.load(file)["launches"]
        with open(path("chase.cubin"), "rb") as file:
            check(launch, list(code_of(file.read())))
    for text in ("hot loop 0x", "20 iterations of a warp", "waits for scoreboard", "waits: "):
        assert text in shown, shown


if __name__ == "__main__":
    main()
