// SPDX-License-Identifier: Apache-2.0
#include <ladder/registry.hpp>
#include <ladder/sgemm.hpp>

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "device/relaxed_capture.hpp"
#include "gemm/call.hpp"
#include "gemm/plan/choice.hpp"
#include "gemm/plan/tuned_plans.hpp"

namespace ladder {
namespace {

constexpr std::string_view kOfEveryGpu = "ladder_strided";

// The highest kernel that accepts the problem: the planned one or, in kIeee and on the host, a
// rung; on GPUs and for layouts without either, the kernel of every GPU.
Result<const KernelInfo*> highest(const Problem& problem, Place place, Precision precision,
                                  std::string_view planned, const Device& device) {
  const bool rungs = place == Place::kHost || precision == Precision::kIeee;
  const auto is_candidate = [&](const KernelInfo& kernel) {
    if (kernel.place != place || kernel.in != problem.in || kernel.out != problem.out) return false;
    return kernel.id == planned ||
           (rungs && kernel.role == Role::kRung && kernel.precision == precision);
  };
  std::string why;
  const std::span<const KernelInfo> all = kernels();
  const KernelInfo* of_every_gpu = nullptr;
  for (auto at = all.rbegin(); at != all.rend(); ++at) {
    const KernelInfo& kernel = *at;
    if (kernel.id == kOfEveryGpu && precision == Precision::kIeee && place == Place::kCuda)
      of_every_gpu = &kernel;
    if (!is_candidate(kernel)) continue;
    const Status status = accepts(kernel, problem, device);
    if (status) return &kernel;
    if (why.empty())
      why = "no kernel takes " + to_string(problem) + "; " + std::string(kernel.id) + ": " +
            status.message();
  }
  if (of_every_gpu != nullptr && accepts(*of_every_gpu, problem, device)) return of_every_gpu;
  if (why.empty()) {
    why = std::string("there is no ") + (place == Place::kHost ? "host" : "CUDA") + " kernel in " +
          to_string(precision) + " for " + to_string(problem);
  }
  return Status(Code::kUnsupportedProblem, why);
}

}  // namespace

Result<const KernelInfo*> select(const Problem& problem, Place place, Precision precision,
                                 const Device& device) {
  if (const Status& tuned = TunedPlans::of_process().status(); !tuned) return tuned;
  const auto in = [&](Precision as) {
    const std::string_view planned =
        place == Place::kCuda
            ? choose_kernel(problem, as, {.sms = device.sm_count, .cc = device.cc}).kernel
            : std::string_view();
    return highest(problem, place, as, planned, device);
  };
  if (precision != Precision::kAuto) return in(precision);
  if (place == Place::kCuda) {
    if (auto planned = in(Precision::kAuto)) return planned;
  }
  return in(Precision::kIeee);
}

Status sgemm(const Problem& problem, const Operands& operands, Stream stream, Precision precision) {
  auto call = checked_call(problem, operands);
  if (!call || call->empty) return call.status();
  const Place place = call->device->has_cuda ? Place::kCuda : Place::kHost;
  const auto kernel = select(problem, place, precision, *call->device);
  if (!kernel) return kernel.status();
  if (place == Place::kHost) return kernel.value()->launch(problem, operands, stream);
  const RelaxedCapture relaxed;  // the first call loads its kernels, also within a capture
  return kernel.value()->launch(problem, operands, stream);
}

namespace {

// The batch as one product, if it is one.
std::optional<Problem> as_one_product(const Problem& p, const Batch& batch) {
  Problem one = p;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && batch.stride_b == 0 &&
      p.m <= kMost / batch.count) {
    one.m = p.m * batch.count;
    if (batch.stride_a == p.m * p.lda && batch.stride_c == p.m * p.ldc) return one;
  }
  if (p.layout == Layout::kColMajor && p.op_b == Op::kNone && batch.stride_a == 0 &&
      p.n <= kMost / batch.count) {
    one = p;
    one.n = p.n * batch.count;
    if (batch.stride_b == p.n * p.ldb && batch.stride_c == p.n * p.ldc) return one;
  }
  return std::nullopt;
}

}  // namespace

Status sgemm(const Problem& problem, const Operands& operands, const Batch& batch, Stream stream,
             Precision precision) {
  if (Status status = validate(problem); !status) return status;
  if (Status status = check_stride("count", batch.count, batch.count); !status) return status;
  if (Status status = check_strides(problem, batch); !status) return status;
  if (batch.count == 0) return Status::ok();
  if (const auto one = as_one_product(problem, batch); one && validate(*one)) {
    return sgemm(*one, operands, stream, precision);
  }
  auto call = checked_call(problem, operands);
  if (!call || call->empty) return call.status();
  const Device& device = *call->device;
  if (device.has_cuda && gains_by_one_launch(problem, batch.count, precision,
                                             {.sms = device.sm_count, .cc = device.cc})) {
    const RelaxedCapture relaxed;
    return launch_batch(problem, operands, batch, stream);
  }
  const auto at = [](auto* base, std::int64_t stride, std::int64_t i) {
    return base == nullptr ? base : base + i * stride;
  };
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const Operands part{at(operands.a, batch.stride_a, i), at(operands.b, batch.stride_b, i),
                        at(operands.c, batch.stride_c, i)};
    if (Status status = sgemm(problem, part, stream, precision); !status) return status;
  }
  return Status::ok();
}

}  // namespace ladder
