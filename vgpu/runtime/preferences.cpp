// SPDX-License-Identifier: Apache-2.0
// Preferences that a program may set and read back, without effect on this device.
#include <cstdint>
#include <cstring>

#include "runtime/functions.hpp"
#include "runtime/runtime.hpp"

using namespace vgpu::runtime;

// Banks are four bytes wide on every device since Maxwell, whatever width is set.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call_for(config, [&](Runtime&) { return cudaSharedMemBankSizeFourByte; });
}

namespace {

bool known(cudaSharedMemConfig config) {
  return config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
}

}  // namespace

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  return call([&](Runtime&) { return known(config) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaFuncSetSharedMemConfig(const void* function, cudaSharedMemConfig config) {
  return call([&](Runtime& runtime) {
    known_function(runtime, function);
    return known(config) ? cudaSuccess : cudaErrorInvalidValue;
  });
}

// All pairs of devices are linked, as in one server.
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  return query([&](Runtime& runtime) {
    if (value == nullptr) return cudaErrorInvalidValue;
    if (!runtime.has_device(from) || !runtime.has_device(to) || from == to)
      return cudaErrorInvalidDevice;
    switch (attribute) {
      case cudaDevP2PAttrPerformanceRank: *value = 0; return cudaSuccess;
      case cudaDevP2PAttrAccessSupported:
      case cudaDevP2PAttrNativeAtomicSupported:
      case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return cudaSuccess;
      default: return cudaErrorInvalidValue;
    }
  });
}

// Graphs reserve no memory beyond that of their nodes.
cudaError_t cudaDeviceGraphMemTrim(int device) {
  return call([&](Runtime& runtime) {
    return runtime.has_device(device) ? cudaSuccess : cudaErrorInvalidDevice;
  });
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call([&](Runtime& runtime) {
    if (!runtime.has_device(device)) refuse(cudaErrorInvalidDevice);
    if (value == nullptr || attribute < cudaGraphMemAttrUsedMemCurrent ||
        attribute > cudaGraphMemAttrReservedMemHigh) {
      refuse();
    }
    constexpr std::uint64_t kNone = 0;
    std::memcpy(value, &kNone, sizeof kNone);
  });
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute,
                                           void* value) {
  return call([&](Runtime& runtime) {
    if (!runtime.has_device(device)) return cudaErrorInvalidDevice;
    const bool high =
        attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
    return value != nullptr && high ? cudaSuccess : cudaErrorInvalidValue;
  });
}
