// SPDX-License-Identifier: Apache-2.0
// BLIS's SGEMM on one thread and on all, through its typed interface, which has 64-bit sizes and a
// stride for rows and one for columns.
#include <cstdlib>
#include <mutex>
#include <span>
#include <thread>

#include "host/shared_library.hpp"
#include "rungs/baselines/host_baseline.hpp"

namespace ladder::blis {

struct Library {
  using Sgemm = void(int trans_a, int trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                     const float* alpha, const float* a, std::int64_t a_row, std::int64_t a_col,
                     const float* b, std::int64_t b_row, std::int64_t b_col, const float* beta,
                     float* c, std::int64_t c_row, std::int64_t c_col);
  Sgemm* sgemm = nullptr;
  void (*set_num_threads)(std::int64_t) = nullptr;
  bool found = false;
};

static const Library& library() {
  static const Library loaded = [] {
    // BLIS 0.9.0 runs its generic kernels on AMD cores that it does not know, and its AVX2 kernels
    // on Intel's whose model it does not know. 0 is its number for skx.
    if (host::has_avx512()) setenv("BLIS_ARCH_TYPE", "0", 0);
    host::SharedLibrary file("libblis.so.4");
    Library out;
    out.sgemm = file.get<Library::Sgemm>("bli_sgemm");
    out.set_num_threads = file.get<void(std::int64_t)>("bli_thread_set_num_threads");
    out.found = file.found();
    return out;
  }();
  return loaded;
}

static Status accepts(const Problem&, const Device&) {
  if (library().found) return Status::ok();
  return {Code::kUnsupportedDevice, "libblis.so.4 is not installed (Debian: libblis4-openmp)"};
}

struct Strides {
  std::int64_t row, col;
};
static Strides strides(Op op, Layout layout, std::int64_t ld) {
  return (op == Op::kNone) == (layout == Layout::kRowMajor) ? Strides{ld, 1} : Strides{1, ld};
}

// The number of threads is BLIS's global state, hence the lock.
static Status run(const Problem& p, const Operands& o, bool all_cores) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  library().set_num_threads(all_cores ? std::thread::hardware_concurrency() : 1);
  constexpr int kNoTranspose = 0;
  const Strides a = strides(p.op_a, p.layout, p.lda), b = strides(p.op_b, p.layout, p.ldb);
  const Strides c = strides(Op::kNone, p.layout, p.ldc);
  library().sgemm(kNoTranspose, kNoTranspose, p.m, p.n, reads_ab(p) ? p.k : 0, &p.alpha, o.a, a.row,
                  a.col, o.b, b.row, b.col, &p.beta, o.c, c.row, c.col);
  return Status::ok();
}

static constexpr auto kKernels = host_baselines<run>("blis", {"blis_1", "BLIS on one thread"},
                                                     {"blis_all", "BLIS on all cores"}, accepts);
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::blis
