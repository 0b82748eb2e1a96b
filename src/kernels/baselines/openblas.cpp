// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's SGEMM on one thread and on all: the host rungs' baseline.
#include <ladder/kernel.hpp>

#include <cblas.h>

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>

namespace ladder::openblas {

static Status accepts(const Problem& p, const Device&) {
  const std::int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  if (largest <= std::numeric_limits<blasint>::max()) return Status::ok();
  return {Code::kUnsupportedProblem, "OpenBLAS counts in " + std::to_string(8 * sizeof(blasint)) +
                                         "-bit integers: sizes and leading dimensions end at 2^31 - 1"};
}

static CBLAS_TRANSPOSE transpose(Op op) { return op == Op::kNone ? CblasNoTrans : CblasTrans; }

// The number of threads is OpenBLAS's global state, hence the lock.
static Status run(const Problem& p, const Operands& o, int threads) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  openblas_set_num_threads(threads);
  // OpenBLAS 0.3.21 multiplies A and B even by alpha = 0, so that their NaN reaches C; with k = 0 it does not.
  const std::int64_t k = reads_ab(p) ? p.k : 0;
  cblas_sgemm(p.layout == Layout::kRowMajor ? CblasRowMajor : CblasColMajor, transpose(p.op_a),
              transpose(p.op_b), static_cast<blasint>(p.m), static_cast<blasint>(p.n),
              static_cast<blasint>(k), p.alpha, o.a, static_cast<blasint>(p.lda), o.b,
              static_cast<blasint>(p.ldb), p.beta, o.c, static_cast<blasint>(p.ldc));
  return Status::ok();
}

static constexpr KernelInfo kKernels[] = {
    {.id = "openblas_1",
     .rung = "openblas",
     .idea = "OpenBLAS on one thread",
     .place = Place::kHost,
     .role = Role::kBaseline,
     .accepts = accepts,
     .launch = [](const Problem& p, const Operands& o, Stream) { return run(p, o, 1); }},
    {.id = "openblas_all",
     .rung = "openblas",
     .idea = "OpenBLAS on all cores",
     .place = Place::kHost,
     .role = Role::kBaseline,
     .accepts = accepts,
     .launch = [](const Problem& p, const Operands& o,
                  Stream) { return run(p, o, openblas_get_num_procs()); }},
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::openblas
