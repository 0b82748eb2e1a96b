# SPDX-License-Identifier: Apache-2.0
"""The installed library: its components, its exported names, and programs that link it as
examples/consumer does, run by the virtual GPU.

  test_library.py CMAKE BUILD_FOLDER SOURCE_FOLDER NVCC"""
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD, SOURCE, NVCC = sys.argv[1:5]
VGPU = pathlib.Path(BUILD) / "bin" / "vgpu"


def run(*command, **keywords):
    result = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                            timeout=280, check=False, **keywords)
    assert result.returncode == 0, (command, result.stdout, result.stderr)
    return result.stdout


class Installed(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory()
        folder = pathlib.Path(cls.temporary.name)
        for component in ("ladder_runtime", "ladder_devel"):
            run(CMAKE, "--install", BUILD, "--prefix", folder / component, "--component", component)
        # all of it, in a place that the build did not know
        cls.prefix = folder / "moved here"
        shutil.copytree(folder / "ladder_runtime", cls.prefix, symlinks=True)
        shutil.copytree(folder / "ladder_devel", cls.prefix, symlinks=True, dirs_exist_ok=True)
        cls.folder = folder
        cls.library = next(cls.prefix.glob("lib/**/libladder.so.?.?.?"))

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def names(self, component):
        root = self.folder / component
        return sorted(path.name for path in root.rglob("*") if not path.is_dir())

    def test_components(self):
        version = self.library.name.removeprefix("libladder.so.")
        self.assertEqual(self.names("ladder_runtime"),
                         [f"libladder.so.{version[0]}", f"libladder.so.{version}"])
        self.assertEqual(self.names("ladder_devel"), [
            "gemm.h", "gemm.hpp", "ladder.pc", "ladderConfig.cmake", "ladderConfigVersion.cmake",
            "libladder.a", "libladder.so"
        ])

    def test_the_library_to_preload_finds_the_other(self):
        if not (pathlib.Path(BUILD) / "lib" / "libladder_cublas.so").exists():
            self.skipTest("no cuBLAS headers")
        run(CMAKE, "--install", BUILD, "--prefix", self.folder / "interpose", "--component",
            "ladder_interpose")
        self.assertEqual(self.names("interpose"), ["libladder_cublas.so"])
        entries = run("readelf", "-dW", next((self.folder / "interpose").rglob("*.so")))
        self.assertIn("[libladder.so.0]", entries)
        self.assertRegex(entries, r"RUNPATH.*\[\$ORIGIN:")
        self.assertNotIn("libcublas", "".join(re.findall(r"NEEDED.*", entries)))

    def test_exported_names_are_the_committed_ones(self):
        committed = (pathlib.Path(SOURCE) / "src/library/symbols.txt").read_text().split()
        header = (self.prefix / "include/ladder/gemm.h").read_text()
        declared = re.findall(r"^LADDER_API .*?\b(ladder_\w+)\(", header, re.M)
        self.assertEqual(sorted(declared), committed)
        shared = re.findall(r" T (\w+)@@LADDER_0$",
                            run("nm", "-D", "--defined-only", self.library), re.M)
        self.assertEqual(shared, committed)
        static = re.findall(r" [A-TV-Z] (\w+)$",
                            run("nm", "--defined-only", "-g", self.library.parent / "libladder.a"),
                            re.M)
        self.assertEqual(sorted(static), committed)

    def test_dynamic_section(self):
        entries = run("readelf", "-dW", self.library)
        self.assertRegex(entries, r"SONAME.*\[libladder\.so\.0\]")
        needed = re.findall(r"NEEDED.*\[(.*)\]", entries)
        self.assertIn("libcudart.so.13", needed)
        for other in ("cublas", "ladder", "hwy", "fmt", "gomp"):
            self.assertFalse([name for name in needed if other in name], needed)
        stripped = self.folder / "stripped.so"
        run("strip", "-o", stripped, self.library)
        self.assertLess(stripped.stat().st_size, 40_000_000)

    def test_programs_that_link_it(self):
        build = self.folder / "consumer"
        run(CMAKE, "-S", pathlib.Path(SOURCE) / "examples/consumer", "-B", build, "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.prefix}", f"-DCMAKE_CUDA_COMPILER={NVCC}")
        run(CMAKE, "--build", build)
        for program, says in (("product_c", "right"), ("product_static", "right"),
                              ("capture_cpp", "captured batch: right"),
                              ("views_cpp", "views: right"), ("layer_cuda", "layer: right")):
            self.assertIn(says, run(VGPU, "--device", "h200", build / program), program)
        self.assertIn("right", run(VGPU, "--device", "a100", build / "product_c"))
        needed = run("readelf", "-dW", build / "product_static")
        self.assertNotIn("libladder", needed)

    def test_a_project_in_c_alone_links_it(self):
        source = self.folder / "in c"
        source.mkdir()
        shutil.copy(pathlib.Path(SOURCE) / "examples/consumer/product.c", source)
        (source / "CMakeLists.txt").write_text("""cmake_minimum_required(VERSION 3.24)
project(in_c LANGUAGES C)
find_package(ladder CONFIG REQUIRED COMPONENTS static)
add_executable(product product.c)
target_link_libraries(product PRIVATE ladder::static)
""")
        build = source / "build"
        run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCUDAToolkit_ROOT={pathlib.Path(NVCC).parent.parent}")
        run(CMAKE, "--build", build)
        self.assertIn("right", run(VGPU, "--device", "h200", build / "product"))

    def test_the_quick_start(self):
        page = (pathlib.Path(SOURCE) / "docs/library/quick-start.md").read_text()
        source = self.folder / "quick start"
        source.mkdir()
        files = re.findall(r"^`([\w.]+)`:\n\n```\w+\n(.*?)^```$", page, re.M | re.S)
        self.assertEqual([name for name, _ in files],
                         ["CMakeLists.txt", "from_c.c", "from_cpp.cpp"])
        for name, text in files:
            (source / name).write_text(text)
        build = source / "build"
        run(CMAKE, "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}",
            f"-DCUDAToolkit_ROOT={pathlib.Path(NVCC).parent.parent}",
            "-DCMAKE_C_FLAGS=-Wall -Wextra -Werror", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror")
        run(CMAKE, "--build", build)
        for program in ("from_c", "from_cpp"):
            self.assertEqual(run(VGPU, "--device", "h200", build / program), "4 5\n10 11\n")

    def test_what_is_missing_is_named(self):
        shutil.copytree(self.folder / "ladder_devel", self.folder / "no runtime", symlinks=True)
        found = subprocess.run([
            CMAKE, "-S", str(pathlib.Path(SOURCE) / "examples/consumer"), "-B",
            str(self.folder / "failing"), "-G", "Ninja",
            f"-DCMAKE_PREFIX_PATH={self.folder / 'no runtime'}", f"-DCMAKE_CUDA_COMPILER={NVCC}"
        ], capture_output=True, text=True, timeout=200, check=False)
        self.assertNotEqual(found.returncode, 0)
        self.assertIn("no component 'shared'", " ".join(found.stderr.split()))

    def test_pkg_config(self):
        if shutil.which("pkg-config") is None:
            self.skipTest("no pkg-config")
        folder = next(self.prefix.glob("lib/**/pkgconfig"))
        flags = run("pkg-config", "--cflags", "--libs", "ladder",
                    env={"PKG_CONFIG_PATH": str(folder), "PATH": "/usr/bin:/bin"})
        words = shlex.split(flags)
        self.assertIn("-lladder", words)
        folders = {word[:2]: pathlib.Path(word[2:]).resolve() for word in words}
        self.assertEqual(folders["-I"], (self.prefix / "include").resolve())
        self.assertEqual(folders["-L"], self.library.parent.resolve())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
