# SPDX-License-Identifier: Apache-2.0
"""ladder under the limits of a process: test_limits.py LADDER."""
import resource
import subprocess
import sys
import unittest

LADDER = sys.argv[1]


def run(*arguments, limit, value):
    def apply():
        resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))
    return subprocess.run([LADDER, *arguments], capture_output=True, text=True, preexec_fn=apply)


class Limits(unittest.TestCase):
    def test_address_space(self):
        for arguments in (["list"],
                          ["verify", "r01", "--device", "virtual:h200", "--shape", "32x32x32"]):
            result = run(*arguments, limit=resource.RLIMIT_AS, value=2 << 30)
            self.assertEqual(result.returncode, 0, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
