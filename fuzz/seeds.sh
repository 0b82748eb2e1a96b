#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Regenerates the seeds of fuzz/corpus: a small kernel in every format that the readers accept. The
# build makes further seeds of fuzz_lower from the kernels of tests/vgpu/machine.
# Inputs that fuzzing has found since then are kept beside them (minimised: fuzz_NAME -merge=1).
set -euo pipefail
cd "$(dirname "$0")"
mkdir -p corpus/{fatbin,cubin,sass,ptx,lower}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/k.cu" <<'CU'
__device__ int table[4] = {1, 2, 3, 4};
__constant__ float weight = 2;
struct Point { float x; short y; };
extern "C" __global__ void k(float* out, Point p, int n) {
  __shared__ float tile[32];
  tile[threadIdx.x] = p.x * weight + table[n & 3];
  __syncthreads();
  if (n > 3) out[threadIdx.x] = tile[31 - threadIdx.x] / p.y;
}
CU
for mode in none speed size; do
  nvcc -fatbin --compress-mode=$mode -gencode arch=compute_80,code=compute_80 \
    -gencode arch=compute_90,code=sm_90 \
    "$work/k.cu" -o "corpus/fatbin/$mode"
done
nvcc -ptx -arch compute_80 -lineinfo "$work/k.cu" -o "$work/k.ptx"
grep -v '^//' "$work/k.ptx" | sed "s#$work/##" >corpus/ptx/kernel
printf '%s\n' '.version 8.0' '.target sm_80' '.address_size 64' \
  '.func (.reg .b32 r) f(.reg .b32 a, .param .b64 b)' '{' \
  '.reg .pred p; .reg .b32 t<4>; .local .align 8 .b8 l[16];' '@!p bra L; { .reg .b32 t1; mov.b32 t1, 0x7f; }' \
  'L: call (r), f, (a, b); t: .branchtargets L; brx.idx a, t; ret; }' \
  '.visible .global .align 4 .f32 g[2] = {0f3F800000, -1.5};' >corpus/ptx/function
nvcc -cubin -arch sm_90 "$work/k.cu" -o corpus/cubin/kernel
# Extracts the kernel's section, at the offset that readelf prints.
read -r offset size < <(readelf -SW corpus/cubin/kernel | sed -n 's/.* \.text\.k  *PROGBITS  *[0-9a-f]*  *\([0-9a-f]*\)  *\([0-9a-f]*\) .*/0x\1 0x\2/p')
tail -c +$((offset + 1)) corpus/cubin/kernel | head -c $((size)) >corpus/sass/kernel
cp corpus/cubin/kernel corpus/lower/cubin
