// SPDX-License-Identifier: Apache-2.0
// The mathematical library, double precision, half precision, 64-bit integers.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void single(const float* in, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const float x = in[i];
  float* const row = out + i * 16;
  row[0] = expf(x);
  row[1] = logf(fabsf(x) + 1e-3F);
  row[2] = sinf(x);
  row[3] = cosf(x);
  row[4] = tanhf(x);
  row[5] = powf(fabsf(x) + 0.5F, 1.7F);
  row[6] = sqrtf(fabsf(x));
  row[7] = rsqrtf(fabsf(x) + 0.1F);
  row[8] = erff(x);
  row[9] = 1.0F / (x + 100.0F);
  row[10] = x / 3.7F;
  row[11] = atan2f(x, 2.0F);
  row[12] = cbrtf(x);
  row[13] = floorf(x) + ceilf(x * 0.3F) + rintf(x * 0.7F) + truncf(x);
  row[14] = fmodf(x, 1.3F);
  row[15] = log1pf(fabsf(x));
}

extern "C" __global__ void twice(const double* in, double* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const double x = in[i];
  double* const row = out + i * 8;
  row[0] = exp(x);
  row[1] = log(fabs(x) + 1e-3);
  row[2] = sin(x);
  row[3] = cos(x);
  row[4] = sqrt(fabs(x));
  row[5] = x / 3.7;
  row[6] = fma(x, x, 1.0);
  row[7] = pow(fabs(x) + 0.5, 1.7);
}

extern "C" __global__ void integers(const long long* a, const long long* b, long long* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const long long x = a[i], y = b[i];
  const unsigned long long u = static_cast<unsigned long long>(x),
                           v = static_cast<unsigned long long>(y);
  long long* const row = out + i * 8;
  row[0] = x * y;
  row[1] = x / y;
  row[2] = x % y;
  row[3] = static_cast<long long>(u / v);
  row[4] = static_cast<long long>(u % v);
  row[5] = static_cast<long long>(__umul64hi(u, v));
  row[6] = __popcll(u) + 100 * __clzll(x) + 10000 * __ffsll(x);
  row[7] = x < y ? x >> (y & 63) : static_cast<long long>(u << (v & 63));
}

extern "C" __global__ void halves(const __half2* a, const __half2* b, __half2* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  __half2 v = __hmul2(a[i], b[i]);
  v = __hfma2(v, a[i], b[i]);
  v = __hadd2(v, __hneg2(b[i]));
  out[i] = __hmax2(v, __float2half2_rn(-4.0F));
}

extern "C" __global__ void bfloats(const float* a, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const __nv_bfloat16 high = __float2bfloat16(a[i]);
  const __nv_bfloat16 low = __float2bfloat16(a[i] - __bfloat162float(high));
  out[2 * i] = __bfloat162float(high);
  out[2 * i + 1] = __bfloat162float(low);
}

extern "C" __global__ void divide(const float* a, const float* b, float* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) out[i] = a[i] / b[i];
}

extern "C" __global__ void extremes(const double* a, const double* b, double* out, int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  out[2 * i] = fmin(a[i], b[i]);
  out[2 * i + 1] = fmax(a[i], b[i]);
}

// Pairs of halves: comparisons, selections, and conversions to integers.
extern "C" __global__ void compare_halves(const __half2* a, const __half2* b, unsigned* out,
                                          int n) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i >= n) return;
  const __half2 x = a[i], y = b[i];
  const auto bits = [](__half2 v) { return *reinterpret_cast<const unsigned*>(&v); };
  unsigned* const row = out + i * 8;
  row[0] = bits(__hgt2(x, y));
  row[1] = __hle2_mask(x, y);
  row[2] = bits(__hmin2(x, y));
  row[3] = bits(__hmax2_nan(x, y));
  row[4] = bits(__hfma2_relu(x, y, x));
  row[5] = __low2half(x) < __low2half(y) ? 1 : 0;
  row[6] = static_cast<unsigned>(__half2int_rz(__high2half(x)));
  row[7] = __half_as_ushort(__int2half_rn(static_cast<int>(bits(x) % 5000) - 2500));
}
