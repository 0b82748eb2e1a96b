// SPDX-License-Identifier: Apache-2.0
#include "host/query.hpp"

#include <cuda_runtime_api.h>

#include <dlfcn.h>

#include <string>

#include "host/limits.hpp"
#include "problem/rates.hpp"

namespace ladder {
namespace {

double attribute(cudaDeviceAttr which, int ordinal) {
  int value = 0;
  return cudaDeviceGetAttribute(&value, which, ordinal) == cudaSuccess ? value : 0.0;
}

}  // namespace

int cuda_device_count() {
  int count = 0;
  if (cudaGetDeviceCount(&count) == cudaSuccess) return count;
  cudaGetLastError();  // clears the runtime's error: the machine has no driver or no device
  return 0;
}

Result<Device> query_device(int ordinal) {
  const int count = cuda_device_count();
  if (ordinal < 0 || ordinal >= count) {
    return Status(Code::kInvalidArgument, "cuda:" + std::to_string(ordinal) + ": the machine has " +
                                              std::to_string(count) +
                                              " CUDA device(s), numbered from 0");
  }
  cudaDeviceProp prop{};
  if (const cudaError_t error = cudaGetDeviceProperties(&prop, ordinal); error != cudaSuccess) {
    return Status(Code::kUnsupportedDevice,
                  std::string("cudaGetDeviceProperties: ") + cudaGetErrorString(error));
  }
  Device device;
  device.name = prop.name;
  device.has_cuda = true;
  device.is_virtual = dlsym(RTLD_DEFAULT, "vgpuDeviceName") != nullptr;
  device.ordinal = ordinal;
  device.cc = prop.major * 10 + prop.minor;
  device.sm_count = prop.multiProcessorCount;
  device.memory_bytes = prop.totalGlobalMem;
  constexpr double kHzPerKhz = 1e3;
  constexpr double kBitsPerByte = 8.0;
  constexpr double kTransfersPerClock = 2.0;  // double data rate
  device.sm_clock_hz = attribute(cudaDevAttrClockRate, ordinal) * kHzPerKhz;
  device.fp32_flops = 2.0 * fp32_lanes_per_sm(device.cc) * device.sm_count * device.sm_clock_hz;
  device.memory_bandwidth = kTransfersPerClock * attribute(cudaDevAttrMemoryClockRate, ordinal) *
                            kHzPerKhz * attribute(cudaDevAttrGlobalMemoryBusWidth, ordinal) /
                            kBitsPerByte;
  return device;
}

Device host_device() {
  Device device;
  device.name = host::processor_name().value_or("CPU");
  device.memory_bytes = host::available_memory().value_or(0);
  return device;
}

}  // namespace ladder
