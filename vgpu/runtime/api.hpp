// SPDX-License-Identifier: Apache-2.0
// Declarations of the CUDA runtime functions that this library exports. All other symbols are
// hidden.
#pragma once
#pragma GCC visibility push(default)
#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>

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

// Exports `name` also as its per-thread-default-stream variant (suffix _ptsz or _ptds). Both are
// the same function, because no work overlaps. This is a macro because the alias attribute requires
// the name as text. It must be used in the file that defines `name`.
#define VGPU_TWIN(name, suffix) \
  extern "C" __attribute__((visibility("default"), alias(#name))) decltype(name) name##suffix
