# SPDX-License-Identifier: Apache-2.0
"""Odd values for every option of every verb that --help lists: each ends with a documented status
and one line that names the option, never by a signal."""
import concurrent.futures
import itertools
import os
import pathlib
import re
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import LADDER, Folder

STATUSES = {0, 1, 2}
BARE = re.compile(
    r"stoi|stol|stoul|stod|stof|out_of_range|basic_string|invalid argument|what\(\)|terminate|regex_error"
)
NUMBERS = [
    "-1", "nan", "-nan", "inf", "1e999", "9" * 60, "5junk", " 5", "5 ", "+5", "0x10", "--", "1,5",
    "5\n"
]
# Valid values of these options.
SIGNED = {("explain", "--beta")}
TEXTS = [
    "-1", "\x1b[31m\x9b", "a" * 100_000, "[" * 50_000, "(" * 50_000, "%s%n", "../../..", "\n", "--",
    "=", "0", "nan", "/", "{}", "[]", "\udcff"
]
# Each option gets this many of the values above, different from those of the previous option; all
# of them with LADDER_ALL_ODD_VALUES, which takes minutes.
AT_ONCE = 100 if "LADDER_ALL_ODD_VALUES" in os.environ else 3
# Additional arguments of each verb that keep it short: a device that does not exist stops it.
NEEDED = {
    "diff": ["r01", "r02"], "explain": ["r01"], "new": ["r99"], "profile": ["r99"],
    "report": ["/no/such/rows.json"], "run": ["/no/such/file.cu"], "show": ["r99"], "tune": ["r09"]
}


def run(*arguments):
    return subprocess.run([LADDER, *arguments], capture_output=True, timeout=120, check=False,
                          stdin=subprocess.DEVNULL, env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})


def verbs():
    text = run("--help").stdout.decode()
    return re.findall(r"^  ([a-z]+)  +\S", text[text.index("Subcommands:"):], re.M)


def options(verb):
    """[(names, takes a value, is a number)] of the verb's --help."""
    found = []
    for line in run(verb, "--help").stdout.decode().splitlines():
        match = re.match(r"  (-[-a-z,A-Z]+)(?: (TEXT|INT|FLOAT)\b)?", line)
        if match and "--help" not in line:
            found.append((match[1].split(","), match[2] is not None, match[2] in ("INT", "FLOAT")))
    return found


class OddValues(Folder):
    def check(self, verb, names, value, result, refused):
        errors = result.stderr.decode(errors="replace")
        about = f"ladder {verb} {names[0]} {value[:40]!r}: {result.returncode}\n{errors[:400]}"
        if result.returncode not in STATUSES:
            return about
        if BARE.search(errors.replace(value, "")) or (errors and not errors.startswith("ladder: ")):
            return about
        if errors.count("\n") > 1 or "\x1b" in errors:
            return about
        if refused and (result.returncode != 2 or not any(name in errors for name in names)):
            return about
        return None

    def test_every_option_of_every_verb(self):
        found = verbs()
        self.assertGreater(len(found), 8)
        cases, numbers, texts = [], itertools.cycle(NUMBERS), itertools.cycle(TEXTS)
        for verb in found:
            listed = options(verb)
            stop = ["--device", "no-such-device"] if any("--device" in names
                                                         for names, _, _ in listed) else []
            for names, takes_value, number in listed:
                if not takes_value:
                    continue
                for name in names:
                    cases.append((verb, names, "", [verb, *NEEDED.get(verb, []), name, ""], True))
                name = names[0]
                values = min(AT_ONCE, len(NUMBERS if number else TEXTS))
                for value in itertools.islice(numbers if number else texts, values):
                    valid = (verb, name) in SIGNED and value == "-1"
                    others = [] if name == "--device" else stop
                    cases.append(
                        (verb, names, value, [verb, *NEEDED.get(verb, []), name, value,
                                              *others], number and not valid and value != "--"))
        self.assertGreater(len(cases), 150)

        def one(case):
            verb, names, value, arguments, refused = case
            try:
                result = subprocess.run([LADDER, *arguments], capture_output=True, timeout=120,
                                        check=False, stdin=subprocess.DEVNULL, cwd=self.folder.name)
            except subprocess.TimeoutExpired:
                return f"{arguments}: takes too long"
            return self.check(verb, names, value, result, refused)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [text for text in pool.map(one, cases) if text]
        self.assertEqual(wrong, [], "\n".join(wrong[:20]))

    def test_odd_verbs(self):
        for value in ["", "-1", "\x1b[31m", "a" * 100_000, "--", "climb "]:
            result = run(value)
            self.assertEqual(result.returncode, 2, value[:20])
            self.assertNotIn(b"\x1b", result.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:])
