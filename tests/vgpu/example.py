# SPDX-License-Identifier: Apache-2.0
"""Runs the example of docs/virtual-gpu.md ("In CI") as it stands there, on a program that keeps the
limit and on one that does not, and the same commands as the files for GitHub and GitLab give them:
example.py --page PAGE.md --nvcc NVCC --vgpu VGPU"""
import argparse
import os
import re
import subprocess
import sys
import tempfile
import textwrap

# Each lane reads STRIDE elements after its neighbour.
PROGRAM = """
__global__ void read(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x * STRIDE]; }
int main() {
  float* x;
  cudaMalloc(&x, 1 << 16);
  cudaMemset(x, 0, 1 << 16);
  read<<<1, 128>>>(x, x + 128 * 64);
  cudaFree(x);
  return cudaDeviceSynchronize() != cudaSuccess;
}
"""


def commands_of(page):
    """The commands that run the program, from each block that has them: as text for sh."""
    yield re.search(r"```sh\n(.*?)```", page, re.S).group(1)
    github, gitlab = re.findall(r"```yaml\n(.*?)```", page, re.S)
    yield textwrap.dedent(re.search(r"virtual GPU\n +run: \|\n((?: {10}.*\n)+)", github).group(1))
    script = re.search(r"^  script:\n((?:    - .*\n)+)", gitlab, re.M).group(1)
    yield re.sub(r"^    - ", "", script, flags=re.M)


def main():
    parser = argparse.ArgumentParser()
    for name in ("page", "nvcc", "vgpu"):
        parser.add_argument(f"--{name}", required=True)
    options = parser.parse_args()
    page = open(options.page).read().split("## In CI", 1)[1]
    commands, *others = commands_of(page)
    for other in others:
        if other != commands:
            sys.exit(
                f"a file for continuous integration says\n{other}where the example says\n{commands}"
            )
    limits = re.search(r"```python\n(.*?)```", page, re.S).group(1)
    environment = dict(os.environ)
    environment["PATH"] = os.pathsep.join(
        [os.path.dirname(options.vgpu), os.path.dirname(options.nvcc), environment["PATH"]])
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "limits.py"), "w") as file:
            file.write(limits)
        for stride, expected in ((1, 0), (64, 1)):
            with open(os.path.join(folder, "program.cu"), "w") as file:
                file.write(PROGRAM.replace("STRIDE", str(stride)))
            result = subprocess.run(["sh", "-ec", commands], cwd=folder, env=environment,
                                    capture_output=True, text=True, check=False)
            if result.returncode != expected or ("sectors a load request"
                                                 in result.stderr) != bool(expected):
                sys.exit(
                    f"stride {stride}: exit status {result.returncode}\n{result.stdout}{result.stderr}"
                )


if __name__ == "__main__":
    main()
