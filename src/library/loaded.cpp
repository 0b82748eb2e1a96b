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

void record(std::string_view name, const void* kernel) {
  // the namespaces of gemm/simt/strided.cu and gemm/split/split_mma.cu and the file
  // device/quantize.cu; all others are for sm_90a
  const auto has = [&](std::string_view part) { return name.find(part) != std::string_view::npos; };
  const Of of = has("7strided") || has("quantize") ? Of::kEveryGpu
                : has("9split_mma")                ? Of::kAmpereAndLater
                                                   : Of::kHopper;
  registered().push_back({kernel, of});
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
