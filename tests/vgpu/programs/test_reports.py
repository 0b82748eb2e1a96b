# SPDX-License-Identifier: Apache-2.0
"""test_reports.py VGPU TWO_LAUNCHES FAULTS RACE STATUS: what vgpu writes for CI systems: JUnit,
SARIF, annotations, and the comparison with a baseline."""
import json
import os
import re
import resource
import sys
import unittest
import xml.etree.ElementTree as ElementTree

import vgpu_command

VGPU, TWO_LAUNCHES, FAULTS, RACE, STATUS = sys.argv[1:6]
SARIF_SCHEMA = os.environ.get("SARIF_SCHEMA")  # the OASIS standard's file, where there is one
GREW, FIRED, NOT_WRITTEN = 87, 86, 74


class Reports(vgpu_command.InFolder):
    def setUp(self):
        super().setUp()
        self.environment = vgpu_command.environment()

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)

    def vgpu(self, *arguments, status=0, **keywords):
        result = vgpu_command.run(VGPU, *arguments, cwd=self.folder, env=self.environment,
                                  **keywords)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def sarif(self, name):
        log = json.loads(self.read(name))
        if SARIF_SCHEMA:
            import jsonschema
            with open(SARIF_SCHEMA, encoding="utf-8") as file:
                schema = json.load(file)
            jsonschema.validators.validator_for(schema)(schema).validate(log)
        self.assertEqual((log["version"], len(log["runs"])), ("2.1.0", 1))
        run = log["runs"][0]
        rules = run["tool"]["driver"]["rules"]
        self.assertEqual(len({rule["id"] for rule in rules}), len(rules))
        for rule in rules:
            self.assertTrue(rule["shortDescription"]["text"] and rule["help"]["text"], rule)
            self.assertEqual(rule["defaultConfiguration"]["level"], "error")
        for result in run["results"]:
            self.assertEqual(rules[result["ruleIndex"]]["id"], result["ruleId"])
            place = result["locations"][0]["physicalLocation"]["artifactLocation"]
            self.assertEqual("uriBaseId" not in place, place["uri"].startswith("file:///"), place)
        self.assertTrue(run["originalUriBaseIds"]["SRCROOT"]["uri"].endswith("/"))
        return run

    def test_a_finding_has_rule_file_and_line_in_each_form(self):
        source = os.path.dirname(os.path.abspath(__file__))
        self.environment["GITHUB_WORKSPACE"] = os.path.dirname(source)
        result = self.vgpu("--junit", "j.xml", "--sarif", "s.sarif", "--github", FAULTS, "write",
                           status=FIRED)
        with open(os.path.join(source, "faults.cu"), encoding="utf-8") as file:
            line = 1 + next(i for i, text in enumerate(file) if "data[n + threadIdx.x] = 1" in text)

        found = self.sarif("s.sarif")["results"]
        self.assertEqual([f["ruleId"] for f in found], ["vgpu/out-of-bounds"])
        self.assertIn("write_past_end", found[0]["message"]["text"])
        location = found[0]["locations"][0]
        self.assertEqual(location["physicalLocation"], {
            "artifactLocation": {"uri": "programs/faults.cu", "uriBaseId": "SRCROOT"},
            "region": {"startLine": line}
        })
        self.assertIn("write_past_end", location["logicalLocations"][0]["fullyQualifiedName"])

        suites = ElementTree.fromstring(self.read("j.xml"))
        self.assertEqual(suites.get("failures"), "1")
        failure = suites.find(".//failure")
        self.assertEqual(failure.get("type"), "vgpu/out-of-bounds")
        self.assertIn(f"faults.cu:{line}", failure.text)

        annotation = [text for text in result.stderr.splitlines() if text.startswith("::error ")]
        self.assertEqual(len(annotation), 1)
        head = f"::error file=programs/faults.cu,line={line},title=vgpu%3A out of bounds::"
        self.assertEqual(annotation[0][:len(head)], head)
        self.assertIn("%0A", annotation[0])

    def test_without_findings_all_pass(self):
        result = self.vgpu("--junit", "j.xml", "--sarif", "s.sarif", "--github", TWO_LAUNCHES)
        self.assertEqual(result.stderr, "")
        run = self.sarif("s.sarif")
        self.assertEqual((run["results"], run["invocations"][0]["exitCode"]), ([], 0))
        suites = ElementTree.fromstring(self.read("j.xml"))
        self.assertEqual((suites.get("tests"), suites.get("failures")), ("2", "0"))
        self.assertIn("race", [case.get("name") for case in suites.iter("testcase")][1])

    def test_the_programs_own_status_is_a_failure(self):
        self.vgpu("--junit", "j.xml", "--sarif", "s.sarif", STATUS, "5", status=5)
        self.assertEqual(
            ElementTree.fromstring(self.read("j.xml")).find(".//failure").get("message"),
            "exit status 5")
        self.assertEqual(self.sarif("s.sarif")["invocations"][0]["executionSuccessful"], False)

    def test_sources_outside_the_root_have_absolute_names(self):
        self.vgpu("--sarif", "s.sarif", RACE, status=FIRED)
        place = self.sarif("s.sarif")["results"][0]["locations"][0]["physicalLocation"]
        self.assertRegex(place["artifactLocation"]["uri"], "^file:///.*race")

    def baseline(self):
        return json.loads(self.read("b.json"))

    def test_a_baseline_is_written_and_met(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)
        self.assertEqual([launch["kernel"] for launch in self.baseline()["launches"]],
                         ["fill(int*)"] + 2 * ["total(int const*, int, int*)"])
        result = self.vgpu("--baseline", "b.json", "--junit", "j.xml", TWO_LAUNCHES)
        self.assertRegex(result.stderr, r"^3 launches and \d\d+ values compared .*: 0 worse, 0 better")
        self.assertEqual(ElementTree.fromstring(self.read("j.xml")).get("tests"), "3")

    def change(self, change):
        baseline = self.baseline()
        change(baseline["launches"])
        self.write("b.json", json.dumps(baseline))

    def test_what_grew_is_a_table_and_a_failure(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)
        stores = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"

        def fewer(launches):
            self.assertEqual(launches[0]["metrics"][stores], 1200)
            launches[0]["metrics"][stores] = 1000

        self.change(fewer)
        result = self.vgpu("--baseline", "b.json", "--sarif", "s.sarif", "--junit", "j.xml",
                           "--github", TWO_LAUNCHES, status=GREW)
        self.assertRegex(result.stderr, rf"fill\(int\*\) \(launch 0\)\n +{stores} +1000 +1200 +\+20.0%")
        self.assertIn(" 1 worse, 0 better", result.stderr)
        self.assertIn("::error file=b.json,title=vgpu%3A counters grew::fill", result.stderr)
        self.assertEqual([found["ruleId"] for found in self.sarif("s.sarif")["results"]],
                         ["vgpu/counters-grew"])
        self.assertEqual(ElementTree.fromstring(self.read("j.xml")).get("failures"), "1")
        self.vgpu("--baseline", "b.json", "--tolerance", "19.9", TWO_LAUNCHES, status=GREW)
        result = self.vgpu("--baseline", "b.json", "--tolerance", "20", TWO_LAUNCHES)
        self.assertIn("0 worse (tolerance 20%)", result.stderr)

    def test_less_occupancy_is_worse(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", STATUS, "0")
        warps = "sm__maximum_warps_avg_per_active_cycle"

        def more(launches):
            launches[0]["metrics"][warps] += 8

        self.change(more)
        errors = self.vgpu("--baseline", "b.json", STATUS, "0", status=GREW).stderr
        self.assertRegex(errors, rf"nothing\(\) \(launch 0\)\n +{warps} +\d+ +\d+ +-")

    def test_less_is_no_failure(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)

        def more(launches):
            launches[0]["metrics"]["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] += 7

        self.change(more)
        self.assertIn("0 worse, 1 better", self.vgpu("--baseline", "b.json", TWO_LAUNCHES).stderr)

    def test_missing_and_new_launches_are_told(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)

        def rename(launches):
            launches[0]["kernel"] = "empty(int*)"
            del launches[2]

        self.change(rename)
        errors = self.vgpu("--baseline", "b.json", TWO_LAUNCHES, status=GREW).stderr
        self.assertRegex(errors, r"fill\(int\*\) \(launch 0\)\n +launch +none +new")
        self.assertRegex(errors, r"total.* \(launch 1\)\n +launch +none +new")
        self.assertRegex(errors, r"empty\(int\*\) \(launch 0\)\n +launch +1 +missing")

    def test_another_device_or_engine_is_not_compared_in_silence(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)
        errors = self.vgpu("--device", "a100", "--baseline", "b.json", TWO_LAUNCHES,
                           status=GREW).stderr
        self.assertRegex(errors, r"\n +device +h200 +a100")
        self.assertIn(" launches and 0 values compared ", errors)
        # Under --sample-blocks all sums are estimates, and the program's result is wrong.
        self.vgpu("--sample-blocks", "6", "--baseline", "b.json", TWO_LAUNCHES, status=1)

    def test_estimates_are_compared_where_asked_for(self):
        self.vgpu("--baseline", "b.json", "--update-baseline", TWO_LAUNCHES)
        errors = self.vgpu("--baseline", "b.json", "--estimates", TWO_LAUNCHES, status=2).stderr
        self.assertIn("b.json: has no estimates; --update-baseline --estimates writes", errors)
        self.vgpu("--baseline", "b.json", "--update-baseline", "--estimates", TWO_LAUNCHES)

        def fewer(launches):
            launches[0]["estimates"]["smsp__inst_executed.sum"] -= 1

        self.change(fewer)
        self.vgpu("--baseline", "b.json", TWO_LAUNCHES)
        self.vgpu("--baseline", "b.json", "--estimates", TWO_LAUNCHES, status=GREW)

    def test_a_failed_run_leaves_the_baseline(self):
        self.write("b.json", "former")
        for program, status in (([STATUS, "3"], 3), ([RACE], FIRED)):
            errors = self.vgpu("--baseline", "b.json", "--update-baseline", *program,
                               status=status).stderr
            self.assertIn("the baseline is as it was", errors)
        errors = self.vgpu("--baseline", "b.json", "--update-baseline", "/bin/true",
                           status=NOT_WRITTEN).stderr
        self.assertIn("did not use the virtual GPU; the baseline is as it was", errors)
        errors = self.vgpu("--baseline", "b.json", "--update-baseline", "--kernel", "no_such",
                           TWO_LAUNCHES, status=NOT_WRITTEN).stderr
        self.assertIn("--launch-count leave none of the 3 launches", errors)
        self.assertIn("no launch was recorded; the baseline is as it was", errors)
        self.assertEqual(self.read("b.json"), "former")

    def test_a_wrong_baseline_is_refused_before_the_program_runs(self):
        for text, rule in (("{", "not JSON: parse error at line 1, column 2"),
                           ("[]", "no counters file"),
                           ('{"devices": ["h200"], "launches": [{}]}', "launch 0 has no kernel"),
                           ('{"devices": [1], "launches": []}', "no list of texts")):
            self.write("b.json", text)
            errors = self.vgpu("--baseline", "b.json", STATUS, "5", status=2).stderr
            self.assertIn("--baseline: b.json: ", errors)
            self.assertIn(rule, errors)
        errors = self.vgpu("--baseline", "none.json", STATUS, "5", status=2).stderr
        self.assertIn("--baseline: cannot read none.json: No such file or directory", errors)
        errors = self.vgpu("--baseline", ".", STATUS, "5", status=2).stderr
        self.assertIn("--baseline: cannot read .: Is a directory", errors)
        errors = self.vgpu("--baseline", "/dev/zero", STATUS, "5", status=2).stderr
        self.assertIn("--baseline: cannot read /dev/zero: Operation not supported", errors)

    def test_files_that_cannot_be_written_are_refused_or_left_as_they_were(self):
        for option in ("--junit", "--sarif"):
            for name, rule in (("/no/such/x", "No such file or directory"),
                               ("/", "not a regular file"), ("/dev/full", "not a regular file")):
                errors = self.vgpu(option, name, STATUS, "0", status=2).stderr
                self.assertEqual(errors, f"vgpu: {option}: cannot write {name}: {rule}\n")
        for arguments in (["--junit", "f"], ["--sarif", "f"],
                          ["--baseline", "f", "--update-baseline"]):
            self.write("f", "former")
            errors = self.vgpu(*arguments, TWO_LAUNCHES, status=NOT_WRITTEN,
                               preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE,
                                                                     (300, 300))).stderr
            self.assertRegex(errors, "cannot write .*File too large.* as it was")
            self.assertEqual(self.read("f"), "former")
            self.assertEqual(os.listdir(self.folder), ["f"])

    def test_a_symbolic_link_stays_one(self):
        self.write("target.xml", "")
        os.symlink("target.xml", self.path("link.xml"))
        self.vgpu("--junit", "link.xml", STATUS, "0")
        self.assertTrue(os.path.islink(self.path("link.xml")))
        self.assertIn("testsuites", self.read("target.xml"))

    def test_options_belong_together(self):
        for arguments in (["--tolerance", "5"], ["--estimates"], ["--update-baseline"]):
            self.assertIn("--baseline", self.vgpu(*arguments, STATUS, "0", status=2).stderr)
        for value in ("-1", "x", "1001", "nan", "5%"):
            errors = self.vgpu("--baseline", "b.json", "--tolerance", value, STATUS, "0",
                               status=2).stderr
            self.assertRegex(errors, "^vgpu: --tolerance: '.*': percent, a number from 0 to 1000")

    def test_odd_names_stay_whole(self):
        program = self.path("a <&\"'%,: b")
        os.symlink(FAULTS, program)
        result = self.vgpu("--junit", "j.xml", "--sarif", "s.sarif", "--github", program, "freed",
                           status=FIRED)
        suites = ElementTree.fromstring(self.read("j.xml"))
        self.assertEqual(suites.find("testsuite").get("name"), f"{program} freed")
        self.sarif("s.sarif")
        self.assertEqual(len(re.findall("^::error ", result.stderr, re.MULTILINE)), 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[6:])
