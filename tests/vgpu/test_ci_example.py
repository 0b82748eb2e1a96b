# SPDX-License-Identifier: Apache-2.0
"""test_ci_example.py SOURCE CMAKE NVCC VGPU: the project of examples/ci, with the GitHub Action and
the GitLab template of packaging: their steps run here as they stand there, but for installing
packages and building vgpu. Once as it is, and with faults in its kernel."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

try:
    import yaml
except ImportError:
    print("skipped: Python's yaml is missing")
    sys.exit(77)

SOURCE, CMAKE, NVCC, VGPU = sys.argv[1:5]
ACTION = os.path.join(SOURCE, "packaging", "github-action")
FIRED, GREW = 86, 87


class Loader(yaml.SafeLoader):
    pass


# GitLab's !reference [job, key]: lists stay lists, nested in the list that refers to them.
Loader.add_constructor("!reference", lambda loader, node: loader.construct_sequence(node))


def load(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return yaml.load(file, Loader)


def without_packages(lines):
    return "\n".join(line for line in lines if "apt-get" not in line)


class Example(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = os.path.join(folder.name, "ci")
        shutil.copytree(os.path.join(SOURCE, "examples", "ci"), self.folder)
        self.environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("VGPU_", "GITHUB_", "CI_"))
        }
        self.environment["CUDACXX"] = NVCC
        self.environment["PATH"] = os.pathsep.join(
            [os.path.dirname(VGPU), os.path.dirname(CMAKE), self.environment["PATH"]])

    def sh(self, commands, environment=None):
        return subprocess.run(["bash", "-e", "-c", commands], cwd=self.folder, text=True,
                              env={**self.environment, **(environment or {})}, timeout=300,
                              capture_output=True, check=False)

    def edit(self, pattern, replacement):
        path = os.path.join(self.folder, "transpose.cu")
        with open(path, encoding="utf-8") as file:
            text, count = re.subn(pattern, replacement, file.read())
        self.assertEqual(count, 1, pattern)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def job_of_github(self):
        """The commands that build, and how the action's step runs: (build, command, environment)."""
        workflow = load(self.folder, ".github", "workflows", "virtual-gpu.yml")
        _, build, use = workflow["jobs"]["kernels"]["steps"]
        self.assertRegex(use["uses"], "^OWNER/ladder/packaging/github-action@")
        action = load(ACTION, "action.yml")
        self.assertLessEqual(set(use["with"]), set(action["inputs"]))
        values = {"github.action_path": ACTION}
        for name, entry in action["inputs"].items():
            given = use["with"].get(name, entry.get("default"))
            self.assertIsNotNone(given, f"{name} is required")
            values[f"inputs.{name}"] = str(given).lower() if isinstance(given, bool) else str(given)
        step = next(step for step in action["runs"]["steps"] if step.get("id") == "run")

        def value(text):
            return re.sub(r"\$\{\{ (.*?) \}\}", lambda match: values[match[1]], str(text))

        environment = {name: value(text) for name, text in step["env"].items()}
        environment["GITHUB_WORKSPACE"] = self.folder
        environment["GITHUB_OUTPUT"] = os.path.join(self.folder, "outputs")
        return without_packages(build["run"].splitlines()), value(step["run"]), environment

    def job_of_gitlab(self):
        template = load(SOURCE, "packaging", "gitlab", "virtual-gpu.yml")[".virtual-gpu"]
        job = load(self.folder, ".gitlab-ci.yml")["kernels"]
        self.assertEqual(job["extends"], ".virtual-gpu")
        self.assertEqual(job["before_script"][0], [".virtual-gpu", "before_script"])
        environment = {**template["variables"], **job["variables"], "CI_PROJECT_DIR": self.folder}
        (command, ) = template["script"]
        self.assertIn("vgpu-reports/vgpu.xml", template["artifacts"]["reports"]["junit"])
        return (without_packages(job["before_script"][1:]), command.replace(".ladder", SOURCE),
                environment)

    def build(self, commands):
        result = self.sh(commands)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def run_job(self, job, status):
        result = self.sh(job[1], job[2])
        self.assertEqual(result.returncode, status, result.stdout + result.stderr)
        for name in ("vgpu.xml", "vgpu.sarif"):
            self.assertTrue(os.path.exists(os.path.join(self.folder, "vgpu-reports", name)))
        return result.stderr

    def test_passes_as_it_is_and_fails_by_what_is_wrong(self):
        github, gitlab = self.job_of_github(), self.job_of_gitlab()
        self.assertEqual(github[0].split(), gitlab[0].split(), "both build alike")
        self.build(github[0])
        for job in (github, gitlab):
            self.assertRegex(self.run_job(job, 0),
                             r"1 launches and \d+ values .* 0 worse, 0 better")
        with open(os.path.join(self.folder, "outputs"), encoding="utf-8") as file:
            self.assertEqual(file.read(), "status=0\nsarif=vgpu-reports/vgpu.sarif\n")
        outputs = os.path.join(self.folder, "refused")
        refused = self.sh(github[1],
                          {**github[2], "OPTIONS": "--no-such", "GITHUB_OUTPUT": outputs})
        self.assertEqual(refused.returncode, 2, refused.stderr)
        with open(outputs, encoding="utf-8") as file:
            self.assertEqual(file.read(), "status=2\n", "no report, hence nothing to upload")

        self.edit(r"= tile\[threadIdx.x\]\[threadIdx.y \+ i\]",
                  "= 2 * tile[threadIdx.x][threadIdx.y + i]")
        self.build("cmake --build build")
        self.run_job(gitlab, 1)  # the program finds its result wrong

        shutil.copy(os.path.join(SOURCE, "examples", "ci", "transpose.cu"), self.folder)
        self.edit(r"= in\[\(y \+ i\) \* columns \+ x\]",
                  "= in[(y + i) * columns + x] + 0 * in[x]")
        self.build("cmake --build build")
        errors = self.run_job(github, GREW)
        self.assertRegex(errors, r" smsp__sass_thread_inst_executed_op_ffma_pred_on.sum +0 +30000")
        self.assertRegex(errors, r" l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum +1000 +~2000",
                         "the compiler may join the loads: an estimate")
        self.assertIn("::error file=baseline.json,", errors)

        shutil.copy(os.path.join(SOURCE, "examples", "ci", "transpose.cu"), self.folder)
        self.edit(r"  __syncthreads\(\);\n", "")
        self.build("cmake --build build")
        self.assertRegex(self.run_job(github, FIRED),
                         r"(?m)^::error file=transpose.cu,line=\d+,title=vgpu%3A race::")
        self.run_job(gitlab, FIRED)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[5:])
