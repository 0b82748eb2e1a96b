#!/usr/bin/env bash
# One line that says where and with what a file of results was made. LADDER_COMMIT stands in where
# git is not there.
set -euo pipefail
cd "$(dirname "$0")/../.."
commit=${LADDER_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
toolkit=$(nvcc --version | sed -n 's/.*, \(V[0-9.]*\).*/\1/p')
gpu=$(nvidia-smi --query-gpu=name,driver_version --format=csv,noheader | head -n 1)
echo "$(date -u +%F), commit $commit, nvcc $toolkit, $gpu"
