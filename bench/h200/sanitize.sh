#!/usr/bin/env bash
# Runs a program under a tool of compute-sanitizer. Prints the tool's summary, or its complaints
# with exit status 1.
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
