// SPDX-License-Identifier: Apache-2.0
// The exception with which code below an entry point ends that entry point.
#pragma once
#include <string>
#include <utility>

#include "runtime/api.hpp"

namespace vgpu::runtime {

// The entry point returns `code`; the message, if any, goes to stderr.
struct Failure {
  cudaError_t code = cudaErrorUnknown;
  std::string message;
};

[[noreturn]] inline void refuse(cudaError_t code = cudaErrorInvalidValue,
                                std::string message = "") {
  throw Failure{code, std::move(message)};
}

}  // namespace vgpu::runtime
