# SPDX-License-Identifier: Apache-2.0
"""bench/vgpu/programs.py on programs of known outcome, with vgpu itself.

usage: test_program_table.py VGPU PRINT RACE UNSUPPORTED
"""
import csv
import os
import subprocess
import sys
import tempfile

VGPU, PRINT, RACE, UNSUPPORTED = (os.path.abspath(path) for path in sys.argv[1:5])
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench/vgpu/programs.py")
COLUMNS = ("program", "repository", "commit", "folder", "command", "right", "note", "options")


def row(name, command, right, options=""):
    return (name, "us/ours", "0", ".", command, right, "", options)


def run(folder, rows, *arguments):
    with open(os.path.join(folder, "list.csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])
    table = os.path.join(folder, "table.csv")
    status = subprocess.run([sys.executable, SCRIPT, "list.csv", "--vgpu", VGPU, "--table", table,
                             "--seconds", "20", *arguments], cwd=folder, check=False).returncode
    with open(table, newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return status, {line["program"]: line for line in csv.DictReader(lines)}


def check(table, name, outcome, cause=""):
    found = table[name]
    assert found["outcome"] == outcome, found
    assert cause in found["cause"], found
    assert float(found["seconds"]) >= 0


def main():
    right = [
        row("by status", PRINT, "exit"),
        row("by text", PRINT, "after"),
        row("without a text", PRINT, "!wrong"),
        row("by engines", PRINT, "engines"),
        row("race", RACE, "exit"),
        row("race unchecked", RACE, "exit", "--check none"),
        row("refused", f"sh -c '{UNSUPPORTED}; exit 3'", "exit"),
        row("endless", "sh -c 'while :; do :; done'", "exit"),
    ]
    with tempfile.TemporaryDirectory() as folder:
        status, table = run(folder, right, "--seconds", "2")
        assert status == 0, status
        for name in ("by status", "by text", "without a text", "by engines", "race unchecked"):
            check(table, name, "right")
        assert table["by engines"]["judge"] == "engines"
        check(table, "race", "finding", "race: ")
        check(table, "refused", "refused", "cudaArrayGetSparseProperties is not implemented")
        check(table, "endless", "late")

        # Rows stay until their program runs again.
        wrong = [
            row("by status", "false", "exit"),
            row("by text", PRINT, "no such text"),
            row("crash", "sh -c 'kill -SEGV $$'", "exit"),
        ]
        status, table = run(folder, wrong, "--missing")
        assert status == 1, status
        check(table, "by status", "right")
        check(table, "crash", "wrong", "exit status 139")
        status, table = run(folder, wrong, "--only", "^by")
        assert status == 1, status
        check(table, "by status", "wrong", "exit status 1")
        check(table, "by text", "wrong")
        check(table, "race", "finding")
        status, table = run(folder, right, "--outcome", "wrong")
        check(table, "by status", "right")
        check(table, "crash", "wrong")


main()
