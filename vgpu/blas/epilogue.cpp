// SPDX-License-Identifier: Apache-2.0
#include "blas/product.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace vgpu::blas {
namespace {

constexpr int kGradientOfRelu = 8, kBiasGradient = 16, kGradientOfGelu = 64;
constexpr double kCubic = 0.044715;  // of the approximation by tanh

template <class W>
W inner(W x) {
  return static_cast<W>(std::sqrt(2 / std::numbers::pi)) * (x + static_cast<W>(kCubic) * x * x * x);
}

template <class W>
W gelu(W x) {
  return x / 2 * (1 + std::tanh(inner(x)));
}

template <class W>
W gelu_gradient(W x) {
  const W t = std::tanh(inner(x));
  const W slope =
      static_cast<W>(std::sqrt(2 / std::numbers::pi)) * (1 + 3 * static_cast<W>(kCubic) * x * x);
  return (1 + t) / 2 + x / 2 * (1 - t * t) * slope;
}

// The mask's bit of an element.
struct Bit {
  unsigned char* byte;
  unsigned char value;
};
Bit bit_of(const Epilogue& e, std::int64_t entry, std::int64_t i, std::int64_t j) {
  const std::int64_t at = entry * e.aux_stride + j * e.aux_ld + i;
  return {static_cast<unsigned char*>(e.aux) + at / 8, static_cast<unsigned char>(1 << at % 8)};
}

template <class W>
W element(const Epilogue& e, std::int64_t entry, std::int64_t i, std::int64_t j, W x) {
  if (e.reads_bias()) x += load<W>(e.bias_type, e.bias, entry * e.bias_stride + i);
  const std::int64_t aux = entry * e.aux_stride + j * e.aux_ld + i;
  if (e.has(CUBLASLT_EPILOGUE_RELU)) {
    if (e.has_aux()) {
      const Bit bit = bit_of(e, entry, i, j);
      *bit.byte =
          static_cast<unsigned char>(x > 0 ? *bit.byte | bit.value : *bit.byte & ~bit.value);
    }
    return x < 0 ? W{0} : x;  // NaN stays
  }
  if (e.has(CUBLASLT_EPILOGUE_GELU)) {
    if (e.has_aux()) store(e.aux_type, e.aux, aux, x);
    return gelu(x);
  }
  if (e.has(kGradientOfRelu)) {
    const Bit bit = bit_of(e, entry, i, j);
    return (*bit.byte & bit.value) != 0 ? x : W{0};
  }
  if (e.has(kGradientOfGelu)) return x * gelu_gradient(load<W>(e.aux_type, e.aux, aux));
  return x;
}

// The sums of the rows of an m x n matrix, or of its columns.
template <class W>
void store_sums(const Epilogue& e, std::int64_t entry, std::int64_t m, std::int64_t n,
                const std::vector<W>& matrix, bool of_columns) {
  std::vector<W> sums(static_cast<std::size_t>(of_columns ? n : m));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i)
      sums[static_cast<std::size_t>(of_columns ? j : i)] +=
          matrix[static_cast<std::size_t>(j * m + i)];
  }
  for (std::size_t i = 0; i < sums.size(); ++i)
    store(e.bias_type, e.bias, entry * e.bias_stride + static_cast<std::int64_t>(i), sums[i]);
  mark_written(static_cast<char*>(e.bias) +
                   static_cast<std::size_t>(entry * e.bias_stride) * bytes_of(e.bias_type),
               static_cast<std::int64_t>(sums.size()), e.bias_type);
}

void mark_aux(const Epilogue& e, std::int64_t entry, std::int64_t m, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t at = entry * e.aux_stride + j * e.aux_ld;
    if (e.has_mask())
      mark_written(static_cast<char*>(e.aux) + at / 8, (m + 7) / 8, CUDA_R_8I);
    else
      mark_written(static_cast<char*>(e.aux) + static_cast<std::size_t>(at) * bytes_of(e.aux_type),
                   m, e.aux_type);
  }
}

}  // namespace

bool is_known(const Epilogue& epilogue) {
  constexpr int kAll[] = {
      CUBLASLT_EPILOGUE_DEFAULT,  CUBLASLT_EPILOGUE_RELU,        CUBLASLT_EPILOGUE_RELU_AUX,
      CUBLASLT_EPILOGUE_BIAS,     CUBLASLT_EPILOGUE_RELU_BIAS,   CUBLASLT_EPILOGUE_RELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DRELU,    CUBLASLT_EPILOGUE_DRELU_BGRAD, CUBLASLT_EPILOGUE_GELU,
      CUBLASLT_EPILOGUE_GELU_AUX, CUBLASLT_EPILOGUE_GELU_BIAS,   CUBLASLT_EPILOGUE_GELU_AUX_BIAS,
      CUBLASLT_EPILOGUE_DGELU,    CUBLASLT_EPILOGUE_DGELU_BGRAD, CUBLASLT_EPILOGUE_BGRADA,
      CUBLASLT_EPILOGUE_BGRADB};
  return std::ranges::find(kAll, epilogue.kind) != std::end(kAll);
}

template <class W>
void apply(const Epilogue& epilogue, std::int64_t entry, std::int64_t m, std::int64_t n,
           std::int64_t k, const std::vector<W>& a, const std::vector<W>& b,
           std::vector<W>& matrix) {
  if (epilogue.is_default()) return;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) {
      W& x = matrix[static_cast<std::size_t>(j * m + i)];
      x = element(epilogue, entry, i, j, x);
    }
  }
  if (epilogue.has(kBiasGradient)) store_sums(epilogue, entry, m, n, matrix, false);
  if (epilogue.has(CUBLASLT_EPILOGUE_BGRADA)) store_sums(epilogue, entry, m, k, a, false);
  if (epilogue.has(CUBLASLT_EPILOGUE_BGRADB)) store_sums(epilogue, entry, k, n, b, true);
  if (epilogue.has_aux() && !epilogue.reads_aux()) mark_aux(epilogue, entry, m, n);
}

template void apply<float>(const Epilogue&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                           const std::vector<float>&, const std::vector<float>&,
                           std::vector<float>&);
template void apply<double>(const Epilogue&, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                            const std::vector<double>&, const std::vector<double>&,
                            std::vector<double>&);

}  // namespace vgpu::blas
