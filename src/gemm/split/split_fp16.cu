// SPDX-License-Identifier: Apache-2.0
// FP32 accuracy at a third of the fp16 rate: rows and columns scaled by powers of two, two fp16
// terms, three products. The larger operand may be split inside the product kernel, or packed
// before the call.
#include "gemm/split/fused.cuh"
#include "gemm/split/packed.hpp"
#include "gemm/split/product.cuh"

#include <cstdint>
#include <span>

namespace ladder::split_fp16 {

using Terms = TermFormat<__half, 2>;

using Job = SplitJob<Terms, 3>;
using Fused = FusedJob<Terms, 3>;

template <bool kAlwaysFused>
static Status launch(const Problem& original, const Operands& given, Stream stream) {
  return launch_row_major(original, given, stream, [&](const RowMajorCall& call) {
    const bool fused = kAlwaysFused ? fits_fused(call.p, call.at)
                                    : takes_fused(call.p, call.at, false, call.device.sms);
    return fused ? launch_job(Fused(call.p, call.o, call.device.sms), stream)
                 : launch_job(Job(call.p, call.o, call.device.sms), stream);
  });
}

static constexpr KernelInfo kKernels[] = {
    library_kernel("ladder_fp16x3_fused", "split_fp16",
                   "the larger operand split in the product kernel", Precision::kFp16x3, kHopper,
                   accept_split, launch<true>),
    library_kernel("ladder_fp16x3", "split_fp16",
                   "rows and columns scaled, two fp16 terms, three products", Precision::kFp16x3,
                   kHopper, accept_split, launch<false>, Role::kLibrary),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

std::int64_t packed_bytes(const Problem& problem, bool of_a) {
  constexpr int kAnySms = 1;  // the product's plan is not used
  return Job(problem, {}, kAnySms).packed_bytes(of_a);
}

// Splits one operand only: the job treats the other one as split already, so that its pre-pass
// skips it.
Status pack(const Problem& problem, const Operands& operands, bool of_a, void* terms,
            Stream stream) {
  constexpr int kAnySms = 1;
  Job job(problem, operands, kAnySms);
  job.use_packed(!of_a, static_cast<char*>(terms));
  return job.pass(job.target(static_cast<char*>(terms)), stream);
}

Status launch_packed(const Problem& problem, const Operands& operands, bool of_a, void* terms,
                     Stream stream) {
  return launch_row_major(problem, operands, stream, [&](const RowMajorCall& call) {
    Job job(call.p, call.o, call.device.sms);
    job.use_packed(of_a, static_cast<char*>(terms));
    return launch_job(job, stream);
  });
}

}  // namespace ladder::split_fp16
