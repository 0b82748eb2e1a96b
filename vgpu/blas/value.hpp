// SPDX-License-Identifier: Apache-2.0
// Elements of matrices and vectors, of every type that cuBLAS has and this library computes with.
#pragma once
#include <cuComplex.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <library_types.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace vgpu::blas {

// What computes with elements of CUDA's type C, which has the same bits.
template <class C>
struct NumberOf {
  using Type = C;
};
template <>
struct NumberOf<cuComplex> {
  using Type = std::complex<float>;
};
template <>
struct NumberOf<cuDoubleComplex> {
  using Type = std::complex<double>;
};
template <class C>
using Number = typename NumberOf<C>::Type;

template <class W>
constexpr bool kIsComplex = !std::is_arithmetic_v<W>;
template <class W>
using Real = decltype(std::abs(W{}));  // float or double
// The type in which sums are accumulated. cuBLAS adds parts of a vector in parallel, so that its
// sum of a million elements is more exact than a sequential sum in single precision.
template <class W>
using Wide = std::conditional_t<kIsComplex<W>, std::complex<double>, double>;

// 0 for a type that this library does not know.
constexpr std::size_t bytes_of(cudaDataType type) {
  switch (type) {
    case CUDA_R_8I:
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2: return 1;
    case CUDA_R_16F:
    case CUDA_R_16BF: return 2;
    case CUDA_R_32F:
    case CUDA_R_32I: return 4;
    case CUDA_R_64F:
    case CUDA_C_32F: return 8;
    case CUDA_C_64F: return 16;
    default: return 0;
  }
}

constexpr bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }
constexpr bool is_fp8(cudaDataType type) {
  return type == CUDA_R_8F_E4M3 || type == CUDA_R_8F_E5M2;
}

inline float from_fp8(std::uint8_t bits, __nv_fp8_interpretation_t kind) {
  return __half2float(__half(__nv_cvt_fp8_to_halfraw(bits, kind)));
}

// All values of a floating-point type of 8 or 16 bits, by bit pattern.
const float* numbers_of(cudaDataType type);

// Converts fp16 as __half2float does.
void to_floats(const std::uint16_t* halves, std::int64_t count, float* to);

// The element `i`. W is what is computed with: float, double, or a complex number of them.
template <class W>
W load(cudaDataType type, const void* data, std::int64_t i) {
  const auto at = [&](auto* typed) { return typed[i]; };
  switch (type) {
    case CUDA_R_8I: return W(at(static_cast<const std::int8_t*>(data)));
    case CUDA_R_8F_E4M3: return W(from_fp8(at(static_cast<const std::uint8_t*>(data)), __NV_E4M3));
    case CUDA_R_8F_E5M2: return W(from_fp8(at(static_cast<const std::uint8_t*>(data)), __NV_E5M2));
    case CUDA_R_16F: return W(__half2float(at(static_cast<const __half*>(data))));
    case CUDA_R_16BF: return W(__bfloat162float(at(static_cast<const __nv_bfloat16*>(data))));
    case CUDA_R_32F: return W(at(static_cast<const float*>(data)));
    case CUDA_R_32I: return W(static_cast<Real<W>>(at(static_cast<const std::int32_t*>(data))));
    case CUDA_R_64F: return W(static_cast<Real<W>>(at(static_cast<const double*>(data))));
    default: break;
  }
  if constexpr (kIsComplex<W>) {
    if (type == CUDA_C_32F) return W(at(static_cast<const std::complex<float>*>(data)));
    if (type == CUDA_C_64F) return W(at(static_cast<const std::complex<double>*>(data)));
  }
  return W{};
}

// The nearest integer, ties to even; the type's limit if the value is out of range, 0 for NaN.
template <class Integer, class Real>
Integer nearest(Real value) {
  constexpr Real kLeast = std::numeric_limits<Integer>::min(),
                 kMost = std::numeric_limits<Integer>::max();
  if (!(value == value)) return 0;
  if (value <= kLeast) return std::numeric_limits<Integer>::min();
  if (value >= kMost) return std::numeric_limits<Integer>::max();
  return static_cast<Integer>(std::nearbyint(value));
}

template <class W>
void store(cudaDataType type, void* data, std::int64_t i, W value) {
  if constexpr (kIsComplex<W>) {
    if (type == CUDA_C_32F)
      static_cast<std::complex<float>*>(data)[i] = std::complex<float>(value);
    else if (type == CUDA_C_64F)
      static_cast<std::complex<double>*>(data)[i] = std::complex<double>(value);
    else
      store(type, data, i, value.real());
  } else {
    switch (type) {
      case CUDA_R_8I: static_cast<std::int8_t*>(data)[i] = nearest<std::int8_t>(value); break;
      case CUDA_R_8F_E4M3:
      case CUDA_R_8F_E5M2:
        static_cast<std::uint8_t*>(data)[i] =
            __nv_cvt_double_to_fp8(static_cast<double>(value), __NV_SATFINITE,
                                   type == CUDA_R_8F_E4M3 ? __NV_E4M3 : __NV_E5M2);
        break;
      case CUDA_R_16F:
        static_cast<__half*>(data)[i] = __double2half(static_cast<double>(value));
        break;
      case CUDA_R_16BF:
        static_cast<__nv_bfloat16*>(data)[i] = __double2bfloat16(static_cast<double>(value));
        break;
      case CUDA_R_32F: static_cast<float*>(data)[i] = static_cast<float>(value); break;
      case CUDA_R_32I:  // sums of 32 bits wrap
        static_cast<std::int32_t*>(data)[i] =
            static_cast<std::int32_t>(static_cast<std::int64_t>(value));
        break;
      case CUDA_R_64F: static_cast<double*>(data)[i] = static_cast<double>(value); break;
      default: break;
    }
  }
}

template <class W>
W conjugate(W value) {
  if constexpr (kIsComplex<W>)
    return std::conj(value);
  else
    return value;
}

template <class T>
constexpr cudaDataType kTypeOf = CUDA_R_32F;
template <>
inline constexpr cudaDataType kTypeOf<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType kTypeOf<__half> = CUDA_R_16F;
template <>
inline constexpr cudaDataType kTypeOf<std::complex<float>> = CUDA_C_32F;
template <>
inline constexpr cudaDataType kTypeOf<std::complex<double>> = CUDA_C_64F;

}  // namespace vgpu::blas
