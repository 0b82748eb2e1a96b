// SPDX-License-Identifier: Apache-2.0
// Incomplete factors, which have the elements that A has: csrilu02, csric02.
#include <cmath>
#include <memory>

#include "include/entry_points.hpp"
#include "sparse/elements.hpp"

// The row whose pivot is zero or missing, in A's base; -1 if there is none.
struct csrilu02Info {
  std::shared_ptr<int> zero = std::make_shared<int>(-1);
};
struct csric02Info : csrilu02Info {};

namespace vgpu::sparse {
namespace {

template <class T>
Status factor(const char* name, cusparseHandle_t handle, bool cholesky, i64 m, i64 nnz,
              cusparseMatDescr_t descriptor, T* data, const int* offsets, const int* columns,
              const csrilu02Info* info) {
  using W = blas::Wide<blas::Number<T>>;
  const SpMat a = csr(m, m, descriptor, nnz, data, offsets, columns);
  Call call(name, handle, info);
  call.require(valid(a));
  if (!call) return call.status();
  call.out_values(a);
  return call.run([=, zero = info->zero] {
    *zero = -1;
    const auto rows = load_rows<W>(a, {});
    auto values = rows.values;
    // Places of the values: of the columns of one row, and of the diagonal. -1: there is none.
    std::vector<i64> own(static_cast<std::size_t>(m), -1), diagonal(own);
    const auto at = [&](i64 place) -> W& { return values[static_cast<std::size_t>(place)]; };
    const auto each = [&](i64 row, auto body) {
      const auto r = static_cast<std::size_t>(row);
      for (i64 p = rows.offsets[r]; p < rows.offsets[r + 1]; ++p)
        body(p, static_cast<std::size_t>(rows.columns[static_cast<std::size_t>(p)]));
    };
    for (i64 row = 0; row < m; ++row) {
      const auto i = static_cast<std::size_t>(row);
      each(row, [&](i64 p, std::size_t col) { own[col] = p; });
      W squares{};
      each(row, [&](i64 p, std::size_t k) {
        if (k >= i || diagonal[k] < 0) return;
        if (!cholesky) at(p) /= at(diagonal[k]);
        each(static_cast<i64>(k), [&](i64 q, std::size_t col) {
          if (own[col] < 0) return;
          if (cholesky && col < k) at(p) -= at(own[col]) * blas::conjugate(at(q));
          if (!cholesky && col > k) at(own[col]) -= at(p) * at(q);
        });
        if (cholesky) at(p) /= at(diagonal[k]);
        squares += at(p) * blas::conjugate(at(p));
      });
      diagonal[i] = own[i];
      if (cholesky && diagonal[i] >= 0) at(diagonal[i]) = std::sqrt(at(diagonal[i]) - squares);
      const bool is_zero = diagonal[i] < 0 || at(diagonal[i]) == W();
      if (is_zero && *zero < 0) *zero = static_cast<int>(row) + a.first.base;
      each(row, [&](i64, std::size_t col) { own[col] = -1; });
    }
    for (std::size_t p = 0; p < values.size(); ++p)
      blas::store(a.type, a.values, static_cast<i64>(p), values[p]);
  });
}

Status zero_pivot(const char* name, cusparseHandle_t handle, const csrilu02Info* info,
                  int* position) {
  Call call(name, handle, info, position);
  if (call && call.on_device()) call.out(position, sizeof *position);
  const Status status = call ? call.run_now([&] { *position = *info->zero; }) : call.status();
  return status == CUSPARSE_STATUS_SUCCESS && *info->zero >= 0 ? CUSPARSE_STATUS_ZERO_PIVOT
                                                               : status;
}

Status tell_room(const void* handle, int* bytes) {
  std::size_t size = 0;
  const Status status = sparse::tell_room(handle, bytes != nullptr ? &size : nullptr);
  if (status == CUSPARSE_STATUS_SUCCESS) *bytes = static_cast<int>(size);
  return status;
}

}  // namespace
}  // namespace vgpu::sparse

using namespace vgpu::sparse;  // NOLINT: only entry points follow

#define VGPU_FACTOR(function, cholesky)                                                        \
  VGPU_BY(cusparse##function, 10, factor(__func__, a0, cholesky, a1, a2, a3, a4, a5, a6, a7)); \
  VGPU_BY(cusparse##function##_analysis, 10, known(a0));                                       \
  VGPU_BY(cusparse##function##_bufferSize, 9, tell_room(a0, a8))
VGPU_FACTOR(Scsrilu02, false);
VGPU_FACTOR(Dcsrilu02, false);
VGPU_FACTOR(Ccsrilu02, false);
VGPU_FACTOR(Zcsrilu02, false);
VGPU_FACTOR(Scsric02, true);
VGPU_FACTOR(Dcsric02, true);
VGPU_FACTOR(Ccsric02, true);
VGPU_FACTOR(Zcsric02, true);
VGPU_BY(cusparseCreateCsrilu02Info, 1, Objects::create(a0, csrilu02Info()));
VGPU_BY(cusparseCreateCsric02Info, 1, Objects::create(a0, csric02Info()));
VGPU_BY(cusparseDestroyCsrilu02Info, 1, Objects::destroy(a0));
VGPU_BY(cusparseDestroyCsric02Info, 1, Objects::destroy(a0));
VGPU_BY(cusparseXcsrilu02_zeroPivot, 3, zero_pivot(__func__, a0, a1, a2));
VGPU_BY(cusparseXcsric02_zeroPivot, 3, zero_pivot(__func__, a0, a1, a2));
