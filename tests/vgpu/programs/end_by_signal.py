# SPDX-License-Identifier: Apache-2.0
"""How a program ends that vgpu runs: with vgpu, whatever ends that, and with 128 and the number of
a signal.

end_by_signal.py VGPU PROGRAM    (the program says its process id and waits)
"""
import os
import signal
import subprocess
import sys
import time

PATIENCE_S = 30


def is_running(process):
    """A zombie has ended; whoever adopted it may not have looked yet."""
    try:
        with open(f"/proc/{process}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def start(command):
    started = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    return started, int(started.stdout.readline())


def main():
    command = sys.argv[1:]
    problems = []
    for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGSEGV):
        vgpu, program = start(command)
        vgpu.send_signal(number)
        status = vgpu.wait(PATIENCE_S)
        forwarded = number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
        if status != (128 + number if forwarded else -number):
            problems.append(f"signal {number} to vgpu: exit status {status}")
        deadline = time.monotonic() + PATIENCE_S
        while is_running(program) and time.monotonic() < deadline:
            time.sleep(0.01)
        if is_running(program):
            os.kill(program, signal.SIGKILL)
            problems.append(f"signal {number} to vgpu: the program runs on")
    for number in (signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR2):
        vgpu, program = start(command)
        os.kill(program, number)
        status = vgpu.wait(PATIENCE_S)
        if status != 128 + number:
            problems.append(f"signal {number} to the program: exit status {status}")
    print("\n".join(problems))
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
