# SPDX-License-Identifier: Apache-2.0
"""The verb learn from outside: folders, progress, hints, solutions, marks of a class, and what confines a program."""
import csv
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import Folder, ladder

LESSONS = pathlib.Path(__file__).resolve().parents[2] / "lessons"


class Learn(Folder):

    def learn(self, *arguments, **keywords):
        return ladder("learn", *arguments, "--dir", self.folder.name, **keywords)

    def kernel(self, exercise="01_vector_add"):
        return pathlib.Path(self.path(exercise)) / "kernel.cu"

    def check(self, text, *arguments, exercise="01"):
        """Checks a program of the first exercise."""
        self.learn(exercise)
        self.kernel().write_text(text)
        return self.learn(exercise, "--check", *arguments)

    def solution(self):
        return (LESSONS / "01_vector_add" / "solution.cu").read_text()

    def test_lists_the_course(self):
        result = self.learn()
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(sum(line[:2].isdigit() for line in result.stdout.splitlines()),
                         len(list(LESSONS.glob("[0-9]*_*"))))
        self.assertIn("0 of", result.stdout)

    def test_names_what_is_wrong(self):
        self.rejected("learn", "99", "--dir", self.folder.name, says=["EXERCISE", "99"])
        self.rejected("learn", "01", "--check", "--dir", self.folder.name, says=["not begun"])
        self.rejected("learn", "--check", "--dir", self.folder.name, says=["EXERCISE"])
        self.rejected("learn", "01", "--csv", "x.csv", says=["--csv", "--mark"])
        self.rejected("learn", "--mark", self.path("nobody"), says=["--mark", "no such folder"])
        self.rejected("learn", "--mark", self.folder.name, says=["no exercise in it"])
        self.rejected("learn", "01", "--check", "--memory", "1", says=["--memory"])

    def test_never_replaces_the_learners_work(self):
        self.assertEqual(self.learn("1").returncode, 0)
        self.assertEqual(self.kernel().read_text(),
                         (LESSONS / "01_vector_add" / "start.cu").read_text())
        self.kernel().write_text("mine")
        again = self.learn("vector_add")
        self.assertEqual(again.returncode, 0, again)
        self.assertIn("stays as it is", again.stdout)
        self.assertEqual(self.kernel().read_text(), "mine")

    def test_hints_come_one_at_a_time_and_are_remembered(self):
        self.learn("01")
        for count in (1, 2, 3, 3):
            lines = self.learn("01", "--hint").stdout.splitlines()
            self.assertEqual(sum(line[:2] in ("1.", "2.", "3.") for line in lines), count)
        self.assertEqual(self.read("01_vector_add/progress.json")["hints"], 3)

    def test_progress_and_solution(self):
        failed = self.check((LESSONS / "01_vector_add" / "start.cu").read_text())
        self.assertEqual(failed.returncode, 1, failed)
        self.assertIn("failed: in bounds", self.learn("--progress").stdout)
        shown = self.learn("01", "--solution")
        self.assertIn("+  if (i >= count) return;", shown.stdout)
        passed = self.check(self.solution())
        self.assertEqual(passed.returncode, 0, passed)
        state = self.read("01_vector_add/progress.json")
        self.assertEqual((state["passed"], state["checks"], state["solution_shown"]),
                         (True, 2, True))
        self.assertIn("1 of", self.learn("--progress").stdout)

    def test_the_current_folder_tells_the_exercise(self):
        self.learn("01")
        self.kernel().write_text(self.solution())
        result = ladder("learn", "--check", cwd=self.path("01_vector_add"))
        self.assertEqual(result.returncode, 0, result)

    def test_in_an_exercise_the_others_are_beside_it(self):
        self.learn("01")
        here = self.path("01_vector_add")
        self.assertIn("vector_add", ladder("learn", "--progress", cwd=here).stdout)
        self.assertIn("[begun]", ladder("learn", cwd=here).stdout)
        self.assertEqual(ladder("learn", "02", cwd=here).returncode, 0)
        self.assertTrue(self.kernel("02_indices_2d").exists())

    def test_printf_of_a_kernel_is_shown(self):
        text = self.solution().replace(
            "  c[i] =", '  if (i == 0) printf("thread %d of %d\\n", i, count);\n  c[i] =')
        result = self.check("#include <cstdio>\n" + text)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("  | thread 0 of 1000", result.stdout)

    def test_writes_nowhere_else(self):
        victim = pathlib.Path(self.path("victim"))
        victim.write_text("whole")
        text = self.solution(
        ).replace("void launch(", '#include <cstdio>\n#include <cstdlib>\nvoid launch(').replace(
            "  const int threads",
            f'''  FILE* file = std::fopen("{victim}", "w");
  if (file != nullptr) std::fputs("broken", file), std::fclose(file);
  if (std::rename("{victim}", "{victim}.moved") == 0) std::abort();
  const int threads''')
        result = self.check(text)
        if "Landlock" in result.stderr:
            self.skipTest("this system has no Landlock")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(victim.read_text(), "whole")

    def test_limits_time_and_memory(self):
        forever = self.solution().replace(
            "  const int threads", "  for (volatile int i = 0;;) (void)i;\n  const int threads")
        result = self.check(forever, "--limit", "8")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("FAIL  ends", result.stdout)
        greedy = self.solution().replace(
            "  const int threads",
            '''  if (std::malloc(std::size_t{3} << 30) == nullptr) std::_Exit(7);
  const int threads''')
        result = self.check("#include <cstdlib>\n" + greedy, "--memory", "2048")
        self.assertIn("exit status 7", result.stdout)

    def test_a_program_that_ends_early_has_not_passed(self):
        result = self.check(
            "#include <cstdlib>\n" +
            self.solution().replace("  const int threads", "  std::_Exit(0);\n  const int threads"))
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("FAIL  ends", result.stdout)

    def test_marks_a_class(self):
        for name, text in (("ada", self.solution()), ("bob", "void nothing() {}\n")):
            folder = self.path(name)
            ladder("learn", "01", "--dir", folder)
            (pathlib.Path(folder) / "01_vector_add" / "kernel.cu").write_text(text)
        table = self.path("marks.csv")
        result = ladder("learn", "--mark", self.path("ada"), self.path("bob"), "--csv", table)
        self.assertEqual(result.returncode, 0, result)
        rows = list(csv.DictReader(pathlib.Path(table).read_text().splitlines()))
        self.assertEqual([(r["exercise"], r["result"], r["failed mark"]) for r in rows],
                         [("01_vector_add", "passed", ""), ("01_vector_add", "failed", "compiles")])
        self.assertEqual(rows[0]["marks passed"], rows[0]["marks"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[2:]])
