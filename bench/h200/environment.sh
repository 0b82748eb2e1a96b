#!/usr/bin/env bash
# Prints one line that states the machine and the versions with which a results file was made.
# LADDER_COMMIT replaces the commit if git is not available.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=${LADDER_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
toolkit=$(nvcc --version | sed -n 's/.*, \(V[0-9.]*\).*/\1/p')
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
echo "$(date -u +%F), commit $commit, nvcc $toolkit, $gpu"
