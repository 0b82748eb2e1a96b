// SPDX-License-Identifier: Apache-2.0
// A C interface to the registry's kernels. rungs.py launches them on PyTorch's tensors, alternately
// with other Python kernels. It also exports the a-priori bounds, so that they are derived only
// once.
#include <ladder/registry.hpp>

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "host/query.hpp"
#include "verify/bound.hpp"

namespace {

using ladder::KernelInfo;

// Returns null if ok, else a message that is valid until this thread's next call.
const char* message_of(const ladder::Status& status) {
  static thread_local std::string text;
  if (status) return nullptr;
  text = status.message();
  return text.c_str();
}

}  // namespace

extern "C" {

// Returns the kernel `id` of the registry, or null if there is none for CUDA devices in binary32.
const void* ladder_rung_find(const char* id) {
  for (const KernelInfo& kernel : ladder::kernels()) {
    if (kernel.id == id && kernel.place == ladder::Place::kCuda &&
        kernel.in == ladder::Type::kF32 && kernel.out == ladder::Type::kF32)
      return &kernel;
  }
  return nullptr;
}

// Null-terminated; valid while the library is loaded.
const char* ladder_rung_file(const void* rung) {
  return static_cast<const KernelInfo*>(rung)->rung.data();
}
const char* ladder_rung_idea(const void* rung) {
  return static_cast<const KernelInfo*>(rung)->idea.data();
}
const char* ladder_rung_precision(const void* rung) {
  return ladder::to_string(static_cast<const KernelInfo*>(rung)->precision);
}

// Bound for C = A B: |C - AB| <= products |A||B| + floor (max|a_i| sum|b_j| + sum|a_i| max|b_j|),
// elementwise (docs/verification.md). Returns null, or the reason if there is no bound.
const char* ladder_rung_bound(const void* rung, std::int64_t m, std::int64_t n, std::int64_t k,
                              double* products, double* floor) {
  const auto bound = ladder::error_bound(ladder::make_problem(m, n, k),
                                         static_cast<const KernelInfo*>(rung)->precision);
  if (!bound) return message_of(bound.status());
  *products = bound.value().products;
  *floor = bound.value().floor;
  return nullptr;
}

// Returns null if the rung accepts C = A B on the current device, else the reason.
const char* ladder_rung_accepts(const void* rung, std::int64_t m, std::int64_t n, std::int64_t k) {
  int ordinal = 0;
  if (cudaGetDevice(&ordinal) != cudaSuccess) return "no CUDA device is current";
  const auto device = ladder::query_device(ordinal);
  if (!device) return message_of(device.status());
  const ladder::Problem problem = ladder::make_problem(m, n, k);
  if (const ladder::Status valid = ladder::validate(problem); !valid) return message_of(valid);
  return message_of(
      ladder::accepts(*static_cast<const KernelInfo*>(rung), problem, device.value()));
}

// Enqueues C = A B, row-major with minimal leading dimensions, for a problem that the rung accepts.
// Returns null, or the error.
const char* ladder_rung_launch(const void* rung, std::int64_t m, std::int64_t n, std::int64_t k,
                               const float* a, const float* b, float* c, void* stream) {
  return message_of(static_cast<const KernelInfo*>(rung)->launch(
      ladder::make_problem(m, n, k), {a, b, c}, static_cast<ladder::Stream>(stream)));
}

}  // extern "C"
