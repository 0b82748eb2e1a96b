# SPDX-License-Identifier: Apache-2.0
"""test_findings.py VGPU FINDINGS: launches go on after what hardware would not stop for; each
finding is reported once, to the user and in the files for CI systems."""
import json
import os
import re
import sys
import tempfile
import time
import unittest

import vgpu_command

VGPU, FINDINGS = sys.argv[1:3]
FIRED = 86
RACE, READ = "race: ", "uninitialized read: "


class Findings(unittest.TestCase):
    def run_program(self, *arguments, status=FIRED, output="right\n", options=(), **settings):
        result = vgpu_command.run(VGPU, *options, "--", FINDINGS, *arguments,
                                  env=vgpu_command.environment(**settings))
        self.assertEqual((result.returncode, result.stdout), (status, output), result.stderr)
        return result.stderr

    def rules(self, *arguments, **keywords):
        """The rules of the results in the SARIF file, in their order, and what vgpu printed."""
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "found.sarif")
            errors = self.run_program(*arguments, options=("--sarif", path), **keywords)
            with open(path, encoding="utf-8") as file:
                results = json.load(file)["runs"][0]["results"]
        return [result["ruleId"] for result in results], errors

    def reports(self, errors):
        """The first lines of reports."""
        return re.findall(r"^vgpu: ((?:race|uninitialized read|out of bounds|barrier divergence): "
                          r".*)$", errors, re.M)

    def test_each_finding_is_reported_once_and_the_result_is_right(self):
        rules, errors = self.rules("both")
        self.assertEqual(rules, ["vgpu/race", "vgpu/uninitialized-read"])
        reports = self.reports(errors)
        self.assertEqual([report.startswith(kind) for report, kind in zip(reports, (RACE, READ))],
                         [True, True], errors)
        self.assertEqual(len(reports), 2)
        # Warp 1 stores what warp 0 has read, and reads what it has stored, in both launches.
        self.assertRegex(errors, r"vgpu: 2 findings, and how often each was found:\n"
                         r"vgpu: +128: race, kernel .*racy.*, at .*findings\.cu:\d+\n"
                         r"vgpu: +64: uninitialized read, kernel reads_ahead.*, at .*:\d+\n$")

    def test_the_same_in_every_run(self):
        first = self.run_program("both")
        for threads in ("1", "2", "7"):
            errors = self.run_program("both", options=("--threads", threads))
            self.assertEqual(re.sub("0x[0-9a-f]+", "", errors), re.sub("0x[0-9a-f]+", "", first))

    def test_with_fail_fast_the_first_ends_the_launch(self):
        for keywords in ({"options": ("--fail-fast",)}, {"VGPU_FAIL_FAST": "1"}):
            errors = self.run_program("both", output="", **keywords)
            self.assertIn("cudaErrorLaunchFailure", errors)
            self.assertEqual(len(self.reports(errors)), 1)
            self.assertNotIn("and how often each was found", errors)

    def test_no_finding_where_nothing_is_checked(self):
        self.assertEqual(self.run_program("both", status=0, options=("--check", "none")), "")

    def test_findings_of_several_threads_and_streams_are_one(self):
        rules, errors = self.rules("threads")
        self.assertEqual(rules, ["vgpu/race"])
        self.assertEqual(len(self.reports(errors)), 1)
        self.assertRegex(errors, "vgpu: 1 finding, and how often each was found:\nvgpu: +2048: race")

    def test_a_hundred_are_printed_and_all_are_in_the_files(self):
        rules, errors = self.rules("many")
        self.assertEqual(rules, 120 * ["vgpu/race"])
        self.assertEqual(len(self.reports(errors)), 100)
        self.assertTrue(errors.endswith(
            "vgpu: 20 more findings are not printed; --junit and --sarif have all\n"), errors)

    def test_millions_take_seconds(self):
        begin = time.monotonic()
        errors = self.run_program("often")
        self.assertLess(time.monotonic() - begin, 30)
        self.assertGreater(int(re.search(r" (\d+): race", errors).group(1)), 1_000_000)
        self.assertEqual(len(self.reports(errors)), 1)

    def test_a_lane_that_a_mask_does_not_name_goes_on(self):
        self.assertRegex(self.run_program("unnamed", options=("--engine", "ptx")),
                         "^vgpu: barrier divergence: .* mask 0x0000ffff does not name it")

    def test_a_fault_stays_one(self):
        rules, errors = self.rules("fault")
        self.assertEqual(rules, ["vgpu/race", "vgpu/out-of-bounds"])
        self.assertEqual([text[:4] for text in self.reports(errors)], ["race", "out "])

    def test_a_bad_setting_is_refused(self):
        errors = self.run_program("both", status=2, output="", VGPU_FAIL_FAST="yes")
        self.assertEqual(errors, "vgpu: VGPU_FAIL_FAST: 'yes': 0 or 1\n")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
