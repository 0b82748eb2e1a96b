// SPDX-License-Identifier: Apache-2.0
// Kernels and their arguments, as the driver API gives them.
#pragma once
#include <vector>

#include "driver/api.hpp"
#include "runtime/launch.hpp"

namespace vgpu::driver {

// The kernel of a CUfunction or CUkernel, which are one kind of object. Throws Failure for anything
// else, including the address of a host stub.
runtime::Function& kernel_of(Runtime& runtime, const void* handle);

cudaLaunchConfig_t launch_of(const CUlaunchConfig& config);

// Arguments given as pointers, or packed in a buffer. Made outside the runtime's lock; throws Failure.
class Arguments {
 public:
  Arguments(const void* function, void** params, void** extra);
  void** pointers() { return given_ != nullptr || in_buffer_.empty() ? given_ : in_buffer_.data(); }

 private:
  void** given_;
  std::vector<void*> in_buffer_;
};

}  // namespace vgpu::driver
