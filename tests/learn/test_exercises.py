# SPDX-License-Identifier: Apache-2.0
"""Exercises of the course: the given start fails, both right solutions pass, each wrong one fails
with its named mark, and each mark has a wrong one that fails it:
  test_exercises.py LADDER EXERCISE...

Wrong solutions are ours with the replacements of exercise.json.
"""
import concurrent.futures
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import time

LESSONS = pathlib.Path(__file__).resolve().parents[2] / "lessons"
AT_LEAST_WRONG = 5
FAILED = re.compile(r"^  FAIL  (.*?)  +", re.MULTILINE)


def check(ladder, exercise, text, limit):
    """Exit status, names of the failed marks, and the report of one solution."""
    with tempfile.TemporaryDirectory() as folder:
        own = pathlib.Path(folder) / exercise
        started = subprocess.run([ladder, "learn", exercise, "--dir", folder],
                                 capture_output=True,
                                 text=True,
                                 check=False)
        if started.returncode != 0:
            return started.returncode, [], started.stderr
        (own / "kernel.cu").write_text(text)
        result = subprocess.run(
            [ladder, "learn", exercise, "--dir", folder, "--check", "--limit",
             str(limit)],
            capture_output=True,
            text=True,
            check=False)
        return result.returncode, FAILED.findall(result.stdout), result.stdout + result.stderr


def solutions(folder, data):
    """(name, text, mark that must fail or None, text that the report must have)."""
    ours = (folder / "solution.cu").read_text()
    yield "start", (folder / "start.cu").read_text(), "", None
    yield "solution", ours, None, None
    yield "another", (folder / "another.cu").read_text(), None, None
    for wrong in data["wrong"]:
        text = ours
        for before, after in wrong["replace"]:
            if before not in text:
                raise SystemExit(f"{folder.name}: {wrong['name']}: solution.cu has no '{before}'")
            text = text.replace(before, after)
        yield wrong["name"], text, wrong["fails"], wrong.get("says")


def verdict(status, failed, report, mark, says):
    """None, or what is wrong with the marking."""
    if mark is None:
        return None if status == 0 else "fails"
    if status != 1:
        return f"exit status {status} instead of 1"
    if mark and failed[:1] != [mark]:
        return f"fails with {failed[:1]} instead of '{mark}'"
    if says and says not in report:
        return f"the report does not say '{says}'"
    return None


def main(ladder, *exercises):
    bad = 0
    for folder in sorted(LESSONS.glob("[0-9][0-9]_*")):
        if exercises and folder.name[:2] not in exercises and folder.name not in exercises:
            continue
        data = json.loads((folder / "exercise.json").read_text())
        if len(data["wrong"]) < AT_LEAST_WRONG:
            print(f"{folder.name}: has only {len(data['wrong'])} wrong solutions")
            bad += 1
        shown = {wrong["fails"] for wrong in data["wrong"]}
        for mark in data["marks"]:
            if mark["name"] not in shown:
                print(f"{folder.name}: no wrong solution fails '{mark['name']}'")
                bad += 1
        with concurrent.futures.ThreadPoolExecutor(2) as pool:

            def one(solution, folder=folder):
                name, text, mark, says = solution
                begin = time.monotonic()
                # What never ends is given less time.
                status, failed, report = check(ladder, folder.name, text,
                                               8 if mark == "ends" else 60)
                return name, verdict(status, failed, report, mark,
                                     says), failed, report, time.monotonic() - begin

            for name, wrong, failed, report, seconds in pool.map(one, solutions(folder, data)):
                print(
                    f"{folder.name}: {name}: {wrong or 'as it should'} ({', '.join(failed) or 'passed'}, {seconds:.1f} s)"
                )
                if wrong:
                    print(report)
                    bad += 1
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
