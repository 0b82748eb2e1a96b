// SPDX-License-Identifier: Apache-2.0
// Level 1: operations on vectors.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
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
                   bool conjugated, void* result, cudaDataType type) {
  const auto find = [=] {
    W total{};
    for (std::int64_t i = 0; i < x.n; ++i) total += (conjugated ? conjugate(x[i]) : x[i]) * y[i];
    return total;
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
  R largest = 0, sum = 1;
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
  return largest * std::sqrt(sum);
}

template <class W>
Real<W> sum(const Vector<W>& x) {
  Real<W> total = 0;
  for (std::int64_t i = 0; i < x.n; ++i) total += magnitude(x[i]);
  return total;
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

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_LEVEL1(INT, SUFFIX, L, C)                                                          \
  cublasStatus_t cublas##L##axpy_v2##SUFFIX(cublasHandle_t handle, INT n, const C* alpha,       \
                                            const C* x, INT incx, C* y, INT incy) {             \
    return axpy("cublas" #L "axpy", handle, number(handle, alpha), elements(x, n, incx),        \
                elements(y, n, incy));                                                          \
  }                                                                                             \
  cublasStatus_t cublas##L##scal_v2##SUFFIX(cublasHandle_t handle, INT n, const C* alpha, C* x, \
                                            INT incx) {                                         \
    return scal("cublas" #L "scal", handle, number(handle, alpha), elements(x, n, incx));       \
  }                                                                                             \
  cublasStatus_t cublas##L##copy_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                            C* y, INT incy) {                                   \
    return copy("cublas" #L "copy", handle, elements(x, n, incx), elements(y, n, incy));        \
  }                                                                                             \
  cublasStatus_t cublas##L##swap_v2##SUFFIX(cublasHandle_t handle, INT n, C* x, INT incx, C* y, \
                                            INT incy) {                                         \
    return swap("cublas" #L "swap", handle, elements(x, n, incx), elements(y, n, incy));        \
  }

// `I` is the letter behind cublasI.
#define VGPU_EXTREMES(INT, SUFFIX, I, C)                                                         \
  cublasStatus_t cublasI##I##amax_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                             INT* result) {                                      \
    return reduce("cublasI" #I "amax", handle, elements(x, n, incx), Target(handle, result),     \
                  [](const auto& v) { return extreme(v, true); });                               \
  }                                                                                              \
  cublasStatus_t cublasI##I##amin_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                             INT* result) {                                      \
    return reduce("cublasI" #I "amin", handle, elements(x, n, incx), Target(handle, result),     \
                  [](const auto& v) { return extreme(v, false); });                              \
  }

// `N` is the letter or letters of functions with a real result.
#define VGPU_NORMS(INT, SUFFIX, N, C, R)                                                        \
  cublasStatus_t cublas##N##nrm2_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                            R* result) {                                        \
    return reduce("cublas" #N "nrm2", handle, elements(x, n, incx), Target(handle, result),     \
                  norm<Number<C>>);                                                             \
  }                                                                                             \
  cublasStatus_t cublas##N##asum_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                            R* result) {                                        \
    return reduce("cublas" #N "asum", handle, elements(x, n, incx), Target(handle, result),     \
                  sum<Number<C>>);                                                              \
  }

#define VGPU_DOT(INT, SUFFIX, NAME, CONJUGATED, C)                                             \
  cublasStatus_t cublas##NAME##_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                           const C* y, INT incy, C* result) {                  \
    return dot("cublas" #NAME, handle, elements(x, n, incx), elements(y, n, incy), CONJUGATED, \
               result, kTypeOf<Number<C>>);                                                    \
  }

#define VGPU_REAL_SCAL(INT, SUFFIX, L, C, R)                                                    \
  cublasStatus_t cublas##L##scal_v2##SUFFIX(cublasHandle_t handle, INT n, const R* alpha, C* x, \
                                            INT incx) {                                         \
    return scal("cublas" #L "scal", handle, number(handle, alpha), elements(x, n, incx));       \
  }

#define VGPU_VECTORS(INT, SUFFIX)                      \
  VGPU_EXTREMES(INT, SUFFIX, s, float)                 \
  VGPU_EXTREMES(INT, SUFFIX, d, double)                \
  VGPU_EXTREMES(INT, SUFFIX, c, cuComplex)             \
  VGPU_EXTREMES(INT, SUFFIX, z, cuDoubleComplex)       \
  VGPU_NORMS(INT, SUFFIX, S, float, float)             \
  VGPU_NORMS(INT, SUFFIX, D, double, double)           \
  VGPU_NORMS(INT, SUFFIX, Sc, cuComplex, float)        \
  VGPU_NORMS(INT, SUFFIX, Dz, cuDoubleComplex, double) \
  VGPU_DOT(INT, SUFFIX, Sdot, false, float)            \
  VGPU_DOT(INT, SUFFIX, Ddot, false, double)           \
  VGPU_DOT(INT, SUFFIX, Cdotu, false, cuComplex)       \
  VGPU_DOT(INT, SUFFIX, Cdotc, true, cuComplex)        \
  VGPU_DOT(INT, SUFFIX, Zdotu, false, cuDoubleComplex) \
  VGPU_DOT(INT, SUFFIX, Zdotc, true, cuDoubleComplex)  \
  VGPU_REAL_SCAL(INT, SUFFIX, Cs, cuComplex, float)    \
  VGPU_REAL_SCAL(INT, SUFFIX, Zd, cuDoubleComplex, double)

VGPU_EACH(VGPU_LEVEL1)
VGPU_VECTORS(int, )
VGPU_VECTORS(int64_t, _64)

// The forms that name their types.

namespace vgpu::blas {
namespace {

// The type to compute in. A complex vector with a real result has a real execution type.
cudaDataType computes(cudaDataType execution, cudaDataType x) {
  if (!is_complex(x)) return execution;
  return execution == CUDA_R_64F ? CUDA_C_64F : CUDA_C_32F;
}

// The type to compute in of a function that only moves or compares elements.
cudaDataType widest(cudaDataType x) { return is_complex(x) ? CUDA_C_64F : CUDA_R_64F; }

}  // namespace
}  // namespace vgpu::blas

#define VGPU_DOT_EX(INT, SUFFIX, NAME, CONJUGATED)                                               \
  cublasStatus_t cublas##NAME##SUFFIX(                                                           \
      cublasHandle_t handle, INT n, const void* x, cudaDataType x_type, INT incx, const void* y, \
      cudaDataType y_type, INT incy, void* result, cudaDataType type, cudaDataType execution) {  \
    return typed("cublas" #NAME, execution, {x_type, y_type, type}, [&](auto w) {                \
      using W = decltype(w);                                                                     \
      return dot("cublas" #NAME, handle, elements<W>(x, n, incx, x_type),                        \
                 elements<W>(y, n, incy, y_type), CONJUGATED, result, type);                     \
    });                                                                                          \
  }
#define VGPU_NORM_EX(INT, SUFFIX, NAME, FIND)                                      \
  cublasStatus_t cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, const void* x, \
                                      cudaDataType x_type, INT incx, void* result, \
                                      cudaDataType type, cudaDataType execution) { \
    const cudaDataType by = computes(execution, x_type);                           \
    return typed("cublas" #NAME, by, {x_type, type}, [&](auto w) {                 \
      const auto a = elements<decltype(w)>(x, incx <= 0 ? 0 : n, incx, x_type);    \
      return reduce_to(                                                            \
          "cublas" #NAME, handle, result, type, [=] { return FIND(a); }, a);       \
    });                                                                            \
  }
#define VGPU_EXTREME_EX(INT, SUFFIX, NAME, LARGEST)                                 \
  cublasStatus_t cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, const void* x,  \
                                      cudaDataType x_type, INT incx, INT* result) { \
    return typed("cublas" #NAME, widest(x_type), {x_type}, [&](auto w) {            \
      using W = decltype(w);                                                        \
      return reduce("cublas" #NAME, handle, elements<W>(x, n, incx, x_type),        \
                    Target(handle, result),                                         \
                    [](const Vector<W>& v) { return extreme(v, LARGEST); });        \
    });                                                                             \
  }
#define VGPU_MOVE_EX(INT, SUFFIX, NAME, MOVE, CONST)                                               \
  cublasStatus_t cublas##NAME##SUFFIX(cublasHandle_t handle, INT n, CONST void* x,                 \
                                      cudaDataType x_type, INT incx, void* y, cudaDataType y_type, \
                                      INT incy) {                                                  \
    return typed("cublas" #NAME, widest(x_type), {x_type, y_type}, [&](auto w) {                   \
      using W = decltype(w);                                                                       \
      return MOVE("cublas" #NAME, handle, elements<W>(x, n, incx, x_type),                         \
                  elements<W>(y, n, incy, y_type));                                                \
    });                                                                                            \
  }

#define VGPU_VECTORS_EX(INT, SUFFIX)                                                               \
  cublasStatus_t cublasAxpyEx##SUFFIX(cublasHandle_t handle, INT n, const void* alpha,             \
                                      cudaDataType alpha_type, const void* x, cudaDataType x_type, \
                                      INT incx, void* y, cudaDataType y_type, INT incy,            \
                                      cudaDataType execution) {                                    \
    return typed("cublasAxpyEx", execution, {alpha_type, x_type, y_type}, [&](auto w) {            \
      using W = decltype(w);                                                                       \
      return axpy("cublasAxpyEx", handle, scalar(handle, alpha, alpha_type),                       \
                  elements<W>(x, n, incx, x_type), elements<W>(y, n, incy, y_type));               \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasScalEx##SUFFIX(cublasHandle_t handle, INT n, const void* alpha,             \
                                      cudaDataType alpha_type, void* x, cudaDataType x_type,       \
                                      INT incx, cudaDataType execution) {                          \
    return typed("cublasScalEx", execution, {alpha_type, x_type}, [&](auto w) {                    \
      return scal("cublasScalEx", handle, scalar(handle, alpha, alpha_type),                       \
                  elements<decltype(w)>(x, n, incx, x_type));                                      \
    });                                                                                            \
  }                                                                                                \
  VGPU_DOT_EX(INT, SUFFIX, DotEx, false)                                                           \
  VGPU_DOT_EX(INT, SUFFIX, DotcEx, true)                                                           \
  VGPU_NORM_EX(INT, SUFFIX, Nrm2Ex, norm)                                                          \
  VGPU_NORM_EX(INT, SUFFIX, AsumEx, sum)                                                           \
  VGPU_EXTREME_EX(INT, SUFFIX, IamaxEx, true)                                                      \
  VGPU_EXTREME_EX(INT, SUFFIX, IaminEx, false)                                                     \
  VGPU_MOVE_EX(INT, SUFFIX, CopyEx, copy, const)                                                   \
  VGPU_MOVE_EX(INT, SUFFIX, SwapEx, swap, )

VGPU_VECTORS_EX(int, )
VGPU_VECTORS_EX(int64_t, _64)
