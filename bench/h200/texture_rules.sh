#!/usr/bin/env bash
# Runs the programs that show the texture unit's arithmetic on this machine's GPU and writes what
# they print (NAME.txt) and every result (NAME.bin.gz) into a folder.
#   bench/h200/texture_rules.sh FOLDER [SEED...]
set -euo pipefail
cd "$(dirname "$0")/../.."
folder=$1
seeds=("${@:2}")
[ ${#seeds[@]} != 0 ] || seeds=(1 2 3)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$folder"
for name in textures surfaces texture_rules; do
  nvcc -std=c++20 -arch=sm_90 -o "$work/$name" "tests/vgpu/programs/$name.cu" &
done
wait
run() { # name, program, arguments: the last one is the file of results
  "$work/$2" "${@:3}" "$work/results" >"$folder/$1.txt"
  gzip -9 -c "$work/results" >"$folder/$1.bin.gz"
  echo "$1: $(wc -l <"$folder/$1.txt") lines"
}
run textures textures
run surfaces surfaces
for seed in "${seeds[@]}"; do run "texture_rules_$seed" texture_rules "$seed"; done
