// SPDX-License-Identifier: Apache-2.0
// OpenBLAS's SGEMM on one thread and on all: the host rungs' baseline.
#include "host/openblas.hpp"

#include "rungs/baselines/host_baseline.hpp"

#include <algorithm>
#include <limits>
#include <mutex>
#include <span>

namespace ladder::openblas {

static Status accepts(const Problem& p, const Device&) {
  if (host::openblas() == nullptr)
    return {Code::kUnsupportedDevice,
            "libopenblas.so.0 is not installed (Debian: libopenblas0-pthread)"};
  const std::int64_t largest = std::max({p.m, p.n, p.k, p.lda, p.ldb, p.ldc});
  if (largest <= std::numeric_limits<int>::max()) return Status::ok();
  return {Code::kUnsupportedProblem,
          "OpenBLAS counts in 32-bit integers: sizes and leading dimensions end at 2^31 - 1"};
}

static int transpose(Op op) {
  return op == Op::kNone ? host::OpenBlas::kNoTrans : host::OpenBlas::kTrans;
}

// The number of threads is OpenBLAS's global state, hence the lock.
static Status run(const Problem& p, const Operands& o, bool all_cores) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const host::OpenBlas& blas = *host::openblas();
  blas.set_num_threads(all_cores ? blas.get_num_procs() : 1);
  // OpenBLAS 0.3.21 multiplies A and B even by alpha = 0, so that their NaN reaches C; with k = 0
  // it does not.
  const std::int64_t k = reads_ab(p) ? p.k : 0;
  blas.sgemm(p.layout == Layout::kRowMajor ? host::OpenBlas::kRowMajor : host::OpenBlas::kColMajor,
             transpose(p.op_a), transpose(p.op_b), static_cast<int>(p.m), static_cast<int>(p.n),
             static_cast<int>(k), p.alpha, o.a, static_cast<int>(p.lda), o.b,
             static_cast<int>(p.ldb), p.beta, o.c, static_cast<int>(p.ldc));
  return Status::ok();
}

static constexpr auto kKernels =
    host_baselines<run>("openblas", {"openblas_1", "OpenBLAS on one thread"},
                        {"openblas_all", "OpenBLAS on all cores"}, accepts);
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::openblas
