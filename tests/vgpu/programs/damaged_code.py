# SPDX-License-Identifier: Apache-2.0
"""A program whose machine code is damaged runs from PTX, or is refused: damaged_code.py VGPU
PROGRAM. The program's fat binary is not compressed."""
import os
import random
import struct
import sys
import unittest

import vgpu_command

VGPU, PROGRAM = sys.argv[1:3]
kCuda = 190  # e_machine of cubins


def cubin_of(program):
    """Where the machine code lies: begin, end."""
    at = program.find(b"\x7fELF", 1)
    while at >= 0:
        machine, = struct.unpack_from("<H", program, at + 0x12)
        if machine == kCuda:
            table, = struct.unpack_from("<Q", program, at + 0x28)
            size, count = struct.unpack_from("<HH", program, at + 0x3A)
            programs, = struct.unpack_from("<Q", program, at + 0x20)
            each, number = struct.unpack_from("<HH", program, at + 0x36)
            return at, at + max(table + size * count, programs + each * number)
        at = program.find(b"\x7fELF", at + 1)
    raise ValueError("no machine code")


class Damage(vgpu_command.InFolder):
    def setUp(self):
        super().setUp()
        self.path = self.folder + "/damaged"
        with open(PROGRAM, "rb") as file:
            self.program = bytearray(file.read())
        self.begin, self.end = cubin_of(self.program)

    def run_damaged(self, changes, *options):
        program = bytearray(self.program)
        for at, value in changes:
            program[at] = value
        with open(self.path, "wb") as file:
            file.write(program)
        os.chmod(self.path, 0o700)
        return vgpu_command.run(VGPU, *options, "--", self.path)

    def test_ptx_runs_instead(self):
        result = self.run_damaged([(self.begin + 0x28 + i, 0xFF) for i in range(8)])
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertRegex(
            result.stderr,
            "its machine code is damaged, PTX runs instead: cubin: the table of sections")

    def test_no_ptx_is_asked_for(self):
        result = self.run_damaged([(self.begin + 0x28 + i, 0xFF) for i in range(8)], "--engine",
                                  "sass")
        self.assertEqual(result.returncode, 1)
        self.assertIn("damaged machine code: cubin: the table of sections", result.stderr)

    def test_no_damage_ends_the_process(self):
        random.seed(12)
        for _ in range(40):
            changes = [(random.randrange(self.begin,
                                         self.end), random.choice((0, 1, 0x7F, 0x80, 0xFF)))
                       for _ in range(random.randrange(1, 6))]
            result = self.run_damaged(changes)
            self.assertIn(result.returncode, (0, 1, 86), f"{changes}: {result.stderr}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
