// SPDX-License-Identifier: Apache-2.0
// Instructions with few modifiers: each of ../plain_forms.inc, and every table of lop3.
#include <utility>

namespace {

__device__ unsigned bits(float a) { return __float_as_uint(a); }
__device__ unsigned long long bits(double a) {
  return static_cast<unsigned long long>(__double_as_longlong(a));
}
__device__ unsigned long long wide(unsigned low, unsigned high) {
  return low | static_cast<unsigned long long>(high) << 32;
}
template <class T>
__device__ T least(T a, T b) {
  return min(a, b);
}
template <class T>
__device__ T most(T a, T b) {
  return max(a, b);
}
__device__ unsigned shift_left(unsigned a, unsigned by) {
  unsigned r;
  asm("shl.b32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(by));
  return r;
}
__device__ unsigned shift_right(unsigned a, unsigned by) {
  unsigned r;
  asm("shr.u32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(by));
  return r;
}
__device__ unsigned funnel_left(unsigned a, unsigned b, unsigned by) {
  return __funnelshift_l(a, b, by);
}
__device__ unsigned funnel_right(unsigned a, unsigned b, unsigned by) {
  return __funnelshift_r(a, b, by);
}
__device__ unsigned funnel_left_clamped(unsigned a, unsigned b, unsigned by) {
  return __funnelshift_lc(a, b, by);
}
__device__ unsigned funnel_right_clamped(unsigned a, unsigned b, unsigned by) {
  return __funnelshift_rc(a, b, by);
}
__device__ float flushed_sum(float a, float b) {
  float r;
  asm("add.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ float flushed_product(float a, float b) {
  float r;
  asm("mul.rn.ftz.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
  return r;
}
__device__ float flushed_fma(float a, float b, float c) {
  float r;
  asm("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c));
  return r;
}

template <int kTable>
__device__ unsigned look_up(unsigned a, unsigned b, unsigned c) {
  unsigned r;
  asm("lop3.b32 %0, %1, %2, %3, %4;" : "=r"(r) : "r"(a), "r"(b), "r"(c), "n"(kTable));
  return r;
}

template <int... kTables>
__device__ void look_up_all(unsigned a, unsigned b, unsigned c, unsigned* out, int n,
                            std::integer_sequence<int, kTables...>) {
  ((out[kTables * n] = look_up<kTables>(a, b, c)), ...);
}

}  // namespace

// in: three rows of n words; doubles: of n doubles. Results are rows of n, too.
extern "C" __global__ void forms(const unsigned* in, const double* doubles, unsigned* words,
                                 unsigned long long* pairs, int n) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  const unsigned x = in[t], y = in[n + t], z = in[2 * n + t];
  const int i = static_cast<int>(x), j = static_cast<int>(y), k = static_cast<int>(z);
  const float f = __uint_as_float(x), g = __uint_as_float(y), h = __uint_as_float(z);
  const double d = doubles[t], e = doubles[n + t], c = doubles[2 * n + t];
  int word = 0, pair = 0;
#define WORD(value) words[n * word++ + t] = (value);
#define PAIR(value) pairs[n * pair++ + t] = (value);
#include "../plain_forms.inc"
}

extern "C" __global__ void tables(const unsigned* in, unsigned* out, int n) {
  const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  look_up_all(in[t], in[n + t], in[2 * n + t], out + t, n, std::make_integer_sequence<int, 256>());
}
