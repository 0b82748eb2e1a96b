// SPDX-License-Identifier: Apache-2.0
// Small kernels: arithmetic in all types, conversions and bit operations.
#include "micro.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace micro {

__global__ void doubles(int* x) {
  const int t = thread_number();
  auto* d = reinterpret_cast<double*>(x);
  const double a = __dmul_rn(d[t], 1.5), b = __dadd_rn(a, d[t + 1]);
  d[1024 + t] = __fma_rn(a, b, 2.0);
}

__global__ void halves(int* x) {
  const int t = thread_number();
  auto* h = reinterpret_cast<__half2*>(x);
  h[1024 + t] = __hfma2(h[t], h[t + 1], __hadd2(h[t + 2], h[t]));
}

__global__ void conversions(int* x) {
  const int t = thread_number();
  const auto f = static_cast<float>(x[t]) * 0.75F;
  const double d = static_cast<double>(f) + static_cast<double>(x[t + 1]);
  const __half h = __float2half(f);
  int sum = static_cast<int>(f) + __float2int_rd(f) + __double2int_rz(d) + __half2int_rn(h);
  sum += static_cast<int>(static_cast<float>(d)) + static_cast<int>(rintf(f) + floorf(f * 0.5F));
  sum += static_cast<int>(__half2float(h) + static_cast<float>(static_cast<short>(x[t + 2])));
  sum += static_cast<int>(static_cast<long long>(f * 3.0F) >> 1);
  x[1024 + t] = sum;
  x[2048 + t] = static_cast<int>(static_cast<float>(static_cast<unsigned char>(x[t + 3] >> 1)));
}

__global__ void bit_operations(int* x) {
  const int t = thread_number();
  const auto a = static_cast<unsigned>(x[t]), b = static_cast<unsigned>(x[t + 5]);
  unsigned sum = __popc(a) + __clz(b) + __brev(a) + __ffs(b) + __byte_perm(a, b, 0x3715);
  sum ^= __funnelshift_l(a, b, 7) + __funnelshift_r(a, b, a & 31);
  sum += static_cast<unsigned>(static_cast<signed char>(a)) + (a >> 3 & 0x7f);
  unsigned mask, field;
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(mask) : "r"(a & 15), "r"(b & 15));
  asm("bfi.b32 %0, %1, %2, 3, 7;" : "=r"(field) : "r"(a), "r"(b));
  x[1024 + t] = static_cast<int>(sum ^ mask ^ field);
  x[2048 + t] = static_cast<int>((a & b) | (~a ^ b));
}

__global__ void integers(int* x) {
  const int t = thread_number();
  const int a = x[t] - 100, b = x[t + 7] * 3;
  int sum = abs(a) + min(a, b) + max(a, t) + __mulhi(a, b) + __mul24(a, b);
  sum += a > b ? x[t + 9] : b - t;
  sum += a / (t + 3) + b % 7;
  const long long wide = static_cast<long long>(a) * b + t;
  x[1024 + t] = sum;
  x[2048 + t] = static_cast<int>(wide >> 9) + (wide > 1000 ? 3 : 4);
}

__global__ void dot_products(int* x) {
  const int t = thread_number();
  x[1024 + t] = __dp4a(x[t], x[t + 7], t);
}

__global__ void special_functions(int* x) {
  const int t = thread_number();
  const float a = static_cast<float>(x[t] + 1), b = static_cast<float>(x[t + 3] + 2);
  float sum = __fdividef(a, b) + sqrtf(a) + rsqrtf(b) + __sinf(a) + __expf(-a) + __logf(b);
  sum += fminf(a, b) + fmaxf(a, 4.0F) + fabsf(a - b) + (a > b ? a : sum) + a / b;
  x[1024 + t] = __float_as_int(sum);
}

__global__ void extensions(int* x) {
  const int t = thread_number();
  int low, wrapped, byte;
  asm("szext.clamp.s32 %0, %1, %2;" : "=r"(low) : "r"(x[t]), "r"(x[t + 1] & 15));
  asm("szext.wrap.u32 %0, %1, %2;" : "=r"(wrapped) : "r"(x[t]), "r"(x[t + 1] & 15));
  asm("cvt.sat.s8.s32 %0, %1;" : "=r"(byte) : "r"(x[t + 4] * 77));
  x[1024 + t] = low + wrapped + byte;
}

// One warp per exponent of the dividend, one step per exponent of the divisor: which pairs take the
// slow path.
__global__ void divisions(int* x) {
  const int exponent = thread_number() / 32;
  float sum = 0;
#pragma unroll 1
  for (int divisor = 0; divisor < 256; ++divisor) {
    sum +=
        __int_as_float(exponent << 23 | x[0]) / __int_as_float(divisor << 23 | (x[0] + 0x123456));
  }
  x[1024 + thread_number()] = __float_as_int(sum);
}

// Positions and widths around 32 bits.
__global__ void bit_masks(int* x) {
  const int t = thread_number();
  unsigned clamped, wrapped;
  const auto from = static_cast<unsigned>(x[t] * 3 % 67),
             width = static_cast<unsigned>(x[t] * 5 % 41);
  asm("bmsk.clamp.b32 %0, %1, %2;" : "=r"(clamped) : "r"(from), "r"(width));
  asm("bmsk.wrap.b32 %0, %1, %2;" : "=r"(wrapped) : "r"(from), "r"(width));
  x[1024 + t] = static_cast<int>(clamped ^ wrapped);
}

__global__ void least_of_three(int* x) {
  const int t = thread_number();
  const int a = x[t] % 7 - 3, b = x[t + 1] % 5 - 2, c = x[t + 2] % 3;
  const auto d = static_cast<unsigned>(a), e = static_cast<unsigned>(b),
             f = static_cast<unsigned>(c);
  x[1024 + t] = max(a, max(b, c));
  x[2048 + t] = min(min(a, b), -1);
  x[3072 + t] = static_cast<int>(max(d, max(e, f)));
}

// Comparisons with numeric results.
__global__ void compared_floats(int* x) {
  const int t = thread_number();
  const auto a = static_cast<float>(x[t] % 7), b = static_cast<float>(x[t + 1] % 5);
  const float less = a < b ? 1.0F : 0.0F;
  const float great = a > 2.0F ? 1.0F : 0.0F;
  x[1024 + t] = static_cast<int>(less + 3.0F * great);
}

__global__ void compared_halves(int* x) {
  const int t = thread_number();
  const auto* h = reinterpret_cast<const __half2*>(x);
  const __half2 a = h[t], b = h[t + 1], c = __hmul2(a, b);
  const __half2 less = __hlt2(a, b), least = __hmin2(c, __hmax2(a, b));
  const int alike =
      static_cast<int>(__hbgt2(a, c)) + 2 * static_cast<int>(__low2half(a) == __high2half(b));
  reinterpret_cast<__half2*>(x)[1024 + t] = __hadd2(less, least);
  x[2048 + t] = alike;
  const auto* bf = reinterpret_cast<const __nv_bfloat162*>(x);
  reinterpret_cast<__nv_bfloat162*>(x)[3072 + t] = __hmax2(__hmul2(bf[t], bf[t + 2]), bf[t + 5]);
}

__global__ void compared_doubles(int* x) {
  const int t = thread_number();
  const auto a = static_cast<double>(x[t] % 7), b = static_cast<double>(x[t + 1] % 5);
  x[1024 + t] = (a < b ? x[3] : x[4]) + static_cast<int>(a != 2.0);
}

// Bits of a mask become predicates, seven at a time.
__global__ void masked(int* x) {
  const int t = thread_number();
  const auto mask = static_cast<unsigned>(x[t]) * 0x9e3779b9U;
  float greatest = 0;
#pragma unroll
  for (int i = 0; i < 24; ++i) {
    const float value =
        (mask >> i & 1) != 0 ? __int_as_float(x[t + i]) : -__int_as_float(0x7f800000);
    greatest = fmaxf(greatest, value);
  }
  x[1024 + t] = __float_as_int(greatest);
}

// More predicates than predicate registers.
__global__ void many_predicates(int* x) {
  const int t = thread_number();
  bool greater[16];
#pragma unroll
  for (int i = 0; i < 16; ++i) greater[i] = x[t + i] % 5 > x[t + i + 1] % 3;
  __syncthreads();
#pragma unroll 1
  for (int k = 0; k < 4; ++k) {
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      if (greater[i]) x[1024 + t * 16 + i] = k;
    }
    __syncthreads();
  }
}

std::span<const Launch> arithmetic_launches() {
  static constexpr Launch kLaunches[] = {
      {"micro.doubles", [](int* x) { start(doubles, x); }},
      {"micro.halves", [](int* x) { start(halves, x); }},
      {"micro.conversions", [](int* x) { start(conversions, x); }},
      {"micro.bit_operations", [](int* x) { start(bit_operations, x); }},
      {"micro.integers", [](int* x) { start(integers, x); }},
      {"micro.dot_products", [](int* x) { start(dot_products, x); }},
      {"micro.special_functions", [](int* x) { start(special_functions, x); }, false},
      {"micro.extensions", [](int* x) { start(extensions, x); }},
      {"micro.divisions", [](int* x) { divisions<<<64, kThreads>>>(x); }},
      {"micro.bit_masks", [](int* x) { start(bit_masks, x); }},
      {"micro.least_of_three", [](int* x) { start(least_of_three, x); }},
      {"micro.compared_floats", [](int* x) { start(compared_floats, x); }},
      {"micro.compared_halves", [](int* x) { start(compared_halves, x); }},
      {"micro.compared_doubles", [](int* x) { start(compared_doubles, x); }},
      {"micro.masked", [](int* x) { start(masked, x); }},
      {"micro.many_predicates", [](int* x) { start(many_predicates, x); }},
  };
  return kLaunches;
}

}  // namespace micro
