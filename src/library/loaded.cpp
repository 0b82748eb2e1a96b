// SPDX-License-Identifier: Apache-2.0
// The list of the library's kernels. nvcc's start-up code of each object registers its kernels with
// the CUDA runtime; the linker leads these calls here first (--wrap), so that the list is complete.
#include <cuda_runtime_api.h>

#include <mutex>
#include <set>
#include <string_view>
#include <vector>

#include "library/handle.hpp"
#include "problem/accept.hpp"

namespace ladder::api {
namespace {

enum class Of : unsigned char { kEveryGpu, kAmpereAndLater, kHopper };

struct Registered {
  const void* kernel;
  Of of;
};

std::vector<Registered>& registered() {
  static std::vector<Registered> all;
  return all;
}

// Kernels that no function of gemm.h launches: those of 8-bit and 16-bit operands.
bool is_reached(std::string_view name) {
  const bool of_tensor_tiles = name.find("tensor_tiles") != std::string_view::npos;
  const bool of_few_bits = name.find("__half") != std::string_view::npos ||
                           name.find("__nv_bfloat16") != std::string_view::npos ||
                           name.find("Scaled") != std::string_view::npos;
  return !of_tensor_tiles || !of_few_bits;
}

void record(std::string_view name, const void* kernel) {
  // the namespaces of gemm/simt/strided.cu and gemm/split/split_mma.cu; all others are for sm_90a
  const Of of = name.find("7strided") != std::string_view::npos     ? Of::kEveryGpu
                : name.find("9split_mma") != std::string_view::npos ? Of::kAmpereAndLater
                                                                    : Of::kHopper;
  if (is_reached(name)) registered().push_back({kernel, of});
}

// Hopper's kernels take what those for later GPUs compute there.
bool calls(const Device& device, Of of) {
  if (of == Of::kEveryGpu) return true;
  return of == Of::kHopper ? device.cc == kHopper : device.cc >= kAmpere && device.cc != kHopper;
}

}  // namespace

Outcome load_kernels(const Device& device) {
  static std::mutex mutex;
  static std::set<int> loaded;  // devices
  const std::lock_guard lock(mutex);
  if (loaded.contains(device.ordinal)) return {};
  for (const auto& [kernel, of] : registered()) {
    if (!calls(device, of)) continue;
    cudaFuncAttributes attributes{};  // asking for them loads the kernel
    const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel);
    if (error != cudaSuccess) return cuda_outcome("loading a kernel", error);
  }
  loaded.insert(device.ordinal);
  return {};
}

}  // namespace ladder::api

extern "C" {
// NOLINTBEGIN(bugprone-reserved-identifier): nvcc's name, crt/host_runtime.h
void __real___cudaRegisterFunction(void** binary, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* tid,
                                   uint3* bid, dim3* block, dim3* grid, int* warp_size);
void __wrap___cudaRegisterFunction(void** binary, const char* host_function, char* device_function,
                                   const char* device_name, int thread_limit, uint3* tid,
                                   uint3* bid, dim3* block, dim3* grid, int* warp_size) {
  ladder::api::record(device_name, host_function);
  __real___cudaRegisterFunction(binary, host_function, device_function, device_name, thread_limit,
                                tid, bid, block, grid, warp_size);
}
// NOLINTEND(bugprone-reserved-identifier)
}
