#!/usr/bin/env bash
# Runs a program under a tool of compute-sanitizer: says what it summed up, or, with exit status 1,
# what it complained of.
#   bench/h200/sanitize.sh TOOL PROGRAM ARGUMENT...
set -euo pipefail
tool=$1
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! compute-sanitizer --tool "$tool" --error-exitcode 1 "${@:2}" >"$log" 2>&1; then
  grep -v passed "$log" | head -n 60
  echo "compute-sanitizer $tool: failed" >&2
  exit 1
fi
echo "$tool: $(grep -E 'SUMMARY' "$log")"
