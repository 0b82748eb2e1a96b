// SPDX-License-Identifier: Apache-2.0
// Level 1: operations on vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <tuple>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

template <class W>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, const Scalar& alpha,
                    const Vector<W>& x, const Vector<W>& y) {
  return enqueue(name, handle, alpha.valid(), std::tie(x, y), [=] {
    const W factor = alpha.value<W>();
    if (factor == W{0}) return;
    for (std::int64_t i = 0; i < x.n; ++i) y.set(i, y[i] + factor * x[i]);
    y.mark();
  });
}

template <class W>
cublasStatus_t scal(const char* name, cublasHandle_t handle, const Scalar& alpha,
                    const Vector<W>& x) {
  if (x.step <= 0) return CUBLAS_STATUS_SUCCESS;  // as BLAS has it
  return enqueue(name, handle, alpha.valid(), std::tie(x), [=] {
    const W factor = alpha.value<W>();
    for (std::int64_t i = 0; i < x.n; ++i) x.set(i, factor * x[i]);
    x.mark();
  });
}

template <class W>
cublasStatus_t copy(const char* name, cublasHandle_t handle, const Vector<W>& x,
                    const Vector<W>& y) {
  return enqueue(name, handle, true, std::tie(x, y), [=] {
    for (std::int64_t i = 0; i < x.n; ++i) y.set(i, x[i]);
    y.mark();
  });
}

template <class W>
cublasStatus_t swap(const char* name, cublasHandle_t handle, const Vector<W>& x,
                    const Vector<W>& y) {
  return enqueue(name, handle, true, std::tie(x, y), [=] {
    for (std::int64_t i = 0; i < x.n; ++i) {
      const W former = x[i];
      x.set(i, y[i]);
      y.set(i, former);
    }
    x.mark();
    y.mark();
  });
}

// Puts `find()` where a number of that type goes.
template <class Find, class... Operands>
cublasStatus_t reduce_to(const char* name, cublasHandle_t handle, void* pointer, cudaDataType type,
                         Find find, const Operands&... operands) {
  const auto put = [&](auto bytes) {
    using Bytes = decltype(bytes);
    const Target<Bytes> target(handle, static_cast<Bytes*>(pointer));
    return target.finish(enqueue(name, handle, target.valid(), std::tie(operands...), [=] {
      alignas(16) unsigned char bits[16] = {};
      store(type, bits, 0, find());
      Bytes value{};
      std::memcpy(&value, bits, sizeof value);
      target.set(value);
    }));
  };
  switch (bytes_of(type)) {
    case 2: return put(std::uint16_t{});
    case 4: return put(std::uint32_t{});
    case 16: return put(std::array<std::uint64_t, 2>{});
    default: return put(std::uint64_t{});
  }
}

template <class W>
cublasStatus_t dot(const char* name, cublasHandle_t handle, const Vector<W>& x, const Vector<W>& y,
                   bool conjugated, void* result, cudaDataType type = kTypeOf<W>) {
  const auto find = [=] {
    Wide<W> total{};
    for (std::int64_t i = 0; i < x.n; ++i)
      total += Wide<W>(conjugated ? conjugate(x[i]) : x[i]) * Wide<W>(y[i]);
    return static_cast<W>(total);
  };
  return reduce_to(name, handle, result, type, find, x, y);
}

// The sum of all elements' magnitudes: of complex numbers |re| + |im|.
template <class W>
Real<W> magnitude(W value) {
  if constexpr (kIsComplex<W>)
    return std::abs(value.real()) + std::abs(value.imag());
  else
    return std::abs(value);
}

// Scaled, so that no square over- or underflows.
template <class W>
Real<W> norm(const Vector<W>& x) {
  using R = Real<W>;
  R largest = 0;
  double sum = 1;
  const auto add = [&](R value) {
    const R part = std::abs(value);
    if (part == 0) return;
    if (!std::isfinite(part) || !std::isfinite(largest)) {
      largest = std::isnan(part) || std::isnan(largest) ? part + largest : std::max(part, largest);
      sum = 1;
    } else if (largest < part) {
      sum = 1 + sum * (largest / part) * (largest / part);
      largest = part;
    } else {
      sum += (part / largest) * (part / largest);
    }
  };
  for (std::int64_t i = 0; i < x.n; ++i) {
    if constexpr (kIsComplex<W>) {
      add(x[i].real());
      add(x[i].imag());
    } else {
      add(x[i]);
    }
  }
  return static_cast<R>(largest * std::sqrt(sum));
}

template <class W>
Real<W> sum(const Vector<W>& x) {
  double total = 0;
  for (std::int64_t i = 0; i < x.n; ++i) total += magnitude(x[i]);
  return static_cast<Real<W>>(total);
}

// `find` takes the vector. A vector without elements or with a step that is not positive gives 0.
template <class W, class Result, class Find>
cublasStatus_t reduce(const char* name, cublasHandle_t handle, const Vector<W>& x,
                      const Target<Result>& result, Find find) {
  const Vector<W> taken{x.data, x.type, x.step <= 0 ? 0 : x.n, x.step};
  return result.finish(enqueue(name, handle, result.valid(), std::tie(taken), [=] {
    result.set(taken.n <= 0 ? Result{} : static_cast<Result>(find(taken)));
  }));
}

// The number, from 1, of the first element whose magnitude is the largest, or the smallest.
template <class W>
std::int64_t extreme(const Vector<W>& x, bool largest) {
  std::int64_t best = 0;
  for (std::int64_t i = 1; i < x.n; ++i) {
    const Real<W> value = magnitude(x[i]), former = magnitude(x[best]);
    if (largest ? value > former : value < former) best = i;
  }
  return best + 1;
}

// What reduce() finds.
constexpr auto kLargest = [](const auto& x) { return extreme(x, true); };
constexpr auto kSmallest = [](const auto& x) { return extreme(x, false); };
constexpr auto kNorm = [](const auto& x) { return norm(x); };
constexpr auto kSum = [](const auto& x) { return sum(x); };

// The type to compute in. A complex vector with a real result has a real execution type.
cudaDataType computes(cudaDataType execution, cudaDataType x) {
  if (!is_complex(x)) return execution;
  return execution == CUDA_R_64F ? CUDA_C_64F : CUDA_C_32F;
}

// The type to compute in of a function that only moves or compares elements.
cudaDataType widest(cudaDataType x) { return is_complex(x) ? CUDA_C_64F : CUDA_R_64F; }

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_SCAL(L)               \
  VGPU_BOTH(cublas##L##scal_v2, 5, \
            scal("cublas" #L "scal", a0, number(a0, a2), elements(a3, a1, a4)))
#define VGPU_REDUCE(NAME, FIND)   \
  VGPU_BOTH(cublas##NAME##_v2, 5, \
            reduce("cublas" #NAME, a0, elements(a2, a1, a3), Target(a0, a4), FIND))
#define VGPU_DOT(NAME, CONJUGATED) \
  VGPU_BOTH(cublas##NAME##_v2, 7,  \
            dot("cublas" #NAME, a0, elements(a2, a1, a3), elements(a4, a1, a5), CONJUGATED, a6))
// `i` is the letter behind cublasI, `N` that of functions with a real result.
#define VGPU_LEVEL1(L, i, N)                                                                     \
  VGPU_BOTH(                                                                                     \
      cublas##L##axpy_v2, 7,                                                                     \
      axpy("cublas" #L "axpy", a0, number(a0, a2), elements(a3, a1, a4), elements(a5, a1, a6))); \
  VGPU_BOTH(cublas##L##copy_v2, 6,                                                               \
            copy("cublas" #L "copy", a0, elements(a2, a1, a3), elements(a4, a1, a5)));           \
  VGPU_BOTH(cublas##L##swap_v2, 6,                                                               \
            swap("cublas" #L "swap", a0, elements(a2, a1, a3), elements(a4, a1, a5)));           \
  VGPU_SCAL(L);                                                                                  \
  VGPU_REDUCE(I##i##amax, kLargest);                                                             \
  VGPU_REDUCE(I##i##amin, kSmallest);                                                            \
  VGPU_REDUCE(N##nrm2, kNorm);                                                                   \
  VGPU_REDUCE(N##asum, kSum)

VGPU_LEVEL1(S, s, S);
VGPU_LEVEL1(D, d, D);
VGPU_LEVEL1(C, c, Sc);
VGPU_LEVEL1(Z, z, Dz);
VGPU_SCAL(Cs);
VGPU_SCAL(Zd);
VGPU_DOT(Sdot, false);
VGPU_DOT(Ddot, false);
VGPU_DOT(Cdotu, false);
VGPU_DOT(Cdotc, true);
VGPU_DOT(Zdotu, false);
VGPU_DOT(Zdotc, true);

// The forms that name their types.

#define VGPU_DOT_EX(NAME, CONJUGATED)                                                \
  VGPU_BOTH(cublas##NAME, 11, typed("cublas" #NAME, a10, {a3, a6, a9}, [&](auto w) { \
              using W = decltype(w);                                                 \
              return dot("cublas" #NAME, a0, elements<W>(a2, a1, a4, a3),            \
                         elements<W>(a5, a1, a7, a6), CONJUGATED, a8, a9);           \
            }))
#define VGPU_NORM_EX(NAME, FIND)                                                             \
  VGPU_BOTH(cublas##NAME, 8, typed("cublas" #NAME, computes(a7, a3), {a3, a6}, [&](auto w) { \
              const auto x = elements<decltype(w)>(a2, a4 <= 0 ? 0 : a1, a4, a3);            \
              return reduce_to(                                                              \
                  "cublas" #NAME, a0, a5, a6, [=] { return FIND(x); }, x);                   \
            }))
#define VGPU_EXTREME_EX(NAME, FIND)                                                    \
  VGPU_BOTH(cublas##NAME, 6, typed("cublas" #NAME, widest(a3), {a3}, [&](auto w) {     \
              return reduce("cublas" #NAME, a0, elements<decltype(w)>(a2, a1, a4, a3), \
                            Target(a0, a5), FIND);                                     \
            }))
#define VGPU_MOVE_EX(NAME, MOVE)                                                       \
  VGPU_BOTH(cublas##NAME, 8, typed("cublas" #NAME, widest(a3), {a3, a6}, [&](auto w) { \
              using W = decltype(w);                                                   \
              return MOVE("cublas" #NAME, a0, elements<W>(a2, a1, a4, a3),             \
                          elements<W>(a5, a1, a7, a6));                                \
            }))

VGPU_BOTH(cublasAxpyEx, 11, typed("cublasAxpyEx", a10, {a3, a5, a8}, [&](auto w) {
            using W = decltype(w);
            return axpy("cublasAxpyEx", a0, scalar(a0, a2, a3), elements<W>(a4, a1, a6, a5),
                        elements<W>(a7, a1, a9, a8));
          }));
VGPU_BOTH(cublasScalEx, 8, typed("cublasScalEx", a7, {a3, a5}, [&](auto w) {
            return scal("cublasScalEx", a0, scalar(a0, a2, a3),
                        elements<decltype(w)>(a4, a1, a6, a5));
          }));
VGPU_DOT_EX(DotEx, false);
VGPU_DOT_EX(DotcEx, true);
VGPU_NORM_EX(Nrm2Ex, kNorm);
VGPU_NORM_EX(AsumEx, kSum);
VGPU_EXTREME_EX(IamaxEx, kLargest);
VGPU_EXTREME_EX(IaminEx, kSmallest);
VGPU_MOVE_EX(CopyEx, copy);
VGPU_MOVE_EX(SwapEx, swap);
