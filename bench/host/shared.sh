#!/usr/bin/env bash
# Measures h05 on all cores beside h04 on one, with a process that computes all the time on the last
# core. Exit status 1 if h05 is slower than 0.9 of one core's rate.
#   bench/host/shared.sh [BUILD_FOLDER] [OUTPUT_FOLDER] [COMPETITORS]
# Defaults: build, results/cpu, 1. Writes OUTPUT_FOLDER/shared.csv. PREBUILT=1: build nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build}
output=${2:-results/cpu}
competitors=${3:-1}
[ "${PREBUILT:-0}" = 1 ] || cmake --build "$build" --target bench_shared
mkdir -p "$output"
{
  commit=${LADDER_COMMIT:-$(git describe --always --dirty 2>/dev/null || echo unknown)}
  cpu=$(sed -n 's/^model name.*: //p' /proc/cpuinfo | head -n 1)
  read -r load _ </proc/loadavg
  echo "# $(date -u +%F), commit $commit, $cpu, $(nproc) cores, load before $load"
  echo "# $competitors competing"
  "$build/bin/bench_shared" "$competitors" 80
} | tee "$output/shared.csv"
