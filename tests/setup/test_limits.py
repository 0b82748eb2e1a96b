#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""scripts/limits refuses long lines, large generated files and long pages, with exceptions."""
import pathlib
import subprocess
import sys
import tempfile
import unittest

LIMITS = pathlib.Path(sys.argv.pop()) / "limits"
LONG = "word " * 21  # 105 columns


def check(files):
    """Exit status and output of scripts/limits on a checkout of these files."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            path = pathlib.Path(folder) / path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for command in ("init", "add ."):
            subprocess.run(["git", "-C", folder, *command.split()], check=True, capture_output=True)
        done = subprocess.run([sys.executable, LIMITS, "--source", folder], capture_output=True,
                              text=True)
        return done.returncode, done.stdout


class Limits(unittest.TestCase):
    def test_a_long_line_of_each_language(self):
        for path, line in {"a.cpp": f"// {LONG}", "a.cuh": f"int a = 1; // {LONG}",
                           "CMakeLists.txt": f"set(a {LONG})", "a.cmake": f"# {LONG}",
                           "a.py": f"a = 1  # {LONG}", "a.sh": f"echo {LONG}",
                           "Makefile": f"all:\n\techo {LONG}",
                           "page.md": f"# Page\n\n{LONG}\n",
                           "tool": f"#!/usr/bin/env python3\n# {LONG}"}.items():
            status, output = check({path: f"\n{line}\n" if path != "tool" else line})
            self.assertEqual(status, 1, path)
            self.assertIn("more than 100 columns", output)
            self.assertTrue(output.startswith(f"{path}:"), output)

    def test_apostrophes_of_a_comment_are_no_quotes(self):
        self.assertEqual(check({"a.hpp": f"// It's {LONG}that isn't shorter.\n"})[0], 1)

    def test_a_long_line_of_a_docstring(self):
        self.assertEqual(check({"a.py": f'"""A tool.\n\n{LONG}\n"""\n'})[0], 1)

    def test_what_cannot_be_broken(self):
        status, output = check({"a.cpp": f'auto a = "{LONG}";\nauto b = R"({LONG}\n{LONG})";\n',
                                "a.py": f'a = """{LONG}\n{LONG}"""\n', "a.hpp": "// " + 110 * "x",
                                "page.md": f"| {LONG} |\n```\n{LONG}\n```\n<!-- rows -->\n{LONG}\n"
                                           f"<!-- /rows -->\n    {LONG}\n", "rows.json": LONG})
        self.assertEqual((status, output.strip()), (0, ""))

    def test_a_large_generated_file(self):
        for path in ("results/gpu/rows.json", "docs/images/a.svg", "report.html"):
            status, output = check({path: 200_001 * "x"})
            self.assertEqual(status, 1, path)
            self.assertIn(f"{path}: 200001 bytes", output)
        self.assertEqual(check({"results/gpu/rows.json": 200_000 * "x"})[0], 0)

    def test_a_long_page_of_a_rung(self):
        self.assertEqual(check({"docs/ladder/r03.md": "a\n" * 60, "docs/a.md": "a\n" * 90})[0], 0)
        status, output = check({"docs/ladder/r03.md": "a\n" * 61})
        self.assertEqual((status, output.strip()), (1, "docs/ladder/r03.md: 61 lines, at most 60"))

    def test_outside_a_checkout(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([sys.executable, LIMITS, "--source", folder],
                                  capture_output=True, check=False)
            self.assertEqual(done.returncode, 77)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
