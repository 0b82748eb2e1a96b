// SPDX-License-Identifier: Apache-2.0
// oneDNN's SGEMM (dnnl_sgemm) on one thread and on all. It runs on OpenMP's threads.
#include <span>
#include <string>
#include <thread>

#include "host/shared_library.hpp"
#include "rungs/baselines/host_baseline.hpp"

namespace ladder::onednn {

struct Library {
  using Sgemm = int(char trans_a, char trans_b, std::int64_t m, std::int64_t n, std::int64_t k,
                    float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb,
                    float beta, float* c, std::int64_t ldc);
  Sgemm* sgemm = nullptr;
  void (*set_num_threads)(int) = nullptr;
  int (*get_max_threads)() = nullptr;
  bool found = false;
};

static const Library& library() {
  static const Library loaded = [] {
    host::SharedLibrary file("libdnnl.so.3");
    for (const char* name : {"libdnnl.so.3.6", "libdnnl.so.2"}) {  // Debian 13's and Debian 12's
      if (!file.found()) file = host::SharedLibrary(name);
    }
    host::SharedLibrary openmp("libgomp.so.1");
    Library out;
    out.sgemm = file.get<Library::Sgemm>("dnnl_sgemm");
    out.set_num_threads = openmp.get<void(int)>("omp_set_num_threads");
    out.get_max_threads = openmp.get<int()>("omp_get_max_threads");
    out.found = file.found() && openmp.found();
    return out;
  }();
  return loaded;
}

static Status accepts(const Problem& p, const Device&) {
  if (!library().found)
    return {Code::kUnsupportedDevice, "libdnnl.so is not installed (oneDNN 2 or 3; scripts/setup)"};
  if (p.m > 0 && p.n > 0 && reads_ab(p)) return Status::ok();
  return {Code::kUnsupportedProblem,
          "dnnl_sgemm takes no problem without products (an empty matrix, alpha = 0)"};
}

// The number of threads is the calling thread's setting of OpenMP: given back as it was.
static Status run(const Problem& problem, const Operands& o, bool all_cores) {
  const auto [p, swapped] = as_row_major(problem);
  const int before = library().get_max_threads();
  library().set_num_threads(all_cores ? static_cast<int>(std::thread::hardware_concurrency()) : 1);
  const auto transpose = [](Op op) { return op == Op::kNone ? 'N' : 'T'; };
  const int status = library().sgemm(transpose(p.op_a), transpose(p.op_b), p.m, p.n,
                                     reads_ab(p) ? p.k : 0, p.alpha, swapped ? o.b : o.a, p.lda,
                                     swapped ? o.a : o.b, p.ldb, p.beta, o.c, p.ldc);
  library().set_num_threads(before);
  if (status == 0) return Status::ok();
  return {Code::kLaunchFailed, "dnnl_sgemm: status " + std::to_string(status)};
}

static constexpr auto kKernels = host_baselines<run>(
    "onednn", {"onednn_1", "oneDNN on one thread"}, {"onednn_all", "oneDNN on all cores"}, accepts);
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::onednn
