// SPDX-License-Identifier: Apache-2.0
// Element types in device memory, with the same conversions as encode() and decode() on the host.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <ladder/problem.hpp>

#include <cstdint>

namespace ladder {

template <class T>
struct Element;

template <>
struct Element<float> {
  using Bits = std::uint32_t;
  static constexpr Bits kPoison = 0x7FA55AA5U, kNan = 0x7FC00000U;
  static __device__ Bits bits(float value) { return __float_as_uint(value); }
  static __device__ float value(Bits bits) { return __uint_as_float(bits); }
};

template <>
struct Element<__nv_bfloat16> {
  using Bits = std::uint16_t;
  static constexpr Bits kPoison = 0x7FA5, kNan = 0x7FC0;
  static __device__ Bits bits(float value) {
    return __bfloat16_as_ushort(__float2bfloat16_rn(value));
  }
  static __device__ float value(Bits bits) {
    return __uint_as_float(static_cast<std::uint32_t>(bits) << 16);
  }
};

template <>
struct Element<__half> {
  using Bits = std::uint16_t;
  static constexpr Bits kPoison = 0x7DA5, kNan = 0x7E00;
  static __device__ Bits bits(float value) { return __half_as_ushort(__float2half_rn(value)); }
  static __device__ float value(Bits bits) { return __half2float(__ushort_as_half(bits)); }
};

// 8-bit types have no NaN that no arithmetic produces.
template <>
struct Element<__nv_fp8_e4m3> {
  using Bits = std::uint8_t;
  static constexpr Bits kPoison = 0x7F, kNan = 0x7F;
  static __device__ Bits bits(float value) {
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E4M3);
  }
  static __device__ float value(Bits bits) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E4M3)));
  }
};

template <>
struct Element<__nv_fp8_e5m2> {
  using Bits = std::uint8_t;
  static constexpr Bits kPoison = 0x7F, kNan = 0x7F;
  static __device__ Bits bits(float value) {
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, __NV_E5M2);
  }
  static __device__ float value(Bits bits) {
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, __NV_E5M2)));
  }
};

// Calls visit(Element<T>()) with the T of `type`.
template <class Visit>
auto with_element(Type type, const Visit& visit) {
  switch (type) {
    case Type::kBf16: return visit(Element<__nv_bfloat16>());
    case Type::kF16: return visit(Element<__half>());
    case Type::kE4m3: return visit(Element<__nv_fp8_e4m3>());
    case Type::kE5m2: return visit(Element<__nv_fp8_e5m2>());
    case Type::kF32: break;
  }
  return visit(Element<float>());
}

}  // namespace ladder
