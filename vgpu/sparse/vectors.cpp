// SPDX-License-Identifier: Apache-2.0
// Functions of a sparse and a dense vector, and tridiagonal systems.
#include "include/entry_points.hpp"
#include "sparse/elements.hpp"

namespace vgpu::sparse {
namespace {

// Both vectors. The functions of one of their elements take its index in the sparse vector.
template <class W>
struct Pair {
  cusparseSpVecDescr x;
  cusparseDnVecDescr y;

  W sparse(i64 i) const { return blas::load<W>(x.type, x.values, i); }
  W dense(i64 i) const { return blas::load<W>(y.type, y.values, x.indices[i]); }
  void set_sparse(i64 i, W value) const { blas::store(x.type, x.values, i, value); }
  void set_dense(i64 i, W value) const { blas::store(y.type, y.values, x.indices[i], value); }
  template <class Body>
  void each(Body body) const {
    for (i64 i = 0; i < x.nnz; ++i) {
      check(0 <= x.indices[i] && x.indices[i] < y.size);
      body(i);
    }
  }
};

// Of alpha, beta and their like where no type is given.
cudaDataType factor_type(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_16BF ? CUDA_R_32F : type;
}

// body(pair) after the work before it on the stream. `sparse` and `dense`: what it writes.
template <class Body>
Status vectors(Call& call, const cusparseSpVecDescr* x, const cusparseDnVecDescr* y, bool sparse,
               bool dense, Body body) {
  if (!call) return call.status();
  call.types(x->type, y->type).require(x->size == y->size);
  call.in(x->indices.data, static_cast<std::size_t>(x->nnz) * index_bytes(x->indices.type));
  const auto use = [&](void* values, i64 count, cudaDataType type, bool written) {
    const std::size_t bytes = static_cast<std::size_t>(count) * blas::bytes_of(type);
    written ? call.out(values, bytes) : call.in(values, bytes);
  };
  use(x->values, x->nnz, x->type, sparse);
  use(y->values, y->size, y->type, dense);
  return by_number(y->type, [&](auto number) {
    return call.run(
        [pair = Pair<decltype(number)>{*x, *y}, body] { body(pair, decltype(number)()); });
  });
}

Status axpby(const char* name, cusparseHandle_t handle, const void* alpha,
             const cusparseSpVecDescr* x, const void* beta, const cusparseDnVecDescr* y) {
  Call call(name, handle, x, y);
  if (!call) return call.status();
  const auto type = factor_type(y->type);
  const Scalar scale = call.scalar(alpha, type), keep = call.scalar(beta, type);
  return vectors(call, x, y, false, true, [=](const auto& pair, auto number) {
    using W = decltype(number);
    const auto& to = pair.y;
    for (i64 i = 0; i < to.size; ++i) blend(to.type, to.values, i, W(), W(), keep.value<W>());
    pair.each([&](i64 i) { pair.set_dense(i, pair.dense(i) + scale.value<W>() * pair.sparse(i)); });
  });
}

Status gather(const char* name, cusparseHandle_t handle, const cusparseDnVecDescr* y,
              const cusparseSpVecDescr* x) {
  Call call(name, handle, x, y);
  return vectors(call, x, y, true, false, [](const auto& pair, auto) {
    pair.each([&](i64 i) { pair.set_sparse(i, pair.dense(i)); });
  });
}

Status scatter(const char* name, cusparseHandle_t handle, const cusparseSpVecDescr* x,
               const cusparseDnVecDescr* y) {
  Call call(name, handle, x, y);
  return vectors(call, x, y, false, true, [](const auto& pair, auto) {
    pair.each([&](i64 i) { pair.set_dense(i, pair.sparse(i)); });
  });
}

Status rotate(const char* name, cusparseHandle_t handle, const void* c, const void* s,
              const cusparseSpVecDescr* x, const cusparseDnVecDescr* y) {
  Call call(name, handle, x, y);
  if (!call) return call.status();
  const auto type = factor_type(y->type);
  const Scalar cosine = call.scalar(c, type), sine = call.scalar(s, type);
  return vectors(call, x, y, true, true, [=](const auto& pair, auto number) {
    using W = decltype(number);
    pair.each([&](i64 i) {
      const W first = pair.sparse(i), second = pair.dense(i);
      pair.set_sparse(i, cosine.value<W>() * first + sine.value<W>() * second);
      pair.set_dense(i, cosine.value<W>() * second - sine.value<W>() * first);
    });
  });
}

Status dot(const char* name, cusparseHandle_t handle, cusparseOperation_t op,
           const cusparseSpVecDescr* x, const cusparseDnVecDescr* y, void* result,
           cudaDataType type) {
  Call call(name, handle, x, y, result);
  if (!call) return call.status();
  const bool conjugated = conjugates(op);
  call.types(x->type, y->type, type).require(is_operation(op));
  if (call.on_device()) call.out(result, blas::bytes_of(type));
  const auto status = vectors(call, x, y, false, false, [=](const auto& pair, auto number) {
    decltype(number) sum{};
    pair.each([&](i64 i) { sum += conjugate_if(conjugated, pair.sparse(i)) * pair.dense(i); });
    blas::store(type, result, 0, sum);
  });
  // The host may read its result when the function returns.
  const bool wait = status == CUSPARSE_STATUS_SUCCESS && !call.on_device() && !call.captured();
  return wait && cudaStreamSynchronize(handle->stream) != cudaSuccess
             ? CUSPARSE_STATUS_EXECUTION_FAILED
             : status;
}

// Solves systems that stand one after the other, by elimination with row exchanges. dl[0] and
// du[m - 1] of each are not used.
template <class T>
Status tridiagonal(const char* name, cusparseHandle_t handle, i64 m, i64 count, const T* dl,
                   const T* d, const T* du, i64 step, T* b, i64 pitch) {
  using N = blas::Number<T>;
  using W = blas::Wide<N>;
  Call call(name, handle, dl, d, du, b);
  call.require(m >= 3 && count >= 0 && step >= 0 && pitch >= m);
  if (!call) return call.status();
  const auto bytes = [](i64 elements) { return static_cast<std::size_t>(elements) * sizeof(T); };
  const auto systems = static_cast<std::size_t>(count);
  for (const T* diagonal : {dl, d, du}) call.in(diagonal, bytes(m), systems, bytes(step));
  call.out(b, bytes(m), systems, bytes(pitch));
  return call.run([=] {
    const auto load = [](const T* from, i64 i) { return W(reinterpret_cast<const N*>(from)[i]); };
    struct Row {
      W diagonal, next, second, right;  // the row's elements from the diagonal on
    };
    std::vector<Row> rows(static_cast<std::size_t>(m));
    for (i64 s = 0; s < count; ++s) {
      const auto at = [&](i64 i) {
        return Row{load(d, s * step + i), i + 1 < m ? load(du, s * step + i) : W(), W(),
                   load(b, s * pitch + i)};
      };
      Row row = at(0);
      for (i64 i = 0; i < m; ++i) {
        if (i + 1 < m) {
          Row below = at(i + 1);
          // From the column of row's diagonal on.
          Row under{load(dl, s * step + i + 1), below.diagonal, below.next, below.right};
          if (std::abs(under.diagonal) > std::abs(row.diagonal)) std::swap(row, under);
          const W factor = under.diagonal / row.diagonal;
          rows[static_cast<std::size_t>(i)] = row;
          row = {under.next - factor * row.next, under.second - factor * row.second, W(),
                 under.right - factor * row.right};
        } else {
          rows[static_cast<std::size_t>(i)] = row;
        }
      }
      W after{}, second{};
      for (i64 i = m; i-- > 0;) {
        const Row& r = rows[static_cast<std::size_t>(i)];
        const W value = (r.right - r.next * after - r.second * second) / r.diagonal;
        reinterpret_cast<N*>(b)[s * pitch + i] = N(value);
        second = after;
        after = value;
      }
    }
  });
}

}  // namespace
}  // namespace vgpu::sparse

using namespace vgpu::sparse;  // NOLINT: only entry points follow

VGPU_BY(cusparseAxpby, 5, axpby(__func__, a0, a1, a2, a3, a4));
VGPU_BY(cusparseGather, 3, gather(__func__, a0, a1, a2));
VGPU_BY(cusparseScatter, 3, scatter(__func__, a0, a1, a2));
VGPU_BY(cusparseRot, 5, rotate(__func__, a0, a1, a2, a3, a4));
VGPU_BY(cusparseSpVV, 7, dot(__func__, a0, a1, a2, a3, a4, a5));
VGPU_BY(cusparseSpVV_bufferSize, 7, tell_room(a0, a6));

#define VGPU_TRIDIAGONAL(T)                                                                 \
  VGPU_BY(cusparse##T##gtsv2, 9, tridiagonal(__func__, a0, a1, a2, a3, a4, a5, 0, a6, a7)); \
  VGPU_BY(cusparse##T##gtsv2_bufferSizeExt, 9, tell_room(a0, a8));                          \
  VGPU_BY(cusparse##T##gtsv2_nopivot, 9,                                                    \
          tridiagonal(__func__, a0, a1, a2, a3, a4, a5, 0, a6, a7));                        \
  VGPU_BY(cusparse##T##gtsv2_nopivot_bufferSizeExt, 9, tell_room(a0, a8));                  \
  VGPU_BY(cusparse##T##gtsv2StridedBatch, 9,                                                \
          tridiagonal(__func__, a0, a1, a6, a2, a3, a4, a7, a5, a7));                       \
  VGPU_BY(cusparse##T##gtsv2StridedBatch_bufferSizeExt, 9, tell_room(a0, a8))
VGPU_TRIDIAGONAL(S);
VGPU_TRIDIAGONAL(D);
VGPU_TRIDIAGONAL(C);
VGPU_TRIDIAGONAL(Z);
