// SPDX-License-Identifier: Apache-2.0
// Level 1: operations on vectors.
#include <algorithm>
#include <cmath>
#include <complex>
#include <initializer_list>
#include <string>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

template <class W>
cublasStatus_t axpy(const char* name, cublasHandle_t handle, const Scalar& alpha,
                    const Vector<W>& x, const Vector<W>& y) {
  return enqueue(
      name, handle, alpha.valid(),
      [=] {
        const W factor = alpha.value<W>();
        if (factor == W{0}) return;
        for (std::int64_t i = 0; i < x.n; ++i) y.set(i, y[i] + factor * x[i]);
        y.mark();
      },
      x, y);
}

template <class W>
cublasStatus_t scal(const char* name, cublasHandle_t handle, const Scalar& alpha,
                    const Vector<W>& x) {
  if (x.step <= 0) return CUBLAS_STATUS_SUCCESS;  // as BLAS has it
  return enqueue(
      name, handle, alpha.valid(),
      [=] {
        const W factor = alpha.value<W>();
        for (std::int64_t i = 0; i < x.n; ++i) x.set(i, factor * x[i]);
        x.mark();
      },
      x);
}

template <class W>
cublasStatus_t copy(const char* name, cublasHandle_t handle, const Vector<W>& x,
                    const Vector<W>& y) {
  return enqueue(
      name, handle, true,
      [=] {
        for (std::int64_t i = 0; i < x.n; ++i) y.set(i, x[i]);
        y.mark();
      },
      x, y);
}

template <class W>
cublasStatus_t swap(const char* name, cublasHandle_t handle, const Vector<W>& x,
                    const Vector<W>& y) {
  return enqueue(
      name, handle, true,
      [=] {
        for (std::int64_t i = 0; i < x.n; ++i) {
          const W former = x[i];
          x.set(i, y[i]);
          y.set(i, former);
        }
        x.mark();
        y.mark();
      },
      x, y);
}

template <class W>
cublasStatus_t rot(const char* name, cublasHandle_t handle, const Vector<W>& x, const Vector<W>& y,
                   const Scalar& cosine, const Scalar& sine) {
  return enqueue(
      name, handle, cosine.valid() && sine.valid(),
      [=] {
        const W c = cosine.value<W>(), s = sine.value<W>();
        for (std::int64_t i = 0; i < x.n; ++i) {
          const W a = x[i], b = y[i];
          x.set(i, c * a + s * b);
          y.set(i, c * b - s * a);
        }
        x.mark();
        y.mark();
      },
      x, y);
}

template <class W>
cublasStatus_t dot(const char* name, cublasHandle_t handle, const Vector<W>& x, const Vector<W>& y,
                   bool conjugated, const Target<W>& result) {
  return result.finish(enqueue(
      name, handle, result.valid(),
      [=] {
        W sum{};
        for (std::int64_t i = 0; i < x.n; ++i) sum += (conjugated ? conjugate(x[i]) : x[i]) * y[i];
        result.set(sum);
      },
      x, y));
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
  return result.finish(enqueue(
      name, handle, result.valid(),
      [=] { result.set(taken.n <= 0 ? Result{} : static_cast<Result>(find(taken))); }, taken));
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

template <class W>
Vector<W> vector(const void* data, std::int64_t n, std::int64_t step,
                 cudaDataType type = kTypeOf<W>) {
  return {const_cast<void*>(data), type, n, step};
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

// `I` is the letter behind cublasI.
#define VGPU_LEVEL1(INT, SUFFIX, L, I, C, W)                                                     \
  cublasStatus_t cublas##L##axpy_v2##SUFFIX(cublasHandle_t handle, INT n, const C* alpha,        \
                                            const C* x, INT incx, C* y, INT incy) {              \
    return axpy("cublas" #L "axpy", handle, scalar(handle, alpha, kTypeOf<W>),                   \
                vector<W>(x, n, incx), vector<W>(y, n, incy));                                   \
  }                                                                                              \
  cublasStatus_t cublas##L##scal_v2##SUFFIX(cublasHandle_t handle, INT n, const C* alpha, C* x,  \
                                            INT incx) {                                          \
    return scal("cublas" #L "scal", handle, scalar(handle, alpha, kTypeOf<W>),                   \
                vector<W>(x, n, incx));                                                          \
  }                                                                                              \
  cublasStatus_t cublas##L##copy_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx,  \
                                            C* y, INT incy) {                                    \
    return copy("cublas" #L "copy", handle, vector<W>(x, n, incx), vector<W>(y, n, incy));       \
  }                                                                                              \
  cublasStatus_t cublas##L##swap_v2##SUFFIX(cublasHandle_t handle, INT n, C* x, INT incx, C* y,  \
                                            INT incy) {                                          \
    return swap("cublas" #L "swap", handle, vector<W>(x, n, incx), vector<W>(y, n, incy));       \
  }                                                                                              \
  cublasStatus_t cublasI##I##amax_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                             INT* result) {                                      \
    return reduce("cublasI" #I "amax", handle, vector<W>(x, n, incx), Target(handle, result),    \
                  [](const Vector<W>& v) { return extreme(v, true); });                          \
  }                                                                                              \
  cublasStatus_t cublasI##I##amin_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                             INT* result) {                                      \
    return reduce("cublasI" #I "amin", handle, vector<W>(x, n, incx), Target(handle, result),    \
                  [](const Vector<W>& v) { return extreme(v, false); });                         \
  }

// `N` is the letter or letters of functions with a real result.
#define VGPU_NORMS(INT, SUFFIX, N, C, W, R)                                                     \
  cublasStatus_t cublas##N##nrm2_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                            R* result) {                                        \
    return reduce("cublas" #N "nrm2", handle, vector<W>(x, n, incx), Target(handle, result),    \
                  norm<W>);                                                                     \
  }                                                                                             \
  cublasStatus_t cublas##N##asum_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                            R* result) {                                        \
    return reduce("cublas" #N "asum", handle, vector<W>(x, n, incx), Target(handle, result),    \
                  sum<W>);                                                                      \
  }

#define VGPU_DOT(INT, SUFFIX, NAME, CONJUGATED, C, W)                                          \
  cublasStatus_t cublas##NAME##_v2##SUFFIX(cublasHandle_t handle, INT n, const C* x, INT incx, \
                                           const C* y, INT incy, C* result) {                  \
    return dot<W>("cublas" #NAME, handle, vector<W>(x, n, incx), vector<W>(y, n, incy),        \
                  CONJUGATED, Target(handle, reinterpret_cast<W*>(result)));                   \
  }

#define VGPU_ROT(INT, SUFFIX, L, T)                                                            \
  cublasStatus_t cublas##L##rot_v2##SUFFIX(cublasHandle_t handle, INT n, T* x, INT incx, T* y, \
                                           INT incy, const T* c, const T* s) {                 \
    return rot("cublas" #L "rot", handle, vector<T>(x, n, incx), vector<T>(y, n, incy),        \
               scalar(handle, c, kTypeOf<T>), scalar(handle, s, kTypeOf<T>));                  \
  }

#define VGPU_VECTORS(INT, SUFFIX)                                            \
  VGPU_LEVEL1(INT, SUFFIX, S, s, float, float)                               \
  VGPU_LEVEL1(INT, SUFFIX, D, d, double, double)                             \
  VGPU_LEVEL1(INT, SUFFIX, C, c, cuComplex, std::complex<float>)             \
  VGPU_LEVEL1(INT, SUFFIX, Z, z, cuDoubleComplex, std::complex<double>)      \
  VGPU_NORMS(INT, SUFFIX, S, float, float, float)                            \
  VGPU_NORMS(INT, SUFFIX, D, double, double, double)                         \
  VGPU_NORMS(INT, SUFFIX, Sc, cuComplex, std::complex<float>, float)         \
  VGPU_NORMS(INT, SUFFIX, Dz, cuDoubleComplex, std::complex<double>, double) \
  VGPU_DOT(INT, SUFFIX, Sdot, false, float, float)                           \
  VGPU_DOT(INT, SUFFIX, Ddot, false, double, double)                         \
  VGPU_DOT(INT, SUFFIX, Cdotu, false, cuComplex, std::complex<float>)        \
  VGPU_DOT(INT, SUFFIX, Cdotc, true, cuComplex, std::complex<float>)         \
  VGPU_DOT(INT, SUFFIX, Zdotu, false, cuDoubleComplex, std::complex<double>) \
  VGPU_DOT(INT, SUFFIX, Zdotc, true, cuDoubleComplex, std::complex<double>)  \
  VGPU_ROT(INT, SUFFIX, S, float)                                            \
  VGPU_ROT(INT, SUFFIX, D, double)

VGPU_VECTORS(int, )
VGPU_VECTORS(int64_t, _64)

// The forms that name their types: of real vectors, computed in single or double precision.

namespace vgpu::blas {
namespace {

bool is_real(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF || type == CUDA_R_32F || type == CUDA_R_64F;
}

// Calls `compute(W{})` with W by the execution type, if that and all other types are known.
template <class Compute>
cublasStatus_t typed(const char* name, cudaDataType execution,
                     std::initializer_list<cudaDataType> types, Compute compute) {
  if (!std::all_of(types.begin(), types.end(), is_real) ||
      (execution != CUDA_R_32F && execution != CUDA_R_64F))
    return refuse(name, "a type that is neither 16F, 16BF, 32F nor 64F, or another execution type");
  return execution == CUDA_R_32F ? compute(float{}) : compute(double{});
}

// Puts `find()` where a number of that type goes.
template <class Find, class... Operands>
cublasStatus_t reduce_to(const char* name, cublasHandle_t handle, void* pointer, cudaDataType type,
                         Find find, const Operands&... operands) {
  const auto put = [&](auto bytes) {
    using Bytes = decltype(bytes);
    const Target<Bytes> target(handle, static_cast<Bytes*>(pointer));
    return target.finish(enqueue(
        name, handle, target.valid(),
        [=] {
          Bytes value{};
          store(type, &value, 0, find());
          target.set(value);
        },
        operands...));
  };
  switch (bytes_of(type)) {
    case 2:
      return put(std::uint16_t{});
    case 4:
      return put(std::uint32_t{});
    default:
      return put(std::uint64_t{});
  }
}

}  // namespace
}  // namespace vgpu::blas

#define VGPU_VECTORS_EX(INT, SUFFIX)                                                               \
  cublasStatus_t cublasAxpyEx##SUFFIX(cublasHandle_t handle, INT n, const void* alpha,             \
                                      cudaDataType alpha_type, const void* x, cudaDataType x_type, \
                                      INT incx, void* y, cudaDataType y_type, INT incy,            \
                                      cudaDataType execution) {                                    \
    return typed("cublasAxpyEx", execution, {alpha_type, x_type, y_type}, [&](auto w) {            \
      using W = decltype(w);                                                                       \
      return axpy("cublasAxpyEx", handle, scalar(handle, alpha, alpha_type),                       \
                  vector<W>(x, n, incx, x_type), vector<W>(y, n, incy, y_type));                   \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasScalEx##SUFFIX(cublasHandle_t handle, INT n, const void* alpha,             \
                                      cudaDataType alpha_type, void* x, cudaDataType x_type,       \
                                      INT incx, cudaDataType execution) {                          \
    return typed("cublasScalEx", execution, {alpha_type, x_type}, [&](auto w) {                    \
      return scal("cublasScalEx", handle, scalar(handle, alpha, alpha_type),                       \
                  vector<decltype(w)>(x, n, incx, x_type));                                        \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasDotEx##SUFFIX(                                                              \
      cublasHandle_t handle, INT n, const void* x, cudaDataType x_type, INT incx, const void* y,   \
      cudaDataType y_type, INT incy, void* result, cudaDataType type, cudaDataType execution) {    \
    return typed("cublasDotEx", execution, {x_type, y_type, type}, [&](auto w) {                   \
      using W = decltype(w);                                                                       \
      const auto a = vector<W>(x, n, incx, x_type), b = vector<W>(y, n, incy, y_type);             \
      const auto find = [=] {                                                                      \
        W total{};                                                                                 \
        for (std::int64_t i = 0; i < a.n; ++i) total += a[i] * b[i];                               \
        return total;                                                                              \
      };                                                                                           \
      return reduce_to("cublasDotEx", handle, result, type, find, a, b);                           \
    });                                                                                            \
  }                                                                                                \
  cublasStatus_t cublasDotcEx##SUFFIX(                                                             \
      cublasHandle_t handle, INT n, const void* x, cudaDataType x_type, INT incx, const void* y,   \
      cudaDataType y_type, INT incy, void* result, cudaDataType type, cudaDataType execution) {    \
    return cublasDotEx##SUFFIX(handle, n, x, x_type, incx, y, y_type, incy, result, type,          \
                               execution);                                                         \
  }                                                                                                \
  cublasStatus_t cublasNrm2Ex##SUFFIX(cublasHandle_t handle, INT n, const void* x,                 \
                                      cudaDataType x_type, INT incx, void* result,                 \
                                      cudaDataType type, cudaDataType execution) {                 \
    return typed("cublasNrm2Ex", execution, {x_type, type}, [&](auto w) {                          \
      const auto a = vector<decltype(w)>(x, incx <= 0 ? 0 : n, incx, x_type);                      \
      return reduce_to(                                                                            \
          "cublasNrm2Ex", handle, result, type, [=] { return norm(a); }, a);                       \
    });                                                                                            \
  }

VGPU_VECTORS_EX(int, )
VGPU_VECTORS_EX(int64_t, _64)
