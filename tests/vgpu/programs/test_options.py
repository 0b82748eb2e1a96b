# SPDX-License-Identifier: Apache-2.0
"""test_options.py VGPU PROGRAM: odd values of vgpu's options and a full disk at its output, each
told in one line."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

VGPU, PROGRAM = sys.argv[1:3]
REFUSED = {
    "--device": ["", "-1", "abacus", "h200:", "h200:-1", "h200:99999999999999999999", "\x1b[31m"],
    "--engine": ["", "-1", "fast", "\x1b[31m"],
    "--blas": ["", "cublas", "\x1b[31m"],
    "--check": ["", "everything", "race,none", "none,all", "\x1b[31m"],
    "--counters": ["", "/no/such/folder/x.json", "/"],
    "--kernel": ["", "(", "(" * 50_000, "[z-a]", "a{1000}{1000}", "(?=x)", "*\x1b[31m"],
    "--launch-skip": ["", "-1", "1e3", "nan", " 1", "9" * 40, "0x1"],
    "--launch-count": ["", "-1", "0", "1.5", "9" * 40],
    "--sample-blocks": ["", "-1", "0", "x", "9" * 40],
    "--threads": ["", "-1", "0", "1025", "9" * 40, "nan"],
    "--numerics": ["", "double"],
    "--schedule": ["", "random:", "random:-1", "random:x", "late", "random:" + "9" * 40],
}


def vgpu(*arguments, **keywords):
    return subprocess.run([VGPU, *arguments], stderr=subprocess.PIPE, timeout=60, check=False,
                          **{"stdout": subprocess.DEVNULL, **keywords})


class Options(unittest.TestCase):
    def test_odd_values_name_the_option(self):
        for option, values in REFUSED.items():
            for value in values:
                with self.subTest(option=option, value=value[:40]):
                    result = vgpu(option, value, "/bin/true")
                    errors = result.stderr.decode(errors="replace")
                    self.assertEqual(result.returncode, 2, errors[:300])
                    self.assertIn(option, errors)
                    self.assertEqual(errors.count("\n"), 1)
                    self.assertNotIn("\x1b", errors)

    def test_a_program_here_is_named_with_its_folder(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "hello-here").touch()
            result = vgpu("hello-here", cwd=folder)
            self.assertEqual((result.returncode, result.stderr),
                             (127, b"vgpu: hello-here: is not in PATH; ./hello-here is here\n"))
            self.assertEqual(vgpu("hello-there", cwd=folder).stderr,
                             b"vgpu: hello-there: no such program\n")

    def test_an_option_is_given_once(self):
        result = vgpu("--device", "h200", "--device", "h100", "/bin/true")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(result.stderr, b"vgpu: --device: is given 2 times\n")

    def test_no_file_that_is_written_is_another_of_the_run(self):
        for former, option, file in (("--junit", "--sarif", "report"),
                                     ("--junit", "--counters", "./report"),
                                     ("--baseline", "--counters", "report")):
            result = vgpu(former, "report", option, file, "/bin/true")
            self.assertEqual(result.returncode, 2)
            self.assertEqual(result.stderr.decode(),
                             f"vgpu: {option}: {file}: is the file of {former}, too\n")
        result = vgpu("--junit", "/dev/stderr", "/bin/true")  # here a pipe
        self.assertEqual(result.stderr,
                         b"vgpu: --junit: cannot write /dev/stderr: not a regular file\n")
        result = vgpu("--sarif", "/bin/true", "/bin/true")
        self.assertEqual(result.stderr, b"vgpu: --sarif: /bin/true: is the file of PROGRAM, too\n")

    def test_openblas_has_the_kernels_of_avx512(self):
        """An older OpenBLAS takes newer processors for ones without it."""
        flags = pathlib.Path("/proc/cpuinfo").read_text().split()
        own = {name: value for name, value in os.environ.items() if name != "OPENBLAS_CORETYPE"}
        chosen = ["SkylakeX"] if {"avx512dq", "avx512bw", "avx512vl"} <= set(flags) else []
        for given, core in (({}, chosen), ({"OPENBLAS_CORETYPE": "Haswell"}, ["Haswell"])):
            lines = vgpu("env", env=own | given, stdout=subprocess.PIPE).stdout.decode().split("\n")
            name = "OPENBLAS_CORETYPE="
            self.assertEqual([x[len(name):] for x in lines if x.startswith(name)], core)

    def test_what_cannot_be_printed_is_no_success(self):
        for arguments in (["--help"], ["--version"], ["--list-instructions"], ["--print", PROGRAM]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                result = vgpu(*arguments, stdout=full)
                self.assertEqual(result.returncode, 126, result)
                self.assertIn(b"vgpu: standard output: ", result.stderr)

    def test_the_list_of_instructions_has_their_classes(self):
        known = json.loads(vgpu("--list-instructions", "--json", stdout=subprocess.PIPE).stdout)
        sass = {row["name"]: row for row in known["sass"]}
        self.assertEqual(
            sass["FFMA"], {
                "name": "FFMA", "class": "ffma", "executed": True, "measured": True,
                "opcodes": [0x23 | form << 9 for form in range(1, 8)]
            })
        self.assertEqual([sass["IMMA"]["executed"], sass["USGXT"]["executed"]], [True, False])
        self.assertEqual(sass["UIADD3"]["class"], "other", "the uniform datapath has no class")
        self.assertEqual([sass["S2UR"]["class"], sass["LDS"]["class"]], ["misc", "load"])
        self.assertEqual(sass["UTMALDG"]["class"], "bulk load")
        ptx = {row.pop("name"): row for row in known["ptx"]}
        self.assertEqual([ptx["add"], ptx["wgmma"]], 2 * [{"executed": True, "measured": True}])
        self.assertEqual(ptx["brkpt"], {"executed": False, "measured": False})
        self.assertEqual(vgpu("--json", PROGRAM).returncode, 2)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
