// SPDX-License-Identifier: Apache-2.0
// Rotations of level 1: Givens' (rot, rotg) and the modified ones (rotm, rotmg), as the reference
// BLAS defines them.
#include <cmath>
#include <tuple>

#include "blas/vectors.hpp"

namespace vgpu::blas {
namespace {

// x = c x + s y, y = c y - conj(s) x.
template <class W>
cublasStatus_t rot(const char* name, cublasHandle_t handle, const Vector<W>& x, const Vector<W>& y,
                   const Scalar& cosine, const Scalar& sine) {
  return enqueue(name, handle, cosine.valid() && sine.valid(), std::tie(x, y), [=] {
    const W c = cosine.value<W>(), s = sine.value<W>();
    for (std::int64_t i = 0; i < x.n; ++i) {
      const W a = x[i], b = y[i];
      x.set(i, c * a + s * b);
      y.set(i, c * b - conjugate(s) * a);
    }
    x.mark();
    y.mark();
  });
}

// Numbers of one type that a function reads and replaces, in host or device memory.
template <class W>
struct Numbers {
  void* data = nullptr;
  cudaDataType type = kTypeOf<W>;
  std::int64_t n = 1;
  bool in_host_memory = false;

  template <class C>
  Numbers(cublasHandle_t handle, const C* pointer, std::int64_t count = 1)
      : Numbers(handle, pointer, kTypeOf<Number<C>>, count) {}
  Numbers(cublasHandle_t handle, const void* pointer, cudaDataType of, std::int64_t count = 1)
      : data(const_cast<void*>(pointer)),
        type(of),
        n(count),
        in_host_memory(handle != nullptr && handle->pointer_mode == CUBLAS_POINTER_MODE_HOST) {}
  W get(std::int64_t i = 0) const { return load<W>(type, data, i); }
  void set(W value, std::int64_t i = 0) const {
    store(type, data, i, value);
    if (!in_host_memory) mark_written(data, n, type);
  }
  bool on_device() const {
    return data != nullptr && (in_host_memory || blas::on_device(data, n, type));
  }
};

// The work is done when the function returns if its numbers are the host's.
template <class Work, class... All>
cublasStatus_t with_numbers(const char* name, cublasHandle_t handle, Work work,
                            const All&... numbers) {
  const bool valid = ((numbers.data != nullptr) && ...);
  const cublasStatus_t status = enqueue(name, handle, valid, std::tie(numbers...), work);
  const Target<char> target(handle, nullptr);
  return target.finish(status);
}

// (a, b) becomes (r, z): r = c a + s b, and z encodes c and s.
template <class W>
cublasStatus_t rotg(const char* name, cublasHandle_t handle, const Numbers<W>& a,
                    const Numbers<W>& b, const Numbers<Real<W>>& c, const Numbers<W>& s) {
  using R = Real<W>;
  const auto make = [=] {
    const W first = a.get(), second = b.get();
    const R one = std::abs(first), other = std::abs(second), scale = one + other;
    const R norm = scale == 0 ? 0 : scale * std::hypot(one / scale, other / scale);
    if constexpr (kIsComplex<W>) {
      const W phase = one == 0 ? W{1} : first / one;
      c.set(one == 0 ? 0 : one / norm);
      s.set(one == 0 ? W{1} : phase * conjugate(second) / norm);
      a.set(one == 0 ? second : phase * norm);
    } else {
      const R r = std::copysign(norm, one > other ? first : second);
      const R cosine = scale == 0 ? 1 : first / r, sine = scale == 0 ? 0 : second / r;
      c.set(cosine);
      s.set(sine);
      a.set(r);
      if (scale == 0)
        b.set(0);
      else
        b.set(one > other ? sine : cosine != 0 ? 1 / cosine : 1);
    }
  };
  return with_numbers(name, handle, make, a, b, c, s);
}

// The matrix of a modified rotation, of which `param` holds the parts that its flag does not tell.
template <class W>
struct Modified {
  W flag, h11, h21, h12, h22;

  static Modified read(const Numbers<W>& param) {
    const W flag = param.get();
    Modified h{flag, 1, 0, 0, 1};
    if (flag == W{-2}) return h;
    h = {flag, param.get(1), param.get(2), param.get(3), param.get(4)};
    if (flag == W{0}) h.h11 = h.h22 = 1;
    if (flag == W{1}) h.h12 = 1, h.h21 = -1;
    return h;
  }
  void write(const Numbers<W>& param) const {
    param.set(flag);
    if (flag == W{-2}) return;
    if (flag != W{0}) param.set(h11, 1), param.set(h22, 4);
    if (flag != W{1}) param.set(h21, 2), param.set(h12, 3);
  }
  // All parts are stored from now on.
  void spell_out() {
    if (flag == W{0}) h11 = h22 = 1;
    if (flag == W{1}) h12 = 1, h21 = -1;
    flag = -1;
  }
};

template <class W>
cublasStatus_t rotm(const char* name, cublasHandle_t handle, const Vector<W>& x, const Vector<W>& y,
                    const Numbers<W>& param) {
  // Numbers in host memory are read during the call.
  const auto now =
      param.in_host_memory && param.data != nullptr ? Modified<W>::read(param) : Modified<W>{};
  return enqueue(name, handle, param.data != nullptr, std::tie(x, y, param), [=] {
    const auto h = param.in_host_memory ? now : Modified<W>::read(param);
    if (h.flag == W{-2}) return;
    for (std::int64_t i = 0; i < x.n; ++i) {
      const W a = x[i], b = y[i];
      x.set(i, h.h11 * a + h.h12 * b);
      y.set(i, h.h21 * a + h.h22 * b);
    }
    x.mark();
    y.mark();
  });
}

// The H that makes the second part of H (sqrt(d1) x, sqrt(d2) y) zero.
template <class W>
Modified<W> modified_rotation(W& d1, W& d2, W& x, W y) {
  constexpr W kStep = 4096, kSquare = kStep * kStep;
  Modified<W> h{-2, 0, 0, 0, 0};
  const auto nothing = [&] {
    d1 = d2 = x = 0;
    return Modified<W>{-1, 0, 0, 0, 0};
  };
  if (d1 < 0) return nothing();
  const W p2 = d2 * y, p1 = d1 * x, q2 = p2 * y, q1 = p1 * x;
  if (p2 == 0) return h;
  if (std::abs(q1) > std::abs(q2)) {
    h = {0, 1, -y / x, p2 / p1, 1};
    const W u = 1 - h.h12 * h.h21;
    if (u <= 0) return nothing();
    d1 /= u;
    d2 /= u;
    x *= u;
  } else {
    if (q2 < 0) return nothing();
    h = {1, p1 / p2, -1, 1, x / y};
    const W u = 1 + h.h11 * h.h22;
    const W former = d1;
    d1 = d2 / u;
    d2 = former / u;
    x = y * u;
  }
  const auto is_far = [](W d) {
    return d != 0 && std::isfinite(d) && (std::abs(d) <= 1 / kSquare || std::abs(d) >= kSquare);
  };
  const auto scale = [&](W& d, W& first, W& second, W* other) {
    while (is_far(d)) {
      h.spell_out();
      const W by = std::abs(d) <= 1 / kSquare ? kStep : 1 / kStep;
      d *= by * by;
      first /= by;
      second /= by;
      if (other != nullptr) *other /= by;
    }
  };
  scale(d1, h.h11, h.h12, &x);
  scale(d2, h.h21, h.h22, nullptr);
  return h;
}

template <class W>
cublasStatus_t rotmg(const char* name, cublasHandle_t handle, const Numbers<W>& d1,
                     const Numbers<W>& d2, const Numbers<W>& x, const Numbers<W>& y,
                     const Numbers<W>& param) {
  const auto make = [=] {
    W first = d1.get(), second = d2.get(), value = x.get();
    const Modified<W> h = modified_rotation(first, second, value, y.get());
    d1.set(first);
    d2.set(second);
    x.set(value);
    h.write(param);
  };
  return with_numbers(name, handle, make, d1, d2, x, y, param);
}

}  // namespace
}  // namespace vgpu::blas

using namespace vgpu::blas;  // NOLINT: the entry points are cuBLAS's own names

#define VGPU_ROT(L)                                                                                \
  VGPU_BOTH(cublas##L##rot_v2, 8,                                                                  \
            rot("cublas" #L "rot", a0, elements(a2, a1, a3), elements(a4, a1, a5), number(a0, a6), \
                number(a0, a7)))
#define VGPU_ROTG(L, C)          \
  VGPU_BY(cublas##L##rotg_v2, 5, \
          rotg<Number<C>>("cublas" #L "rotg", a0, {a0, a1}, {a0, a2}, {a0, a3}, {a0, a4}))
#define VGPU_MODIFIED(L, W)                                                                      \
  VGPU_BOTH(                                                                                     \
      cublas##L##rotm_v2, 7,                                                                     \
      rotm<W>("cublas" #L "rotm", a0, elements(a2, a1, a3), elements(a4, a1, a5), {a0, a6, 5})); \
  VGPU_BY(cublas##L##rotmg_v2, 6,                                                                \
          rotmg<W>("cublas" #L "rotmg", a0, {a0, a1}, {a0, a2}, {a0, a3}, {a0, a4}, {a0, a5, 5}))

VGPU_ROT(S);
VGPU_ROT(D);
VGPU_ROT(C);
VGPU_ROT(Cs);
VGPU_ROT(Z);
VGPU_ROT(Zd);
VGPU_ROTG(S, float);
VGPU_ROTG(D, double);
VGPU_ROTG(C, cuComplex);
VGPU_ROTG(Z, cuDoubleComplex);
VGPU_MODIFIED(S, float);
VGPU_MODIFIED(D, double);

// The forms that name their types.

#define VGPU_ROTATIONS_EX(INT, SUFFIX)                                                            \
  cublasStatus_t cublasRotEx##SUFFIX(cublasHandle_t handle, INT n, void* x, cudaDataType x_type,  \
                                     INT incx, void* y, cudaDataType y_type, INT incy,            \
                                     const void* c, const void* s, cudaDataType cs_type,          \
                                     cudaDataType execution) {                                    \
    return typed("cublasRotEx", execution, {x_type, y_type, cs_type}, [&](auto w) {               \
      using W = decltype(w);                                                                      \
      return rot("cublasRotEx", handle, elements<W>(x, n, incx, x_type),                          \
                 elements<W>(y, n, incy, y_type), scalar(handle, c, cs_type),                     \
                 scalar(handle, s, cs_type));                                                     \
    });                                                                                           \
  }                                                                                               \
  cublasStatus_t cublasRotmEx##SUFFIX(cublasHandle_t handle, INT n, void* x, cudaDataType x_type, \
                                      INT incx, void* y, cudaDataType y_type, INT incy,           \
                                      const void* param, cudaDataType param_type,                 \
                                      cudaDataType execution) {                                   \
    return typed_real("cublasRotmEx", execution, {x_type, y_type, param_type}, [&](auto w) {      \
      using W = decltype(w);                                                                      \
      return rotm<W>("cublasRotmEx", handle, elements<W>(x, n, incx, x_type),                     \
                     elements<W>(y, n, incy, y_type), {handle, param, param_type, 5});            \
    });                                                                                           \
  }

VGPU_ROTATIONS_EX(int, )
VGPU_ROTATIONS_EX(int64_t, _64)

cublasStatus_t cublasRotgEx(cublasHandle_t handle, void* a, void* b, cudaDataType type, void* c,
                            void* s, cudaDataType cs_type, cudaDataType execution) {
  return typed_real("cublasRotgEx", execution, {type, cs_type}, [&](auto w) {
    return rotg<decltype(w)>("cublasRotgEx", handle, {handle, a, type}, {handle, b, type},
                             {handle, c, cs_type}, {handle, s, cs_type});
  });
}

cublasStatus_t cublasRotmgEx(cublasHandle_t handle, void* d1, cudaDataType d1_type, void* d2,
                             cudaDataType d2_type, void* x1, cudaDataType x1_type, const void* y1,
                             cudaDataType y1_type, void* param, cudaDataType param_type,
                             cudaDataType execution) {
  return typed_real(
      "cublasRotmgEx", execution, {d1_type, d2_type, x1_type, y1_type, param_type}, [&](auto w) {
        return rotmg<decltype(w)>("cublasRotmgEx", handle, {handle, d1, d1_type},
                                  {handle, d2, d2_type}, {handle, x1, x1_type},
                                  {handle, y1, y1_type}, {handle, param, param_type, 5});
      });
}
