# SPDX-License-Identifier: Apache-2.0
"""bench/vgpu/programs.py on programs of known outcome, with vgpu itself. No GPU is here: programs
that use none stand for what one says.

usage: test_program_table.py VGPU PRINT RACE UNSUPPORTED FAULTS
"""
import csv
import os
import subprocess
import sys
import tempfile

VGPU, PRINT, RACE, UNSUPPORTED, FAULTS = (os.path.abspath(path) for path in sys.argv[1:6])
SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../bench/vgpu/programs.py")
COLUMNS = ("program", "repository", "commit", "folder", "command", "right", "note", "options")


def row(name, command, right, options=""):
    return (name, "us/ours", "0", ".", command, right, "", options)


def script(*arguments, folder):
    done = subprocess.run([sys.executable, SCRIPT, *arguments], cwd=folder, check=False,
                          stdout=subprocess.PIPE, text=True)
    print(done.stdout)
    return done


def write_list(folder, rows):
    with open(os.path.join(folder, "list.csv"), "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([COLUMNS, *rows])


def run(folder, rows, *arguments):
    write_list(folder, rows)
    done = script("run", "list.csv", "--runs", "runs", "--seconds", "5", *arguments, folder=folder)
    assert done.returncode == 0, done
    return done.stdout


def table(folder, rows, *arguments):
    write_list(folder, rows)
    done = script("table", "list.csv", "--runs", "runs", "--table", "table.csv", *arguments,
                  folder=folder)
    with open(os.path.join(folder, "table.csv"), newline="", encoding="utf-8") as file:
        lines = [line for line in file if not line.startswith("#")]
    return done, {line["program"]: line for line in csv.DictReader(lines)}


def check(found, outcome, cause="", gpu=""):
    assert (found["outcome"], found["gpu"]) == (outcome, gpu), found
    assert cause in found["cause"], found
    assert float(found["seconds"]) >= 0


def outcomes(folder):
    under_vgpu = ("--vgpu", f"{VGPU} --device h100", "--jobs", "2", "--cores", "1")
    rows = [
        row("by status", PRINT, "exit"),
        row("by text", PRINT, "after"),
        row("without a text", PRINT, "!wrong"),
        row("race", RACE, "exit"),
        row("race and another status", f"sh -c '{RACE}; exit 3'", "exit"),
        row("fault", f"{FAULTS} write", "exit"),
        row("race unchecked", RACE, "exit", "--check none"),
        row("refused", f"sh -c '{UNSUPPORTED}; exit 3'", "exit"),
        row("endless", "sh -c 'while :; do :; done'", "exit"),
        row("nobody knows", PRINT, "gpu"),
    ]
    run(folder, rows, *under_vgpu)
    done, found = table(folder, rows)
    assert done.returncode == 0, done
    for name in ("by status", "by text", "without a text", "race unchecked"):
        check(found[name], "right")
        assert found[name]["judge"] == "program"
    check(found["race"], "right", "race: ")
    check(found["race and another status"], "finding")
    check(found["fault"], "finding", "out of bounds: ")
    check(found["refused"], "refused", "cudaArrayGetSparseProperties is not implemented")
    check(found["endless"], "late")
    assert float(found["endless"]["seconds"]) >= 5
    assert "nobody knows" not in found  # no GPU said what is right

    wrong = [
        row("by status", "false", "exit"),
        row("by text", PRINT, "no such text"),
        row("with a text", PRINT, "!after"),
        row("crash", "sh -c 'kill -SEGV $$'", "exit"),
    ]
    assert table(folder, wrong)[1].keys() == {"by text"}  # other commands have not run
    ran = run(folder, wrong, *under_vgpu, "--missing")
    assert "by text" not in ran and "crash" in ran, ran
    done, found = table(folder, wrong)
    assert done.returncode == 1, done
    check(found["by status"], "wrong", "exit status 1")
    check(found["by text"], "wrong")
    check(found["with a text"], "wrong")
    check(found["crash"], "wrong", "exit status 139")


def against_a_gpu(folder):
    # One command, and a script that is replaced between the two runs.
    rows = [row(name, f"sh '{name}.sh'", right) for name, right in
            (("same", "gpu"), ("name", "gpu"), ("digits", "gpu"), ("times", "gpu"),
             ("number", "gpu"), ("words", "gpu"), ("more", "gpu"), ("fails alike", "gpu"),
             ("long", "gpu"), ("long and other", "gpu"), ("memory", "gpu"),
             ("sum of memory", "gpu"), ("in order", "gpu"), ("in any order", "lines"),
             ("other lines", "lines"),
             ("wrong on both", "exit"), ("wrong on the gpu", "exit"))]
    gpu = {"same": "sum 1", "name": "'on NVIDIA H100'", "digits": "sum 1.23456e3 of 7",
           "times": "took 3 ms", "number": "sum 1.5", "words": "sum 1 cold", "more": "one",
           "memory": "FreeMem: 81079MB", "sum of memory": "global memory: sum 3",
           "long": "GPU; seq 60000", "long and other": "GPU; seq 60000",
           "in order": "1; echo 2", "in any order": "1; echo 2", "other lines": "1; echo 2",
           "fails alike": "no; exit 3", "wrong on both": "no; exit 1",
           "wrong on the gpu": "no; exit 1"}
    here = gpu | {"name": "'on NVIDIA H100 (virtual)'", "digits": "sum 1.23457e3 of 7",
                  "times": "took 900 ms", "number": "sum 1.6", "words": "sum 1 warm",
                  "memory": "FreeMem: 7MB", "sum of memory": "global memory: sum 4",
                  "long": "'GPU (virtual)'; seq 60000",
                  "long and other": "'GPU (virtual)'; seq 59999; echo 7",
                  "in order": "2; echo 1", "in any order": "2; echo 1", "other lines": "2; echo 2",
                  "more": "one; echo two", "wrong on the gpu": "yes"}
    for texts, arguments in ((gpu, ()), (here, ("--vgpu", VGPU))):
        for name, text in texts.items():
            with open(os.path.join(folder, f"{name}.sh"), "w", encoding="utf-8") as file:
                file.write(f"echo {text}\n")
        run(folder, rows, *arguments)
    done, found = table(folder, rows, "--differences")
    assert done.returncode == 1, done
    for name in ("same", "name", "digits", "times", "long", "memory", "in any order"):
        check(found[name], "right", gpu="right")
        assert found[name]["judge"] == "gpu"
    check(found["fails alike"], "right", gpu="wrong")
    check(found["in order"], "wrong", "2 | 1", gpu="right")
    check(found["other lines"], "wrong", "2 | 1", gpu="right")
    check(found["number"], "wrong", "sum 1.6 | sum 1.5", gpu="right")
    check(found["words"], "wrong", "sum 1 warm | sum 1 cold", gpu="right")
    check(found["sum of memory"], "wrong", "sum 4 | global memory: sum 3", gpu="right")
    check(found["long and other"], "wrong", "7 | 60000", gpu="right")
    check(found["more"], "wrong", "2 lines | 1", gpu="right")
    check(found["wrong on both"], "wrong", gpu="wrong")
    check(found["wrong on the gpu"], "right", gpu="wrong")
    assert "wrong on the gpu: yes | no" in done.stdout, done.stdout
    # One ran again, on another machine without a GPU; another is not in the list.
    os.unlink(os.path.join(folder, "runs/us_ours_wrong_on_the_gpu.gpu.json"))
    run(folder, [row("wrong on the gpu", "sh 'words.sh'", "exit")], "--vgpu", VGPU)
    again = table(folder, [row("wrong on the gpu", "sh 'words.sh'", "exit")], "--update")[1]
    assert again.keys() == found.keys() and again["same"] == found["same"], again
    check(again["wrong on the gpu"], "right", gpu="wrong")
    assert again["wrong on the gpu"]["command"] == "sh 'words.sh'", again
    # Only a program that a GPU runs right makes the status 1.
    assert table(folder, rows[-2:])[0].returncode == 0


for test in (outcomes, against_a_gpu):
    with tempfile.TemporaryDirectory() as place:
        test(place)
