# SPDX-License-Identifier: Apache-2.0
"""Who writes which counters file, and that what is there is never lost: processes.py VGPU PROGRAM
(processes.cu)."""
import glob
import json
import os
import resource
import sys
import unittest

import vgpu_command

VGPU, PROGRAM = sys.argv[1:3]


class CountersFiles(vgpu_command.InFolder):
    def run_vgpu(self, command, name="c.json", limit=None, options=()):
        before = (lambda: resource.setrlimit(*limit)) if limit else None
        return vgpu_command.run(VGPU, "--counters", name, *options, "--", *command,
                                cwd=self.folder, preexec_fn=before)

    def files(self):
        """Name -> numbers of blocks of its launches."""
        found = {}
        for path in glob.glob(self.folder + "/*"):
            with open(path) as file:
                found[os.path.basename(path)] = [
                    launch["grid"][0] for launch in json.load(file)["launches"]
                ]
        return found

    def test_one_process(self):
        result = self.run_vgpu([PROGRAM, "once"])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(self.files(), {"c.json": [1]})

    def test_without_launches(self):
        self.assertEqual(self.run_vgpu([PROGRAM, "idle"]).returncode, 0)
        self.assertEqual(self.files(), {"c.json": []})

    def test_a_program_of_the_host(self):
        result = self.run_vgpu(["true"])
        self.assertEqual((result.returncode, self.files()), (0, {}))
        self.assertIn("did not use the virtual GPU", result.stderr)

    def check_two(self, how, of_child):
        result = self.run_vgpu([PROGRAM, how])
        self.assertEqual(result.returncode, 0, result.stderr)
        files = self.files()
        self.assertEqual(files.pop("c.json"), [1, 2, 3])
        [(name, launches)] = files.items()
        self.assertRegex(name, r"^c\.json\.[0-9]+$")
        self.assertEqual(launches, of_child)
        self.assertIn(f"writes its counters to {self.folder}/{name}", result.stderr)

    def test_fork(self):
        self.check_two("fork", [7, 8])

    def test_fork_and_exec(self):
        self.check_two("exec", [1])

    def test_processes_of_a_shell(self):
        result = self.run_vgpu(["sh", "-c", f"'{PROGRAM}' fork && '{PROGRAM}' once"])
        self.assertEqual(result.returncode, 0, result.stderr)
        files = self.files()
        self.assertEqual(files.pop("c.json"), [1, 2, 3])
        self.assertEqual(sorted(files.values()), [[1], [7, 8]])

    def test_exec_in_one_process(self):
        self.assertEqual(self.run_vgpu([PROGRAM, "again"]).returncode, 0)
        self.assertEqual(sorted(self.files().values()), [[1], [1]])

    def test_process_ids(self):
        result = self.run_vgpu([PROGRAM, "fork"], "%p.json")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(self.files().values()), [[1, 2, 3], [7, 8]])

    def test_killed(self):
        self.assertEqual(self.run_vgpu([PROGRAM, "killed"]).returncode, 128 + 9)
        self.assertEqual(self.files(), {"c.json": [1, 2]})

    def test_a_file_that_cannot_be_written_stays_as_it_was(self):
        with open(self.folder + "/c.json", "w") as file:
            file.write('{"launches": [{"grid": [5]}]}')
        result = self.run_vgpu([PROGRAM, "once"], limit=(resource.RLIMIT_FSIZE, (512, 512)))
        self.assertEqual(result.returncode, 74, result.stderr)
        self.assertRegex(result.stderr,
                         "cannot write .*c.json.part: File too large; .*c.json is as it was")
        self.assertEqual(self.files(), {"c.json": [5]})

    def test_a_link_is_written_through(self):
        os.symlink("real.json", self.folder + "/c.json")
        self.assertEqual(self.run_vgpu([PROGRAM, "once"]).returncode, 0)
        self.assertTrue(os.path.islink(self.folder + "/c.json"))
        self.assertEqual(self.files()["real.json"], [1])

    def test_what_is_no_file_is_refused(self):
        for name, rule in (("/dev/null", "not a regular file"), (self.folder, "not a regular file"),
                           ("/no/such/folder/c", "No such file")):
            result = self.run_vgpu([PROGRAM, "once"], name)
            self.assertEqual(result.returncode, 2)
            self.assertIn(f"--counters: cannot write {name}: {rule}", result.stderr)

    def test_tables_of_all_processes(self):
        result = vgpu_command.run(VGPU, "--print", "--", PROGRAM, "fork")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(result.stdout.count("process "), 2, result.stdout)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
