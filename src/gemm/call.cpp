// SPDX-License-Identifier: Apache-2.0
#include "gemm/call.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/query.hpp"

namespace ladder {
namespace {

constexpr int kHostMemory = -1;

std::string place_of(int ordinal) {
  return ordinal == kHostMemory ? "on the host" : "on CUDA device " + std::to_string(ordinal);
}

// The CUDA device whose memory this is; kHostMemory for host memory or without a CUDA runtime.
// Errors (kLaunchFailed): a kernel has failed before, and since then every CUDA function fails.
Result<int> device_of(const char* name, const void* pointer, std::size_t alignment) {
  if (reinterpret_cast<std::uintptr_t>(pointer) % alignment != 0)
    return Status(Code::kInvalidArgument, std::string(name) + ": is not aligned to " +
                                              std::to_string(alignment) + " bytes");
  cudaPointerAttributes attributes{};
  const cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
  if (error >= cudaErrorIllegalAddress && error <= cudaErrorLaunchFailure)
    return Status(Code::kLaunchFailed, std::string(name) + ": " + cudaGetErrorString(error));
  if (error != cudaSuccess) {
    cudaGetLastError();  // clears the error, which is not the caller's
    return kHostMemory;
  }
  const bool on_device =
      attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? attributes.device : kHostMemory;
}

struct Argument {
  const char* name;
  const float* pointer;
};

// The operands that the problem reads or writes.
std::vector<Argument> used_operands(const Problem& p, const Operands& o) {
  std::vector<Argument> used;
  if (p.m == 0 || p.n == 0) return used;
  if (reads_ab(p)) used = {{"a", o.a}, {"b", o.b}};
  used.push_back({"c", o.c});
  return used;
}

// A process's devices do not change: each thread queries each device once and keeps the result.
template <class Value>
Result<const Value*> queried(int ordinal, Result<Value> (*query)(int)) {
  static thread_local std::vector<std::unique_ptr<const Value>> known;
  const auto at = static_cast<std::size_t>(ordinal);
  if (known.size() <= at) known.resize(at + 1);
  if (!known[at]) {
    auto value = query(ordinal);
    if (!value) return value.status();
    known[at] = std::make_unique<const Value>(std::move(value).value());
  }
  return known[at].get();
}

// What the planner needs.
Result<DeviceFacts> facts_of(int ordinal) {
  DeviceFacts facts;
  cudaError_t error = cudaDeviceGetAttribute(&facts.sms, cudaDevAttrMultiProcessorCount, ordinal);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&facts.l2_bytes, cudaDevAttrL2CacheSize, ordinal);
  if (error == cudaSuccess) return facts;
  return Status(Code::kLaunchFailed,
                std::string("attributes of the device: ") + cudaGetErrorString(error));
}

Status require_current(const char* name, int ordinal) {
  int current = 0;
  if (cudaGetDevice(&current) == cudaSuccess && current == ordinal) return Status::ok();
  return {Code::kInvalidArgument, std::string(name) + ": lies " + place_of(ordinal) +
                                      ", but device " + std::to_string(current) +
                                      " is the current one"};
}

Result<Call> on_device(int ordinal) {
  static const Device host = host_device();
  if (ordinal == kHostMemory) return Call{.device = &host};
  const auto device = queried(ordinal, query_device);
  if (!device) return device.status();
  return Call{.device = device.value(), .ordinal = ordinal};
}

}  // namespace

Result<Call> checked_call(const Problem& problem, const Operands& operands) {
  if (Status status = validate(problem); !status) return status;
  if (problem.in != Type::kF32 || problem.out != Type::kF32)
    return Status(Code::kInvalidArgument, "in, out: sgemm takes f32 operands");
  const std::vector<Argument> used = used_operands(problem, operands);
  if (used.empty()) return Call{.empty = true};
  for (const Argument& argument : used) {
    if (argument.pointer == nullptr) {
      return Status(Code::kInvalidArgument,
                    std::string(argument.name) + ": null, but the problem uses it");
    }
  }
  const auto place = device_of("c", operands.c, alignof(float));
  if (!place) return place.status();
  const int ordinal = place.value();
  for (const Argument& argument : used) {
    const auto other = device_of(argument.name, argument.pointer, alignof(float));
    if (!other) return other.status();
    if (other.value() != ordinal) {
      return Status(Code::kInvalidArgument, std::string(argument.name) + ": lies " +
                                                place_of(other.value()) + ", but c " +
                                                place_of(ordinal));
    }
  }
  if (ordinal != kHostMemory) {
    if (Status status = require_current("c", ordinal); !status) return status;
  }
  return on_device(ordinal);
}

Status check_stride(const char* name, std::int64_t stride, std::int64_t count) {
  if (stride < 0)
    return {Code::kInvalidArgument,
            std::string(name) + ": at least 0, not " + std::to_string(stride)};
  // Addresses are counted in bytes, in 63 bits.
  if (count > 0 && stride > std::numeric_limits<std::int64_t>::max() / 8 / count)
    return {Code::kInvalidArgument,
            std::string(name) + ": its batch does not fit in 63 bits of bytes"};
  return Status::ok();
}

Status check_strides(const Problem& problem, const Batch& batch) {
  if (Status s = check_stride("stride_a", batch.stride_a, batch.count); !s) return s;
  if (Status s = check_stride("stride_b", batch.stride_b, batch.count); !s) return s;
  if (Status s = check_stride("stride_c", batch.stride_c, batch.count); !s) return s;
  const std::int64_t least = extent_c(problem).elements();
  if (batch.count <= 1 || batch.stride_c >= least) return Status::ok();
  return {Code::kInvalidArgument, "stride_c: at least " + std::to_string(least) +
                                      ", so that products do not overlap, not " +
                                      std::to_string(batch.stride_c)};
}

Status row_major_call(const Problem& problem, const Operands& operands, RowMajorCall& call) {
  const auto [p, swapped] = as_row_major(problem);
  call.p = p;
  call.o = swapped ? Operands{operands.b, operands.a, operands.c} : operands;
  const auto alignment = [](const float* g) {
    constexpr std::uintptr_t kMost = 256;
    const std::uintptr_t bits = reinterpret_cast<std::uintptr_t>(g) | kMost;
    return static_cast<int>(bits & (~bits + 1));  // the lowest one
  };
  call.at = {alignment(call.o.a), alignment(call.o.b)};
  int device = 0;
  if (const cudaError_t error = cudaGetDevice(&device); error != cudaSuccess)
    return {Code::kLaunchFailed, std::string("current device: ") + cudaGetErrorString(error)};
  const auto facts = queried(device, facts_of);
  if (facts) call.device = *facts.value();
  return facts.status();
}

Result<Call> checked_matrix(const char* name, const void* matrix, std::size_t alignment) {
  if (matrix == nullptr) return Status(Code::kInvalidArgument, std::string(name) + ": null");
  const auto place = device_of(name, matrix, alignment);
  if (!place) return place.status();
  const int ordinal = place.value();
  if (ordinal == kHostMemory) {
    return Status(Code::kInvalidArgument,
                  std::string(name) + ": lies " + place_of(ordinal) + ", not on a CUDA device");
  }
  if (Status status = require_current(name, ordinal); !status) return status;
  return on_device(ordinal);
}

}  // namespace ladder
