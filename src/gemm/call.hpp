// SPDX-License-Identifier: Apache-2.0
// Checks of every call of the library before it chooses a kernel, and the facts that every launcher
// plans by.
#pragma once
#include "device/scale.hpp"
#include "gemm/plan/facts.hpp"

#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>
#include <ladder/sgemm.hpp>

#include <cstdint>
#include <string_view>

namespace ladder {

// The device that the operands lie on, the host or the current CUDA device.
struct Call {
  const Device* device = nullptr;
  int ordinal = 0;     // of the CUDA device
  bool empty = false;  // no element of C is written, and `device` is null
};

// Errors (kInvalidArgument): a rule of validate(), types that are not f32, a null operand that is
// used, operands in different places or on another device than the current one; kUnsupportedDevice.
Result<Call> checked_call(const Problem& problem, const Operands& operands);

// The same for one matrix: that it is there, and on the current CUDA device. `name` is the
// argument.
Result<Call> checked_matrix(const char* name, const void* matrix,
                            std::size_t alignment = alignof(float));

// Errors (kInvalidArgument): a distance between the matrices of a batch that is negative, or with
// which the batch does not fit in 63 bits of bytes.
Status check_stride(const char* name, std::int64_t stride, std::int64_t count);
// The same for all three of a batch, and that its products do not overlap.
Status check_strides(const Problem& problem, const Batch& batch);

// A call in row-major form, with the facts by which it is planned.
struct RowMajorCall {
  Problem p;
  Operands o;
  DeviceFacts device;
  Alignment at;
};
// Errors: kLaunchFailed.
Status row_major_call(const Problem& problem, const Operands& operands, RowMajorCall& call);

// Calls launch(call) with a call in row-major form, or scales C if A and B are not read.
template <class Launch>
Status launch_row_major(const Problem& p, const Operands& o, Stream stream, Launch launch) {
  RowMajorCall call;
  if (Status s = row_major_call(p, o, call); !s) return s;
  return reads_ab(call.p) ? launch(call) : scale_c(call.p, call.o, stream);
}

// Computes a batch by one launch on CUDA cores, with the tiles of ladder_split_k: for compute
// capability 9.0 and problems that this kernel accepts. Takes no workspace. Errors: kLaunchFailed.
Status launch_batch(const Problem& problem, const Operands& operands, const Batch& batch,
                    Stream stream);

// The registry's row of a kernel of the library in the file `rung`, with FP32 operands.
constexpr KernelInfo library_kernel(std::string_view id, std::string_view rung,
                                    std::string_view idea, Precision precision, int min_cc,
                                    decltype(KernelInfo::accepts) accepts,
                                    decltype(KernelInfo::launch) launch,
                                    Role role = Role::kLibraryKernel) {
  return {.id = id,
          .rung = rung,
          .idea = idea,
          .role = role,
          .precision = precision,
          .min_cc = min_cc,
          .accepts = accepts,
          .launch = launch};
}

}  // namespace ladder
