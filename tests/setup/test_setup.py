"""scripts/setup under package managers that only write down what they are told."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPTS = pathlib.Path(sys.argv.pop(1)) if len(
    sys.argv) > 1 else pathlib.Path(__file__).parents[2] / "scripts"
TOOLS = """awk bash basename cat cmp comm cp cut dirname env find grep head ln ls mkdir mv readlink rm sed sh sort tail
           touch tr wc xargs""".split()
# The packages are the names of files in OFFERED, INSTALLED and BROKEN.
FAKES = {
    "id": 'echo "${FAKE_UID:-0}"', "sudo": "exit 1",
    "c++": 'case "$1" in -dump*) echo "$GCC" ;; *) echo "c++ (GCC) $GCC" ;; esac',
    "g++-12": 'case "$1" in -dump*) echo 12.3.0 ;; *) echo "g++-12 (GCC) 12.3.0" ;; esac',
    "cmake": 'echo "cmake version $CMAKE"', "ninja": "echo 1.11",
    "nvcc": 'echo "Cuda compilation tools, release 13.0, V13.0.88"',
    "python3": 'if [ "$2" = venv ]; then for d; do :; done; mkdir -p "$d/bin"; cp "$0" "$d/bin/python"; fi',
    "dpkg-query": 'for p; do [ -e "$INSTALLED/$p" ] && echo "ii  $p"; done; exit 1',
    "rpm": 'for p; do [ -e "$INSTALLED/$p" ] && echo "$p"; done; exit 1',
    "apt-cache": 'for p; do [ -e "$OFFERED/$p" ] && printf "%s:\\n  Candidate: 1\\n" "$p"; done; exit 0',
}
MANAGER = """
case "$*" in
  *repoquery*) for p; do [ -e "$OFFERED/$p" ] && echo "$p"; done; exit 0 ;;
  -Si*) for p; do [ -e "$OFFERED/$p" ] && echo "Name            : $p"; done; exit 1 ;;
  -Qq*) for p; do [ -e "$INSTALLED/$p" ] && echo "$p"; done; exit 1 ;;
  *search*) for p; do [ -e "$OFFERED/$p" ] && echo "  | $p | a | package"; done; exit 0 ;;
esac
echo "$(basename "$0") $*" >>"$LOG"
for p; do [ ! -e "$BROKEN/$p" ] || { echo "$p is broken" >&2; exit 100; }; done
case "$*" in *install*|*-S\\ *) for p; do case "$p" in -*|install) ;; *) touch "$INSTALLED/$p" ;; esac; done ;; esac
exit 0
"""


class Setup(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="ladder setup "))
        self.addCleanup(shutil.rmtree, self.folder)
        shutil.copytree(SCRIPTS, self.folder / "scripts")
        for name in ("bin", "offered", "installed", "broken"):
            (self.folder / name).mkdir()
        for tool in TOOLS:
            (self.folder / "bin" / tool).symlink_to(shutil.which(tool))
        self.variables = {"GCC": "14.2.0", "CMAKE": "3.31.6"}

    def fake(self, name, text):
        path = self.folder / "bin" / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)

    def run_setup(self, manager, *arguments, offered=(), installed=(), broken=()):
        for name, text in FAKES.items():
            self.fake(name, text)
        self.fake(manager, MANAGER)
        for folder, names in (("offered", offered), ("installed", installed), ("broken", broken)):
            for name in names:
                (self.folder / folder / name).touch()
        log = self.folder / "log"
        log.write_text("")
        done = subprocess.run(
            [str(self.folder / "scripts/setup"), *arguments], capture_output=True, text=True,
            timeout=60, env={
                "PATH": str(self.folder / "bin"), "LOG": str(log),
                "CUDACXX": str(self.folder / "bin/nvcc"), "OFFERED": str(self.folder / "offered"),
                "INSTALLED": str(self.folder / "installed"), "BROKEN": str(self.folder / "broken"),
                **self.variables
            })
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        installs = [
            line for line in log.read_text().splitlines() if "install" in line or " -S " in line
        ]
        return done.stdout + done.stderr, installs

    def table(self, column):
        rows = [line.split("|") for line in (SCRIPTS / "packages.txt").read_text().splitlines()
                if line and not line.startswith("#")]
        return {
            row[0].strip(): (row[1].strip(), row[2].strip(), row[column].strip())
            for row in rows
        }

    def test_the_table_is_whole(self):
        for line in (SCRIPTS / "packages.txt").read_text().splitlines():
            if line and not line.startswith("#"):
                cells = [cell.strip() for cell in line.split("|")]
                self.assertEqual(len(cells), 8, line)
                self.assertIn(cells[1], ("climb", "test", "aarch64"), line)
                self.assertIn(cells[2], ("required", "optional", "fallback"), line)
                self.assertNotIn("", cells, line)

    def test_an_absent_name_loses_only_itself(self):
        offered = [
            "g++", "cmake", "ninja-build", "python3", "python3-venv", "libcli11-dev", "libfmt-dev"
        ]
        text, installs = self.run_setup("apt-get", "--for", "climb", offered=offered)
        self.assertEqual(len(installs), 1, installs)
        for name in offered:
            self.assertIn(f" {name}", installs[0])
        self.assertNotIn("libzstd-dev", installs[0])
        self.assertRegex(text, r"zstd +the virtual GPU +not offered here: libzstd-dev")

    def test_a_package_that_does_not_install_loses_only_itself(self):
        text, installs = self.run_setup("apt-get", "--for", "climb",
                                        offered=["libcli11-dev",
                                                 "libfmt-dev"], broken=["libcli11-dev"])
        self.assertEqual(len(installs), 3, installs)
        self.assertTrue((self.folder / "installed/libfmt-dev").exists())
        self.assertRegex(text, r"cli11 +the programs ladder, vgpu +libcli11-dev is broken")

    def test_the_first_name_that_is_offered_is_taken(self):
        _, installs = self.run_setup("apt-get", "--for", "climb", offered=["libdnnl3", "libdnnl2"])
        self.assertIn(" libdnnl3", installs[0])
        self.assertNotIn("libdnnl2", installs[0])

    def test_the_climb_does_not_install_what_only_tests_need(self):
        everything = [
            name for _, _, cell in self.table(4).values()
            for name in cell.replace(",", " ").split()
        ]
        _, installs = self.run_setup("apt-get", "--for", "climb", offered=everything)
        self.assertNotIn("chromium", installs[0])
        _, installs = self.run_setup("apt-get", "--for", "test")
        self.assertIn("chromium", installs[0])
        self.assertNotIn("qemu-user", installs[0])
        _, installs = self.run_setup("apt-get", "--for", "aarch64")
        self.assertIn("qemu-user", installs[0])
        self.assertNotIn("chromium", installs[0])

    def test_a_second_run_only_looks(self):
        self.run_setup("apt-get", "--for", "climb", offered=["libfmt-dev"])
        text, installs = self.run_setup("apt-get", "--for", "climb")
        self.assertEqual(installs, [])
        self.assertIn("the virtual GPU", text)  # features that are off are named again

    def test_other_systems_by_their_own_names(self):
        for manager, column in (("dnf", 5), ("pacman", 6), ("zypper", 7)):
            with self.subTest(manager):
                self.setUp()
                name = self.table(column)["ninja"][2]
                text, installs = self.run_setup(manager, "--for", "climb",
                                                offered=[name, "fmt", "fmt-devel"])
                self.assertEqual(len(installs), 1, text)
                self.assertRegex(installs[0], rf"^{manager} .* {name}( |$)")
                self.assertRegex(installs[0], r" fmt(-devel)?( |$)")

    def test_an_old_compiler_and_an_old_cmake(self):
        self.variables = {"GCC": "11.4.0", "CMAKE": "3.22.1"}
        (self.folder / ".toolchain").mkdir()
        text, _ = self.run_setup("apt-get", "--for", "climb", offered=["g++-12"])
        self.assertIn("CMake 3.25 or newer (found: 3.22.1)", text)
        environment = (self.folder / ".toolchain/env.sh").read_text()
        self.assertIn("export CXX='g++-12'", environment)
        self.assertIn("export CUDAHOSTCXX='g++-12'", environment)
        self.assertIn("/.toolchain/bin'", environment)

    def test_without_root_it_says_what_to_ask_for(self):
        self.variables["FAKE_UID"] = "1000"
        text, installs = self.run_setup("dnf", "--for", "climb", offered=["openblas-devel"])
        self.assertEqual(installs, [])
        self.assertRegex(text, r"baseline OpenBLAS +as root: openblas-devel")


if __name__ == "__main__":
    os.environ.pop("CXX", None)
    unittest.main()
