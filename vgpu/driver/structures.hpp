// SPDX-License-Identifier: Apache-2.0
// Kernels, their arguments, arrays and copies: the driver API's structures as the runtime API's.
#pragma once
#include <vector>

#include "driver/api.hpp"
#include "runtime/launch.hpp"

namespace vgpu::driver {

// The kernel of a CUfunction or CUkernel, which are one kind of object. Throws Failure for anything
// else, including the address of a host stub.
runtime::Function& kernel_of(Runtime& runtime, const void* handle);

cudaLaunchConfig_t launch_of(const CUlaunchConfig& config);

// Arguments given as pointers, or packed in a buffer. Made outside the runtime's lock. Throws
// Failure.
class Arguments {
 public:
  Arguments(const void* function, void** params, void** extra);
  void** pointers() { return given_ != nullptr || in_buffer_.empty() ? given_ : in_buffer_.data(); }

 private:
  void** given_;
  std::vector<void*> in_buffer_;
};

inline cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// Bytes of an element. Throws Failure if there is no such array.
std::size_t element_bytes(CUarray array);

// Throws Failure for a structure that is not valid, and for arrays that do not exist.
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D& copy);
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY2D& copy);
CUDA_MEMCPY3D copy_of(const cudaMemcpy3DParms& what);

}  // namespace vgpu::driver
