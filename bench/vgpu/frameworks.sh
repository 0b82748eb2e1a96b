#!/usr/bin/env bash
# Runs the programs of bench/vgpu/frameworks under vgpu and writes their results as a table.
#   bench/vgpu/frameworks.sh PYTHON [BUILD_FOLDER] [FILE] [PROGRAM...]
# PYTHON has the frameworks installed, for example the one of a virtual environment:
#   python3 -m venv env && env/bin/pip install torch numba-cuda cuda-python
#   bench/vgpu/frameworks.sh env/bin/python
# Programs of a framework that PYTHON lacks are left out. Minutes on two cores; no GPU is used.
set -euo pipefail
if (($# == 0)); then
  sed -n '2,6s/^# \?//p' "$0" >&2
  exit 2
fi
python=$(realpath -s "$1") build=${2:-build}
cd "$(dirname "$0")/../.."
exec "$python" bench/vgpu/frameworks_table.py --vgpu "$build/bin/vgpu" \
  --file "${3:-results/cpu/frameworks.txt}" "${@:4}"
