// SPDX-License-Identifier: Apache-2.0
// Functions of a sparse vector x and a dense vector y.
#include "include/entry_points.hpp"
#include "sparse/elements.hpp"

namespace vgpu::sparse {
namespace {

enum class Function { kAxpby, kGather, kScatter, kRot, kDot };

// `first` and `second`: alpha and beta, or the cosine and the sine.
Status vectors(const char* name, cusparseHandle_t handle, Function function,
               const cusparseSpVecDescr* x, const cusparseDnVecDescr* y,
               const void* first = nullptr, const void* second = nullptr,
               cusparseOperation_t op = {}, void* result = nullptr, cudaDataType compute = {}) {
  Call call(name, handle, x, y);
  if (!call) return call.status();
  const bool factors = function == Function::kAxpby || function == Function::kRot,
             dots = function == Function::kDot,
             halves = y->type == CUDA_R_16F || y->type == CUDA_R_16BF;
  // Of factors and results.
  const auto type = dots ? compute : halves ? CUDA_R_32F : y->type;
  call.types(x->type, y->type, type)
      .require(x->size == y->size && op != CUSPARSE_OPERATION_TRANSPOSE &&
               is_operation(op, x->type));
  call.require(!dots || result != nullptr);
  const auto bytes = [](i64 count, std::size_t each) {
    return static_cast<std::size_t>(count) * each;
  };
  call.in(x->indices.data, bytes(x->nnz, index_bytes(x->indices.type)));
  const std::size_t sparse = bytes(x->nnz, blas::bytes_of(x->type)),
                    dense = bytes(y->size, blas::bytes_of(y->type));
  call.in(x->values, sparse).in(y->values, dense);
  if (function == Function::kGather || function == Function::kRot) call.out(x->values, sparse);
  if (function != Function::kGather && !dots) call.out(y->values, dense);
  if (dots && call.on_device()) call.out(result, blas::bytes_of(type));
  const Scalar a = factors ? call.scalar(first, type) : Scalar(),
               b = factors ? call.scalar(second, type) : Scalar();
  const auto status = by_number(type, [&](auto number) {
    using W = decltype(number);
    return call.run([=, x = *x, y = *y] {
      W sum{};
      if (function == Function::kAxpby)
        for (i64 i = 0; i < y.size; ++i) blend(y.type, y.values, i, W(), W(), b.value<W>());
      for (i64 i = 0; i < x.nnz; ++i) {
        const i64 at = x.indices[i];
        check(0 <= at && at < y.size);
        const W of_x = blas::load<W>(x.type, x.values, i),
                of_y = blas::load<W>(y.type, y.values, at);
        const auto set_x = [&](W value) { blas::store(x.type, x.values, i, value); };
        const auto set_y = [&](W value) { blas::store(y.type, y.values, at, value); };
        switch (function) {
          case Function::kAxpby: set_y(a.value<W>() * of_x + of_y); break;
          case Function::kGather: set_x(of_y); break;
          case Function::kScatter: set_y(of_x); break;
          case Function::kDot: sum += conjugate_if(conjugates(op), of_x) * of_y; break;
          case Function::kRot:
            set_x(a.value<W>() * of_x + b.value<W>() * of_y);
            set_y(a.value<W>() * of_y - b.value<W>() * of_x);
            break;
        }
      }
      if (result != nullptr) blas::store(type, result, 0, sum);
    });
  });
  // The host may read its result when the function returns.
  const bool wait =
      dots && status == CUSPARSE_STATUS_SUCCESS && !call.on_device() && !call.captured();
  return wait && cudaStreamSynchronize(handle->stream) != cudaSuccess
             ? CUSPARSE_STATUS_EXECUTION_FAILED
             : status;
}

}  // namespace
}  // namespace vgpu::sparse

using namespace vgpu::sparse;  // NOLINT: only entry points follow

VGPU_BY(cusparseAxpby, 5, vectors(__func__, a0, Function::kAxpby, a2, a4, a1, a3));
VGPU_BY(cusparseGather, 3, vectors(__func__, a0, Function::kGather, a2, a1));
VGPU_BY(cusparseScatter, 3, vectors(__func__, a0, Function::kScatter, a1, a2));
VGPU_BY(cusparseRot, 5, vectors(__func__, a0, Function::kRot, a3, a4, a1, a2));
VGPU_BY(cusparseSpVV, 7,
        vectors(__func__, a0, Function::kDot, a2, a3, nullptr, nullptr, a1, a4, a5));
VGPU_BY(cusparseSpVV_bufferSize, 7, tell_room(a0, a6));
