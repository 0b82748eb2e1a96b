# SPDX-License-Identifier: Apache-2.0
"""Installs below DESTDIR, moves the result to a folder with a space in its name, and works from
there.

  test_install.py CMAKE BUILD_FOLDER CUDA_PROGRAM packaging/check"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, PROGRAM, CHECK = sys.argv[1:5]


def run(*command, **keywords):
    environment = {**os.environ, "LADDER_ON_VIRTUAL_GPU": "", **keywords.pop("environment", {})}
    environment.pop("LADDER_ON_VIRTUAL_GPU")
    return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=240, check=False, env=environment, **keywords)


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        installed = run(CMAKE, "--install", BUILD, "--prefix", "/opt/first",
                        environment={"DESTDIR": folder / "stage"})
        assert installed.returncode == 0, installed
        cls.prefix = folder / "moved here" / "ladder"
        cls.prefix.parent.mkdir()
        shutil.move(folder / "stage" / "opt" / "first", cls.prefix)
        assert not pathlib.Path("/opt/first").exists()
        cls.folder = folder

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def program(self, name):
        return self.prefix / "bin" / name

    def test_everything_is_there(self):
        for path in ("bin/ladder", "bin/vgpu", "lib/vgpu/libvgpu.so", "lib/vgpu/libcuda.so.1",
                     "lib/vgpu/libcudart.so.12", "lib/vgpu/libcudart.so.13",
                     "lib/vgpu/libvgpu_redirect.so", "lib/ladder/libcudart.so.13",
                     "include/vgpu/vgpu.h",
                     "share/man/man1/ladder.1", "share/man/man1/vgpu.1",
                     "share/bash-completion/completions/ladder",
                     "share/zsh/site-functions/_vgpu",
                     "share/fish/vendor_completions.d/ladder.fish",
                     "share/ladder/include/ladder/kernel.hpp",
                     "share/ladder/src/rungs/cuda/r05_block_tile_2d.cu"):
            self.assertTrue((self.prefix / path).exists(), path)
        # No library has a standard name where the system's linker would find it.
        self.assertEqual([path.name for path in self.prefix.glob("lib*/libcu*")], [])
        self.assertEqual([path.name for path in self.prefix.glob("lib/*-linux-gnu/libcu*")], [])

    def test_no_library_comes_from_the_current_folder(self):
        for root in (self.prefix, pathlib.Path(BUILD)):
            for name in ("bin/ladder", "bin/vgpu", "lib/libladder_cblas.so",
                         "lib/vgpu/libcudart.so.12", "lib/vgpu/libcudart.so.13",
                         "lib/vgpu/libcuda.so.1"):
                if not (root / name).exists():
                    continue
                entries = run("readelf", "-d", root / name).stdout
                for folders in re.findall(r"R(?:UN)?PATH\)[^[]*\[(.*)\]", entries):
                    for folder in folders.split(":"):
                        self.assertRegex(folder, r"^(/|\$ORIGIN(/|$))", (root / name, folders))

    def test_vgpu_runs_a_program(self):
        result = run(self.program("vgpu"), PROGRAM)
        self.assertEqual(result.returncode, 0, result)

    def test_ladder_climbs_lists_and_sees_a_doctor(self):
        result = run(self.program("ladder"), "climb", "h01", "r02", "--shape", "48", "--device",
                     "virtual:h200")
        self.assertEqual(result.returncode, 0, result)
        self.assertEqual(result.stdout.count(" passed "), 2, result.stdout)
        self.assertIn("r05_block_tile_2d", run(self.program("ladder"), "list").stdout)
        doctor = run(self.program("ladder"), "doctor")
        self.assertEqual(doctor.returncode, 0, doctor)
        self.assertIn(str(self.prefix / "lib" / "vgpu"), doctor.stdout)

    def test_it_starts_without_a_toolkit(self):
        """On what stands in for CUDA's libraries, as it does on a machine without them."""
        nothing = {
            "LD_LIBRARY_PATH": str(self.prefix / "lib" / "ladder"), "CUDA_HOME": "", "CUDA_PATH": ""
        }
        doctor = run(self.program("ladder"), "doctor", environment=nothing)
        self.assertEqual(doctor.returncode, 0, doctor)
        self.assertRegex(doctor.stdout, r"missing +CUDA runtime")
        self.assertRegex(doctor.stdout, r"missing +GPU")
        climbed = run(self.program("ladder"), "climb", "r02", "--shape", "48", environment=nothing)
        if "counted" in climbed.stdout:  # else the machine has a GPU, and a toolkit that was found
            self.assertEqual(climbed.returncode, 0, climbed)
            self.assertIn(" passed ", climbed.stdout)

    def test_sources_are_found(self):
        result = run(self.program("ladder"), "diff", "h01", "h02")
        self.assertNotIn("no source diff", result.stdout)
        missing = run(self.program("ladder"), "run", "no_such.cu")
        self.assertEqual(missing.returncode, 2)
        self.assertIn("no_such.cu", missing.stderr)

    def test_a_users_kernel_is_compiled(self):
        if shutil.which("nvcc") is None and not pathlib.Path("/usr/local/cuda/bin/nvcc").exists():
            self.skipTest("no nvcc")
        rung = self.prefix / "share" / "ladder" / "src" / "rungs" / "cuda" / "r02_coalesced.cu"
        result = run(self.program("ladder"), "run", rung, "--shape", "48", "--no-explain",
                     "--against", "r02", "--device", "virtual:h200", cwd=self.folder)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn("passed", result.stdout)

    def test_the_course_is_found(self):
        course = run(self.program("ladder"), "learn").stdout.splitlines()
        self.assertGreaterEqual(sum(line[:2].isdigit() for line in course), 24)
        if shutil.which("nvcc") is None and not pathlib.Path("/usr/local/cuda/bin/nvcc").exists():
            self.skipTest("no nvcc")
        own = self.folder / "of my own"
        self.assertEqual(run(self.program("ladder"), "learn", "03", "--dir", own).returncode, 0)
        solution = self.prefix / "share" / "ladder" / "lessons" / "03_first_product" / "solution.cu"
        shutil.copy(solution, own / "03_first_product" / "kernel.cu")
        result = run(self.program("ladder"), "learn", "03", "--check", "--dir", own)
        self.assertEqual(result.returncode, 0, result)

    def test_manual_pages_name_every_verb(self):
        page = (self.prefix / "share/man/man1/ladder.1").read_text()
        help_text = run(self.program("ladder"), "--help").stdout
        verbs = re.findall(r"^  ([a-z]+) +\S", help_text[help_text.index("Subcommands:"):], re.M)
        self.assertGreater(len(verbs), 10)
        for verb in verbs:
            self.assertIn(f'.SS "ladder {verb}', page)
        self.assertIn("\\-\\-counters", (self.prefix / "share/man/man1/vgpu.1").read_text())


class Completion(unittest.TestCase):
    def complete(self, line, program="ladder"):
        """What bash offers at the end of `line`."""
        words = line.split(" ")
        script = (
            f'source "$1"; COMP_WORDS=({" ".join(repr(word) for word in words)}); COMP_CWORD={len(words) - 1}; '
            f'COMP_LINE={line!r}; COMP_POINT={len(line)}; _{program}; printf "%s\\n" "${{COMPREPLY[@]}}"'
        )
        text = pathlib.Path(BUILD) / "packaging" / "pages" / f"{program}.bash"
        return run("bash", "--norc", "-c", script, "-", text).stdout.split()

    def test_bash(self):
        self.assertEqual(self.complete("ladder cl"), ["climb"])
        self.assertEqual(self.complete("ladder climb r05_"), ["r05_block_tile_2d"])
        self.assertEqual(self.complete("ladder climb --dev"), ["--device"])
        self.assertIn("quick", self.complete("ladder verify --battery "))
        self.assertIn("square", self.complete("ladder bench --suite "))
        self.assertIn("07", self.complete("ladder learn "))
        self.assertIn("h200", self.complete("vgpu --device ", "vgpu"))
        self.assertEqual(self.complete("vgpu --check ra", "vgpu"), ["race"])

    def test_each_shell_takes_its_file(self):
        pages = pathlib.Path(BUILD) / "packaging" / "pages"
        for shell in ("bash", "zsh", "fish"):
            if shutil.which(shell) is None:
                continue
            for program in ("ladder", "vgpu"):
                result = run(shell, "-n", pages / f"{program}.{shell}")
                self.assertEqual((result.returncode, result.stderr), (0, ""), (shell, program))

    def test_values_belong_to_options_that_exist(self):
        text = (pathlib.Path(BUILD) / "packaging" / "pages" / "ladder.bash").read_text()
        for option in ("--kernel", "--against", "--baseline", "--device", "--explain-on", "--suite",
                       "--battery"):
            self.assertRegex(text, rf"{option}\) words='")


class Check(unittest.TestCase):
    def test_finds_what_is_tied_to_this_machine(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder) / "program.c"
            source.write_text("int main(void) { return 0; }\n")
            def build(*options):
                binary = pathlib.Path(folder) / "tree" / "program"
                binary.parent.mkdir(exist_ok=True)
                result = run("cc", source, "-o", binary, *options)
                self.assertEqual(result.returncode, 0, result)
                return run(sys.executable, CHECK, binary.parent, "--glibc", "99", "--not-in",
                           "/no/such/build")
            self.assertEqual(build().returncode, 0)
            for options, says in ((("-Wl,-rpath,/usr/lib", ), "RUNPATH '/usr/lib'"),
                                  (("-Wl,-rpath,$ORIGIN/../..", ),
                                   "not inside"), (("-Wl,-rpath,$ORIGIN/:", ), "RUNPATH ''"),
                                  (("-Wl,--no-as-needed", "-lstdc++"), "libstdc++.so.6"),
                                  (("-DX", "-g", "-fdebug-prefix-map=x=/no/such/build",
                                    "-Wl,-rpath,$ORIGIN/no/such/build"), "holds '/no/such/build'")):
                result = build(*options)
                self.assertEqual(result.returncode, 1, (options, result))
                self.assertIn(says, result.stdout)
            old = run(sys.executable, CHECK, pathlib.Path(folder) / "tree", "--glibc", "1.0")
            self.assertIn("needs GLIBC_", old.stdout)
            self.assertNotEqual(run(sys.executable, CHECK, folder + "/nothing").returncode, 0)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
