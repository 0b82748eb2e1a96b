# SPDX-License-Identifier: Apache-2.0
"""The command line from outside: exit statuses, one-line errors, JSON against docs/schema.md,
Ctrl-C."""
import functools
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from command_line import LADDER, VIRTUAL, Folder, ladder

SCHEMA = pathlib.Path(sys.argv[2])


def documented():
    """Section of schema.md -> set of its fields."""
    sections, name = {}, None
    for line in SCHEMA.read_text().splitlines():
        if line.startswith("## "):
            name = line[3:].strip("`")
            sections[name] = set()
        elif name and line.startswith("| `"):
            sections[name].update(re.findall(r"`([a-z0-9_]+)`", line.split("|")[1]))
    return sections


class BadInput(Folder):
    def test_names_the_argument_and_the_rule(self):
        self.rejected("climb", "--kernel", "r99", says=["--kernel", "r99"])
        self.rejected("climb", "nonsense", says=["--kernel", "nonsense"])
        self.rejected("climb", "--device", "gpu", says=["--device", "'gpu'", "cuda:N"])
        self.rejected("climb", "--device", "cuda:x", says=["--device", "cuda:x"])
        self.rejected("climb", "--device", "cuda:-1", says=["--device"])
        self.rejected("climb", "--device", "cuda:99", says=["--device", "99"])
        self.rejected("climb", "--device", "virtual:abacus", says=["--device"])
        self.rejected("climb", "--shape", "12x", says=["--shape", "12x"])
        self.rejected("climb", "--shape", "axbxc", says=["--shape", "axbxc"])
        self.rejected("climb", "--shape", "", says=["--shape"])
        self.rejected("climb", "--shape=-4x4x4", says=["--shape", "-4"])
        self.rejected("climb", "--shape", "-4x4x4", says=["--shape"])
        self.rejected("climb", "--shape", "99999999999999999999x1x1", says=["--shape"])
        self.rejected("climb", "--battery", "slow", says=["--battery", "slow"])
        self.rejected("climb", "--seed", "x", says=["--seed"])
        self.rejected("climb", "--budget", "0", says=["--budget"])
        self.rejected("verify", "--no-battery", "--device", "cpu", says=["--no-battery"])
        self.rejected("climb", "--fast", says=["--fast"])
        self.rejected("jump", says=["jump"])
        self.rejected(says=["subcommand"])

    def test_a_problem_larger_than_memory(self):
        self.rejected("climb", "--device", "cpu", "--shape", "2000000x2000000x4",
                      says=["--shape", "memory", "GiB"])
        self.rejected("verify", "--device", "cpu", "--shape", "4000000000x4000000000x1",
                      says=["--shape"])

    def test_an_unwritable_file(self):
        self.rejected("climb", "--json", "/no/such/folder/rows.json",
                      says=["--json", "/no/such/folder"])
        self.rejected("climb", "--json", self.folder.name, says=["--json", "folder"])
        result = ladder("verify", "h01", "--device", "cpu", "--json", "/dev/full")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("--json: /dev/full: No space left on device", result.stderr)

    def test_report(self):
        self.rejected("report", self.path("none.json"), says=["none.json", "No such file"])
        pathlib.Path(self.path("bad.json")).write_text("{}")
        self.rejected("report", self.path("bad.json"),
                      says=["bad.json", "rows: key 'schema' not found"])
        self.rejected("report", self.path("bad.json"), "--marker", "x", says=["--into"])
        self.rejected("report", says=["files"])


class Information(Folder):
    def test_list(self):
        table = ladder("list")
        self.assertEqual(table.returncode, 0)
        kernels = json.loads(ladder("list", "--json").stdout)
        self.assertEqual(len(kernels) + 1, len(table.stdout.splitlines()))
        for kernel in kernels:
            self.assertIn(kernel["id"], table.stdout)
        self.assertIn("h01_naive", [k["rung"] for k in kernels])

    def test_doctor(self):
        result = ladder("doctor")
        self.assertEqual(result.returncode, 0, result)
        for word in ("CPU", "memory", "nvcc", "CUDA runtime", "GPU", "NVML", "virtual GPU",
                     "cuBLAS", "OpenBLAS"):
            self.assertIn(word, result.stdout)

    def test_doctor_where_little_is_allowed(self):
        """Little address space, one processor, no home, no place for temporary files."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
            os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

        nowhere = {
            "HOME": "/nonexistent", "TMPDIR": "/nonexistent", "XDG_CACHE_HOME": "/nonexistent"
        }
        result = ladder("doctor", preexec_fn=limit, env={**os.environ, **nowhere})
        self.assertEqual(result.returncode, 0, result)
        self.assertNotRegex(result.stdout,
                            r"(^|[^0-9.])(0|-|-?nan|-?inf) (GHz|GB/s|GFLOP/s|GiB|MiB|threads?)\b")
        self.assertRegex(result.stdout, r"CPU .*(1 thread|of which this process may use 1)")
        available = float(re.search(r"([0-9.]+) [GM]iB available", result.stdout).group(1))
        self.assertLess(available, 2048)

    def test_what_cannot_be_printed_is_no_success(self):
        for arguments in (["list"], ["list",
                                     "--json"], ["--help"], ["--version"], ["climb",
                                                                            "--help"], ["doctor"],
                          ["climb", "h01", "--device", "cpu", "--shape", "16", "--budget",
                           "0.01"], ["verify", "h01", "--device",
                                     "cpu"], ["new", "r77_x", "-o",
                                              self.path("x.cu")]):
            with self.subTest(arguments), open("/dev/full", "w") as full:
                result = subprocess.run([LADDER, *arguments], stdout=full, stderr=subprocess.PIPE,
                                        text=True, timeout=120)
                self.assertGreater(result.returncode, 0, result)
                self.assertRegex(
                    result.stderr,
                    r"^(ladder (climb|verify): 1 of 1\n)?ladder: standard output: (No space left on device|not everything .*)\n$"
                )
        result = subprocess.run(["sh", "-c", '"$0" list >&-', LADDER], stderr=subprocess.PIPE,
                                text=True, timeout=120)
        self.assertEqual((result.returncode, result.stderr),
                         (1, "ladder: standard output: Bad file descriptor\n"))

    def test_a_file_is_no_name_of_a_kernel(self):
        for verb, argument in (("verify", "--kernel"), ("bench", "--kernel"), ("show", "RUNG"),
                               ("diff", "A"), ("tune", "RUNG"), ("profile", "RUNG")):
            result = ladder(verb, "mine.cu", *["r02"] * (verb == "diff"))
            self.assertEqual(result.returncode, 2, result)
            self.assertEqual(
                result.stderr, f"ladder: {argument}: mine.cu: a file of your own is verified, "
                "measured and explained by `ladder run`\n")

    def test_version_and_help(self):
        self.assertRegex(ladder("--version").stdout, r"^ladder \d+\.\d+\.\d+\n$")
        for verb in ("climb", "verify", "list", "report", "doctor"):
            result = ladder(verb, "--help")
            self.assertEqual(result.returncode, 0)
            self.assertIn("Examples:", result.stdout)


@unittest.skipUnless(VIRTUAL, "needs the virtual GPU")
class Installed(Folder):
    def test_in_a_folder_of_any_name(self):
        """Of all but what no file name can hold: separators of search paths, what a shell or the
        linker expands."""
        place = pathlib.Path(self.folder.name, "a b:c;$LIB`touch x`")
        build = LADDER.parent.parent
        shutil.copytree(build / "lib" / "vgpu", place / "lib" / "vgpu")
        (place / "bin").mkdir()
        program = shutil.copy(LADDER, place / "bin")
        result = subprocess.run(
            [program, "verify", "r01", "--device", "virtual:h200", "--shape", "8", "--no-battery"],
            capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("r01_naive", result.stdout)


class Rows(Folder):
    def check(self, record, section, fields):
        self.assertEqual(set(record), fields[section], section)

    def check_document(self, document):
        fields = documented()
        self.check(document, "File", fields)
        self.assertEqual((document["schema"], document["version"]), ("ladder-rows", 3))
        self.check(document["environment"], "environment", fields)
        self.check(document["environment"]["device"], "device", fields)
        for row in document["rows"]:
            self.check(row, "rows[]", fields)
            self.assertLessEqual(set(row["problem"]), fields["problem"])
            self.assertLessEqual({"m", "n", "k"}, set(row["problem"]))
            if row["device"] is not None:
                self.check(row["device"], "device", fields)
            self.check(row["verdict"], "verdict", fields)
            self.assertLessEqual(set(row["derived"]), fields["derived"])
            for case in row["verdict"]["failed"]:
                self.check(case, "verdict.failed[]", fields)
            if row["errors"]:
                self.check(row["errors"], "errors", fields)
            for timing in filter(None, (row["timing"], (row["baseline"] or {}).get("timing"))):
                self.assertLessEqual(set(timing), fields["timing"])
                self.check(timing["ms"], "timing.ms", fields)
                order = [
                    timing["ms"][key] for key in ("min", "p5", "p25", "median", "p75", "p95", "max")
                ]
                self.assertEqual(order, sorted(order))
                if "telemetry" in timing:
                    self.check(timing["telemetry"], "timing.telemetry", fields)
            if row["timing"]:
                self.check(row["timing"], "timing", fields)
            if row["baseline"]:
                self.check(row["baseline"], "baseline", fields)
            if row["counters"]:
                self.check(row["counters"], "counters", fields)
                for launch in row["counters"]["launches"]:
                    self.check(launch, "counters.launches[]", fields)

    def test_host_climb(self):
        path = self.path("rows.json")
        result = ladder("climb", "--device", "cpu", "--shape", "33x34x35", "--shape", "64",
                        "--budget", "0.05", "--json", path)
        self.assertEqual(result.returncode, 0, result)
        self.assertNotIn("\x1b", result.stdout)
        self.assertNotIn("\r", result.stdout + result.stderr)
        document = json.loads(pathlib.Path(path).read_text())
        self.check_document(document)
        self.assertGreaterEqual(len(document["rows"]), 2)
        for row in document["rows"]:
            self.assertEqual(row["verdict"]["outcome"], "passed")
            self.assertGreater(row["derived"]["tflops"], 0)
            self.assertIn(row["kernel"], result.stdout)
        self.assertEqual(os.listdir(self.folder.name), ["rows.json"])

        readme = self.path("README.md")
        pathlib.Path(readme).write_text("a\n<!-- ladder:rungs -->\n<!-- /ladder:rungs -->\nz\n")
        result = ladder("report", path, "--markdown", "--into", readme, "--marker", "rungs")
        self.assertEqual((result.returncode, result.stdout), (0, ""), result)
        text = pathlib.Path(readme).read_text()
        self.assertIn("| h01_naive |", text)
        self.assertTrue(text.startswith("a\n") and text.endswith("\nz\n"))
        result = ladder("report", "--kernel", "h02", path)
        self.assertIn("| h02_loop_order |", result.stdout)
        self.assertNotIn("| h01_naive |", result.stdout)
        self.rejected("report", path, "--kernel", "h01", "--kernel", "r99",
                      says=["--kernel", "r99"])
        result = ladder("report", path, "--into", readme, "--marker", "other")
        self.assertEqual(result.returncode, 2)
        self.assertEqual(pathlib.Path(readme).read_text(), text)

    def test_rows_into_pipes_and_descriptors(self):
        climb = f"{LADDER} climb h01 --device cpu --shape 16 --shape 24 --budget 0.01 --json"
        shell = functools.partial(subprocess.run, capture_output=True, text=True, timeout=120,
                                  check=False)
        result = shell([
            "bash", "-c",
            f"{climb} >(cat >{self.path('piped')}; touch {self.path('done')}) >/dev/null; "
            f"while [ ! -e {self.path('done')} ]; do sleep .01; done"
        ])
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(len(self.read("piped")["rows"]), 2)  # once, at the end
        result = shell(["sh", "-c", f"{climb} /dev/stdout >{self.path('both')}"])
        self.assertEqual(result.returncode, 0, result)
        text = pathlib.Path(self.path("both")).read_text()
        self.assertEqual((text.count("ladder-rows"), text.count("h01_naive  ")), (1, 2), text)
        self.assertEqual(shell(["sh", "-c", f"{climb} /dev/null"]).returncode, 0)

    def test_a_file_that_cannot_be_read_is_left_alone(self):
        result = ladder("climb", "h01", "--device", "cpu", "--shape", "16", "--budget", "0.01",
                        "--json", self.path("rows.json"))
        self.assertEqual(result.returncode, 0, result)
        page = pathlib.Path(self.path("page.md"))
        page.write_text("<!-- ladder:x --><!-- /ladder:x -->")
        result = ladder("report", self.path("rows.json"), "--into", "/proc/self/mem", "--marker",
                        "x")
        self.assertEqual(result.returncode, 2, result)
        self.assertIn("--into: /proc/self/mem: ", result.stderr)
        text = "before\n" + page.read_text() + "\n" + "behind " * 10000
        page.write_text(text)
        limited = subprocess.run([
            "sh", "-c", 'ulimit -f 1; "$0" report "$1" --into "$2" --marker x', LADDER,
            self.path("rows.json"), page
        ], capture_output=True, text=True, timeout=120,
                                 preexec_fn=lambda: signal.signal(signal.SIGXFSZ, signal.SIG_IGN))
        self.assertEqual(limited.returncode, 2, limited)
        self.assertIn("File too large", limited.stderr)
        self.assertEqual(page.read_text(), text)
        self.assertEqual(sorted(os.listdir(self.folder.name)), ["page.md", "rows.json"])

    def test_host_verify(self):
        path = self.path("rows.json")
        result = ladder("verify", "h01", "--device", "cpu", "--shape", "50x60x70", "--json", path)
        self.assertEqual(result.returncode, 0, result)
        self.assertRegex(result.stdout, r"h01_naive +passed")
        document = json.loads(pathlib.Path(path).read_text())
        self.check_document(document)
        self.assertGreater(document["rows"][0]["verdict"]["passed"], 3)

    def test_nothing_verified_is_no_success(self):
        result = ladder("climb", "r01", "--device", "cpu")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("refused", result.stdout)

    @unittest.skipUnless(VIRTUAL, "built without the virtual GPU")
    def test_virtual_climb(self):
        path = self.path("rows.json")
        result = ladder("climb", "r01", "r03", "cublas", "--device", "virtual:h200", "--shape",
                        "40x48x36", "--json", path)
        self.assertEqual(result.returncode, 0, result)
        document = json.loads(pathlib.Path(path).read_text())
        self.check_document(document)
        rungs = [row for row in document["rows"] if row["role"] == "rung"]
        self.assertEqual(len(rungs), 3)
        lines = result.stdout.splitlines()
        self.assertTrue(lines[0].startswith("No GPU is used"), lines[0])
        self.assertEqual(lines[2:4], ["How long a GPU would take is not known here.", ""])
        self.assertNotIn("\\x0a", result.stdout)
        refused = [line for line in lines if "refused" in line]
        if any(row["role"] == "baseline" for row in document["rows"]):
            self.assertEqual(len(refused), 1, refused)
            self.assertRegex(
                refused[0],
                r"^refused: cublas_ieee, .* more: cuBLAS is not executed on the virtual GPU$")
        self.assertIn(f"report {path} --html {path[:-5]}.html", lines[-1])
        for row in rungs:
            self.assertEqual(row["verdict"]["outcome"], "passed", row["verdict"]["reason"])
            self.assertTrue((row["device"] or document["environment"]["device"])["virtual"])
            self.assertIsNone(row["timing"])
            self.assertNotIn("tflops", row["derived"])
            for field in ("sectors_per_load_request", "bytes_requested_over_least", "flop_per_byte",
                          "roofline_tflops"):
                self.assertGreater(row["derived"][field], 0, field)
        for row in document["rows"]:
            if row["role"] == "baseline":
                self.assertEqual(row["verdict"]["outcome"], "refused")
                self.assertEqual(row["note"], "not run: cuBLAS is not executed on the virtual GPU")

    def test_progress_without_a_terminal(self):
        result = ladder("climb", "h01", "h02", "--device", "cpu", "--shape", "33", "--budget",
                        "0.01")
        self.assertEqual(result.returncode, 0, result)
        self.assertNotIn("\x1b", result.stdout + result.stderr)
        lines = result.stderr.splitlines()
        self.assertEqual(len(lines), 2, lines)
        self.assertRegex(lines[0], r"^ladder climb: 1 of 2, about \d+ s left$")
        self.assertEqual(lines[1], "ladder climb: 2 of 2")
        verified = ladder("verify", "h01", "--device", "cpu")
        self.assertEqual(verified.stderr, "ladder verify: 1 of 1\n")

    def test_the_page_of_a_path_that_a_shell_would_split(self):
        path = self.path("my rows.json")
        result = ladder("climb", "h01", "--device", "cpu", "--shape", "33", "--budget", "0.01",
                        "--json", path)
        self.assertIn(f"report '{path}' --html '{path[:-5]}.html'", result.stdout)

    @unittest.skipUnless(VIRTUAL, "built without the virtual GPU")
    def test_a_problem_larger_than_the_virtual_gpu(self):
        result = ladder("climb", "--device", "virtual:h200", "--shape", "300000x300000x8")
        self.assertEqual(result.returncode, 2, result)
        self.assertEqual(result.stderr.count("\n"), 1)
        self.assertIn("--shape", result.stderr)


class Interrupt(Folder):
    def test_leaves_the_rows_finished_so_far(self):
        path = self.path("rows.json")
        shapes = [word for size in range(40, 80) for word in ("--shape", str(size))]
        process = subprocess.Popen(
            [LADDER, "climb", "h01", "--device", "cpu", "--json", path, *shapes],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        lines = []
        while not any("passed" in line for line in lines):
            lines.append(process.stdout.readline())
            self.assertNotEqual(lines[-1], "", process.stderr)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, errors)
        printed = "".join(lines) + rest
        rows = json.loads(pathlib.Path(path).read_text())["rows"]
        self.assertGreaterEqual(len(rows), 1)
        self.assertLess(len(rows), 40)
        self.assertEqual(printed.count(" passed "), len(rows))
        self.assertIn(f"interrupted: {len(rows)} row", printed)


    def test_a_second_one_ends_at_once(self):
        # Two runs of three loops at 2048 cannot be interrupted for many seconds.
        process = subprocess.Popen(
            [LADDER, "verify", "h01", "--device", "cpu", "--no-battery", "--shape", "2048"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        def ticks():
            return int(
                pathlib.Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
                [11])
        while ticks() < os.sysconf("SC_CLK_TCK"):
            self.assertIsNone(process.poll())
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stderr.readline(), "\n")
        self.assertEqual(process.stderr.readline(),
                         "ladder: ending; a second Ctrl-C ends at once\n")
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertEqual(process.returncode, -signal.SIGINT)


class OnATerminal(unittest.TestCase):
    def run_on_terminal(self, **environment):
        controller, terminal = pty.openpty()
        process = subprocess.Popen(
            [LADDER, "climb", "h01", "--device", "cpu", "--shape", "48", "--budget", "0.05"],
            stdout=terminal, stderr=terminal, env={**os.environ, "TERM": "xterm", **environment})
        os.close(terminal)
        text = b""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                piece = os.read(controller, 65536)
            except OSError:  # the other end is closed
                break
            text += piece
        os.close(controller)
        self.assertEqual(process.wait(timeout=60), 0)
        return text.decode()

    def test_shows_progress_and_colour(self):
        text = self.run_on_terminal(NO_COLOR="")
        self.assertIn("\r\x1b[Kh01_naive: verifying", text)
        self.assertIn("\x1b[32mpassed", text)

    def test_respects_no_color(self):
        text = self.run_on_terminal(NO_COLOR="1")
        self.assertNotIn("\x1b[32m", text)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
