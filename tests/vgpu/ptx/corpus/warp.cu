// SPDX-License-Identifier: Apache-2.0
// Warp-level instructions, atomics, conversions and arithmetic in the smaller types.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>

__global__ void together(int* out, float* sums) {
  const unsigned all = 0xffffffffu;
  float x = sums[threadIdx.x];
  for (int d = 16; d > 0; d /= 2) x += __shfl_xor_sync(all, x, d);
  int y = __shfl_down_sync(all, out[threadIdx.x], 1, 8) + __shfl_up_sync(all, out[0], 2) +
          __shfl_sync(all, out[1], 3);
  y += __ballot_sync(all, y > 3) + __any_sync(all, y) + __all_sync(all, x > 0);
  y += __match_any_sync(all, y);
  int same;
  y += __match_all_sync(all, y, &same) + same;
  y += __reduce_add_sync(all, y) + __reduce_max_sync(all, y) +
       __reduce_xor_sync(all, static_cast<unsigned>(y));
  y += __activemask() + __dp4a(y, 3, 4) + __byte_perm(y, 1, 0x3210) + __funnelshift_l(y, 2, 3);
  out[threadIdx.x] = y;
  sums[threadIdx.x] = x;
}
__global__ void atomics(int* i, unsigned long long* l, float* f, double* d, __half2* h) {
  __shared__ int counter;
  atomicAdd(&counter, 1);
  atomicAdd(i, 1);
  atomicExch(i, atomicCAS(i + 1, 2, 3));
  atomicMin(i, 4);
  atomicAnd(i, 5);
  atomicAdd(l, 6ull);
  atomicAdd(f, 1.f);
  atomicAdd(d, 1.);
  atomicAdd(h, __half2{});
  atomicInc(reinterpret_cast<unsigned*>(i), 7);
  atomicAdd_system(i, 1);
  i[0] = atomicAdd_block(i + 2, counter);
}
__global__ void numbers(float* f, double* d, __half* h, __nv_bfloat16* b, __nv_fp8_e4m3* e,
                        int* i) {
  const int t = threadIdx.x;
  f[t] = __half2float(h[t]) + __bfloat162float(b[t]) + static_cast<float>(e[t]) + rsqrtf(f[t]) +
         __expf(f[t]) + sinf(f[t]) + fminf(f[0], f[1]) + truncf(f[2]) + static_cast<float>(d[t]) +
         __fdividef(f[3], f[4]);
  h[t] = __hfma(h[t], h[1], __float2half(f[t]));
  b[t] = __float2bfloat16(f[t]) + b[1];
  e[t] = __nv_fp8_e4m3(f[t]);
  d[t] = exp(d[t]) + fma(d[0], d[1], d[2]) + static_cast<double>(i[t]) + __longlong_as_double(i[1]);
  i[t] = __float2int_rn(f[t]) + __double2int_rz(d[t]) + __float_as_int(f[0]) + __mulhi(i[0], i[1]) +
         static_cast<int>(__umul64hi(i[2], i[3])) + static_cast<signed char>(i[4]) +
         static_cast<short>(i[5]);
}
