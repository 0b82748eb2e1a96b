#!/usr/bin/env bash
# What compute-sanitizer's memcheck says of writes between the blocks of a cluster, each form in a program of its own: CSV,
# form,target,to,from,bytes,blocks,verdict, the last "clean" or memcheck's words.
#   bench/h200/cluster_writes.sh [BUILD_FOLDER]        default: build/cluster-writes; with PREBUILT=1 nothing is built
set -euo pipefail
cd "$(dirname "$0")/../.."
build=${1:-build/cluster-writes}
if [ "${PREBUILT:-0}" != 1 ]; then
  cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release >/dev/null
  cmake --build "$build" --target cluster_writes >&2
fi
export program=$build/bin/cluster_writes

verdict() {
  local said
  if said=$(compute-sanitizer --tool memcheck --error-exitcode 1 "$program" "$@" 2>&1); then
    said=clean
  else
    said=$(grep -m1 -oE 'Access to .*|Address .*|Invalid .*|[0-9]+ words wrong' <<<"$said" || echo "failed")
  fi
  echo "$(tr ' ' ',' <<<"$*"),$said"
}
export -f verdict
echo "# $(bench/h200/environment.sh)"
echo form,target,to,from,bytes,blocks,verdict
for form in bulk st.async st; do
  for target in self neighbour; do
    for to in static dynamic; do
      for from in static dynamic; do
        for bytes in 16 64 1024; do
          for blocks in 1 2 4 8; do echo "$form $target $to $from $bytes $blocks"; done
        done
      done
    done
  done
done | xargs -P "$(nproc)" -L 1 bash -c 'verdict "$@"' _ | sort
