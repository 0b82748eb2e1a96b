#!/usr/bin/env bash
# Produces all results shown for an H200: builds, verifies every rung, runs compute-sanitizer, and
# measures the golden counters, the ladder, its rates over sizes, other libraries, and the
# tensor-core rungs with their accuracy.
#   bench/h200/all.sh [OUTPUT_FOLDER]        default: the folders where the results are committed
# Without git, set LADDER_COMMIT to the commit. The scripts that this one calls can also be called
# alone; with PREBUILT=1 they build nothing.
set -euo pipefail
cd "$(dirname "$0")/../.."
output=${1:-}
results=${output:-results/h200}
golden=${output:+$output/h200.csv}
build=build
mkdir -p "$results"

cmake --preset release ${LADDER_COMMIT:+-DLADDER_COMMIT="$LADDER_COMMIT"}
cmake --build --preset release | sed '/^\[[0-9]*\/[0-9]*\]/d'  # progress is dropped, errors are not
failed=()  # what failed does not keep the rest from being measured; the exit status tells
echo "--- every rung, every case"
"$build/bin/ladder" verify --device cuda:0 --battery full || failed+=(verify)
echo "--- kernels that must be rejected, on the GPU"
"$build/bin/test_broken_cuda" || failed+=(test_broken_cuda)
echo "--- compute-sanitizer"
mapfile -t rungs < <("$build/bin/ladder" list --json | python3 -c \
  'import json,sys; print(*(k["id"] for k in json.load(sys.stdin) if k["place"] == "cuda" and k["role"] == "rung"), sep="\n")')
for tool in memcheck racecheck synccheck initcheck; do
  bench/h200/sanitize.sh "$tool" "$build/bin/ladder" \
    verify --device cuda:0 --battery quick "${rungs[@]}" ||
    failed+=("compute-sanitizer $tool")
done
bench/h200/golden.sh "$build" "${golden:-tests/golden/h200.csv}"
bench/h200/peak.sh "$build" "$results/peak.csv"
bench/h200/climb.sh "$build" "$results"
bench/h200/sizes.sh "$build" "$results"
bench/h200/baselines.sh "$build" "$results" || failed+=(baselines)
# Their checks were run above, except those of the guard.
"$build/bin/test_split" --gtest_brief=1 || failed+=(test_split)
SKIP_CHECKS=1 LADDER=$build/bin/ladder bench/h200/hopper.sh "$results"
SKIP_CHECKS=1 LADDER=$build/bin/ladder bench/h200/split.sh "$results"
SKIP_CHECKS=1 bench/h200/fp8.sh "$build/bin/ladder" "$results"
if [ ${#failed[@]} -gt 0 ]; then
  printf 'all.sh: failed: %s\n' "${failed[@]}" >&2
  exit 1
fi
