// SPDX-License-Identifier: Apache-2.0
// Declarations of the CUDA runtime functions that this library exports. All other symbols are
// hidden.
#pragma once
#include <cstddef>
#include <string>
#include <utility>

#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

#include "include/entry_points.hpp"
#include "include/vgpu/vgpu.h"

// Functions that nvcc's generated code calls. The toolkit declares them only in that generated
// code.
extern "C" {
void** __cudaRegisterFatBinary(void* wrapper);
void __cudaRegisterFatBinaryEnd(void** handle);
void __cudaUnregisterFatBinary(void** handle);
char __cudaInitModule(void** handle);
void __cudaRegisterFunction(void** handle, const char* host_function, char* device_function,
                            const char* device_name, int thread_limit, uint3* thread, uint3* block,
                            dim3* block_extent, dim3* grid_extent, int* warp_size);
void __cudaRegisterVar(void** handle, char* host_variable, char* device_address,
                       const char* device_name, int is_extern, size_t size, int constant,
                       int global);
void __cudaRegisterManagedVar(void** handle, void** host_pointer, char* device_address,
                              const char* device_name, int is_extern, size_t size, int constant,
                              int global);
cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host_function);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream);
cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void** arguments,
                               size_t shared, cudaStream_t stream);
}
#pragma GCC visibility pop

namespace vgpu::runtime {

// While it lives, the default stream of the calling thread is cudaStreamPerThread, not the legacy
// stream.
class PerThreadDefault {
 public:
  explicit PerThreadDefault(const void* code) { caller() = code; }
  ~PerThreadDefault() { caller() = nullptr; }
  PerThreadDefault(const PerThreadDefault&) = delete;
  PerThreadDefault& operator=(const PerThreadDefault&) = delete;
  static bool active() { return caller() != nullptr; }
  // The code address of the program's call; null where none is active.
  static const void*& caller() {
    thread_local const void* code = nullptr;
    return code;
  }
};

// The exception with which code below an entry point ends that entry point, which returns `code`;
// the message, if any, goes to stderr.
struct Failure {
  cudaError_t code = cudaErrorUnknown;
  std::string message;
};

[[noreturn]] inline void refuse(cudaError_t code = cudaErrorInvalidValue,
                                std::string message = "") {
  throw Failure{code, std::move(message)};
}

}  // namespace vgpu::runtime

// Exports `name`, which has `count` parameters, also as its variant of per-thread default streams
// (suffix _ptsz or _ptds). A macro, because the two differ in their names only.
#define VGPU_TWIN(name, suffix, count)                                                 \
  extern "C" __attribute__((visibility("default"))) VGPU_RESULT(name)                  \
      name##suffix(VGPU_JOIN(VGPU_PARAMETERS_, count)(name));                          \
  VGPU_RESULT(name) name##suffix(VGPU_JOIN(VGPU_PARAMETERS_, count)(name)) {           \
    static_assert(vgpu::Signature<decltype(name)>::kCount == (count));                 \
    const vgpu::runtime::PerThreadDefault default_stream(__builtin_return_address(0)); \
    return name(VGPU_JOIN(VGPU_ARGUMENTS_, count));                                    \
  }                                                                                    \
  static_assert(true)
