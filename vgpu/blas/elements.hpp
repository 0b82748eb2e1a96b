// SPDX-License-Identifier: Apache-2.0
// A product's matrices element by element: op() of a stored matrix as what is computed with.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <vector>

#include "blas/product.hpp"
#include "blas/value.hpp"

namespace vgpu::blas {

// A stored matrix of which op() is `rows` x `columns`.
struct View {
  const Operand& operand;
  cublasOperation_t op;
  std::int64_t rows, columns;

  std::int64_t stored_rows() const { return op == CUBLAS_OP_N ? rows : columns; }
  std::int64_t stored_columns() const { return op == CUBLAS_OP_N ? columns : rows; }
  // The stored matrix is lines() lines of line() contiguous elements: columns, or rows if
  // row-major.
  std::int64_t lines() const { return operand.row_major ? stored_rows() : stored_columns(); }
  std::int64_t line() const { return operand.row_major ? stored_columns() : stored_rows(); }
  std::int64_t offset(std::int64_t i, std::int64_t j) const {
    const bool swapped = (op != CUBLAS_OP_N) != operand.row_major;
    return swapped ? i * operand.ld + j : j * operand.ld + i;
  }
  std::int64_t elements() const {
    return rows == 0 || columns == 0 ? 0 : (lines() - 1) * operand.ld + line();
  }
  bool valid() const { return operand.ld >= std::max<std::int64_t>(1, line()); }
};

// How operands in single precision are rounded before they are multiplied.
enum class Rounding { kNone, kTf32, kHalf, kBfloat };

inline Rounding rounding_of(cublasComputeType_t compute) {
  switch (compute) {
    case CUBLAS_COMPUTE_32F_FAST_TF32: return Rounding::kTf32;
    case CUBLAS_COMPUTE_32F_FAST_16F: return Rounding::kHalf;
    case CUBLAS_COMPUTE_32F_FAST_16BF: return Rounding::kBfloat;
    default: return Rounding::kNone;
  }
}

// To the nearest number of 10 fraction bits, ties away from zero.
inline float to_tf32(float value) {
  constexpr std::uint32_t kHalf = 1u << 12, kKept = ~((1u << 13) - 1);
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<std::uint32_t>(value) + kHalf) & kKept);
}

inline float rounded(float value, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTf32: return to_tf32(value);
    case Rounding::kHalf: return __half2float(__float2half(value));
    case Rounding::kBfloat: return __bfloat162float(__float2bfloat16(value));
    case Rounding::kNone: break;
  }
  return value;
}
inline std::complex<float> rounded(std::complex<float> value, Rounding rounding) {
  return {rounded(value.real(), rounding), rounded(value.imag(), rounding)};
}
inline double rounded(double value, Rounding) { return value; }
inline std::complex<double> rounded(std::complex<double> value, Rounding) { return value; }

template <class W>
W load_element(const Operand& operand, const void* data, std::int64_t i) {
  if constexpr (kIsComplex<W>) {
    if (operand.is_planar()) {
      const void* const imaginary = static_cast<const char*>(data) + operand.plane_offset;
      return {load<Real<W>>(operand.type, data, i), load<Real<W>>(operand.type, imaginary, i)};
    }
  }
  return load<W>(operand.type, data, i);
}

template <class W>
void store_element(const Operand& operand, void* data, std::int64_t i, W value) {
  if constexpr (kIsComplex<W>) {
    if (operand.is_planar()) {
      store(operand.type, data, i, value.real());
      store(operand.type, static_cast<char*>(data) + operand.plane_offset, i, value.imag());
      return;
    }
  }
  store(operand.type, data, i, value);
}

// Multiplies packed elements by their scales. `rows_are_outer`: k runs along the view's columns,
// else along its rows.
template <class W>
void scale_elements(const View& view, bool rows_are_outer, std::vector<W>& packed) {
  if (view.operand.scales == Scales::kOne) return;
  const std::int64_t outers = rows_are_outer ? view.rows : view.columns,
                     k = rows_are_outer ? view.columns : view.rows;
  W* out = packed.data();
  for (std::int64_t j = 0; j < view.columns; ++j) {
    for (std::int64_t i = 0; i < view.rows; ++i) {
      const std::int64_t place =
          scale_at(view.operand, outers, k, rows_are_outer ? i : j, rows_are_outer ? j : i);
      *out++ *= load<W>(CUDA_R_32F, view.operand.scale, place);
    }
  }
}

// Whether memory holds the elements as type W, the type of the computation.
template <class W>
bool is_stored_as(const Operand& operand) {
  return operand.type == kTypeOf<W> && !operand.is_planar();
}

// Writes op() of a matrix to `to`, column-major, each element converted by `convert`.
template <class W, class Stored, class Convert>
void convert_elements(const View& view, const Stored* data, W* to, Convert convert) {
  if (view.offset(1, 0) == 1) {
    for (std::int64_t j = 0; j < view.columns; ++j) {
      const Stored* const column = data + view.offset(0, j);
      std::transform(column, column + view.rows, to + j * view.rows, convert);
    }
    return;
  }
  constexpr std::int64_t kTogether = 16;  // columns, which are rows of memory: a cache line
  for (std::int64_t first = 0; first < view.columns; first += kTogether) {
    const std::int64_t end = std::min(first + kTogether, view.columns);
    for (std::int64_t i = 0; i < view.rows; ++i) {
      for (std::int64_t j = first; j < end; ++j)
        to[j * view.rows + i] = convert(data[view.offset(i, j)]);
    }
  }
}

// The same of real elements, for the types that occur most. False for others.
template <class W>
bool convert_real(const View& view, const void* data, W* to, Rounding rounding) {
  const auto by_table = [&](const auto* bits) {
    const float* const numbers = numbers_of(view.operand.type);
    convert_elements(view, bits, to, [&](auto code) { return W(numbers[code]); });
    return true;
  };
  if constexpr (std::is_same_v<W, float>) {
    if (view.operand.type == CUDA_R_16F && rounding == Rounding::kNone && view.offset(1, 0) == 1) {
      const auto* const halves = static_cast<const std::uint16_t*>(data);
      for (std::int64_t j = 0; j < view.columns; ++j)
        to_floats(halves + view.offset(0, j), view.rows, to + j * view.rows);
      return true;
    }
  }
  switch (view.operand.type) {
    case CUDA_R_8F_E4M3:
    case CUDA_R_8F_E5M2:
      return rounding == Rounding::kNone && by_table(static_cast<const std::uint8_t*>(data));
    case CUDA_R_16F:
    case CUDA_R_16BF:
      return rounding == Rounding::kNone && by_table(static_cast<const std::uint16_t*>(data));
    case kTypeOf<W>:
      if (rounding == Rounding::kNone)
        convert_elements(view, static_cast<const W*>(data), to, [](W value) { return value; });
      else if (rounding == Rounding::kTf32)
        convert_elements(view, static_cast<const W*>(data), to,
                         [](W value) { return rounded(value, Rounding::kTf32); });
      else
        return false;
      return true;
    default: return false;
  }
}

// op() of the matrix, column-major.
template <class W>
void pack(const View& view, const void* data, Rounding rounding, std::vector<W>& packed) {
  packed.resize(static_cast<std::size_t>(view.rows * view.columns));
  W* out = packed.data();
  if constexpr (kIsComplex<W>) {
    const bool stays = rounding == Rounding::kNone && view.op != CUBLAS_OP_C;
    if (stays && is_stored_as<W>(view.operand)) {
      convert_elements(view, static_cast<const W*>(data), out, [](W value) { return value; });
      return;
    }
  } else if (convert_real(view, data, out, rounding)) {
    return;
  }
  for (std::int64_t j = 0; j < view.columns; ++j) {
    for (std::int64_t i = 0; i < view.rows; ++i) {
      const W value = load_element<W>(view.operand, data, view.offset(i, j));
      *out++ = rounded(view.op == CUBLAS_OP_C ? conjugate(value) : value, rounding);
    }
  }
}

}  // namespace vgpu::blas
