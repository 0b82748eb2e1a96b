# SPDX-License-Identifier: Apache-2.0
"""Programs under the limits of a process: limits.py VGPU VECTOR_ADD LIMITS FAULTS (programs of this
folder)."""
import re
import resource
import sys
import tempfile
import unittest

import vgpu_command

VGPU, VECTOR_ADD, LIMITS = sys.argv[1:4]
MB = 1 << 20


def run(*command, limits=(), **settings):
    def apply():
        for limit, value in limits:
            resource.setrlimit(limit, (value, resource.getrlimit(limit)[1]))

    return vgpu_command.run(*command, env=vgpu_command.environment(**settings), preexec_fn=apply)


class Limits(unittest.TestCase):
    def silent(self, *command, **options):
        result = run(*command, **options)
        self.assertEqual((result.returncode, result.stderr), (0, ""))

    def test_address_space(self):
        for size in (2048, 512):
            self.silent(VGPU, "--", VECTOR_ADD, limits=[(resource.RLIMIT_AS, size * MB)])
            self.silent(VGPU, "--check", "all", "--", VECTOR_ADD,
                        limits=[(resource.RLIMIT_AS, size * MB)])

    def test_data_segment(self):
        self.silent(VGPU, "--", VECTOR_ADD, limits=[(resource.RLIMIT_DATA, 256 * MB)])

    def test_no_room_has_a_name(self):
        for limit, name in ((resource.RLIMIT_AS, "ulimit -v"), (resource.RLIMIT_DATA, "ulimit -d")):
            result = run(VGPU, "--", LIMITS, limits=[(limit, 1024 * MB)])
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(
                len(re.findall(f"vgpu: out of memory: .*{name}.* leaves room for", result.stderr)),
                1)

    @unittest.skipUnless(
        resource.getrlimit(resource.RLIMIT_STACK)[1] == resource.RLIM_INFINITY,
        "stacks are limited")
    def test_no_more_threads(self):
        # A thread's stack is as large as this limit, so that no thread can be started.
        self.silent(VGPU, "--threads", "8", "--", VECTOR_ADD,
                    limits=[(resource.RLIMIT_STACK, 1 << 47)])

    def test_a_small_stack(self):
        self.silent(VGPU, "--", VECTOR_ADD, limits=[(resource.RLIMIT_STACK, 256 << 10)])

    def test_few_files(self):
        for files in (3, 4, 5, 6, 8):
            result = run(VGPU, "--", VECTOR_ADD, limits=[(resource.RLIMIT_NOFILE, files)])
            self.assertGreaterEqual(result.returncode, 0)
            if result.returncode != 0:
                self.assertRegex(result.stderr,
                                 "Too many open files|Error 24")  # the latter by the dynamic linker
        self.silent(VGPU, "--", VECTOR_ADD, limits=[(resource.RLIMIT_NOFILE, 16)])

    def test_no_temporary_folder(self):
        result = run(VGPU, "--", VECTOR_ADD, TMPDIR="/no/such/folder")
        self.assertEqual((result.returncode, result.stderr),
                         (126, "vgpu: TMPDIR: /no/such/folder: no folder\n"))

    def test_a_report_that_cannot_be_written_is_no_pass(self):
        with tempfile.TemporaryDirectory() as folder:
            report = folder + "/report"
            open(report, "w").close()
            # As on a full disk: a write beyond the limit fails with an error if the signal is
            # ignored.
            code = "import signal, sys, os; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
            result = run(sys.executable, "-c", code, VGPU, "--", sys.argv[4], "read",
                         limits=[(resource.RLIMIT_FSIZE, 0)], TMPDIR=folder)
            self.assertEqual(result.returncode, 86, result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
