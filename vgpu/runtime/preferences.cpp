// SPDX-License-Identifier: Apache-2.0
// Preferences that a program may set and read back, without effect on this device.
#include <cstdint>
#include <cstring>

#include "runtime/launch.hpp"
#include "runtime/runtime.hpp"

using namespace vgpu::runtime;

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Banks are four bytes wide on every device since Maxwell, whatever width is set.
cudaError_t cudaDeviceGetSharedMemConfig(cudaSharedMemConfig* config) {
  return call_for(config, [&](Runtime&) { return cudaSharedMemBankSizeFourByte; });
}

namespace {

bool known(cudaSharedMemConfig config) {
  return config >= cudaSharedMemBankSizeDefault && config <= cudaSharedMemBankSizeEightByte;
}

}  // namespace

VGPU_CALL(cudaDeviceSetSharedMemConfig, cudaSharedMemConfig config) {
  if (!known(config)) refuse();
}

VGPU_CALL(cudaFuncSetSharedMemConfig, const void* function, cudaSharedMemConfig config) {
  known_function(runtime, function);
  if (!known(config)) refuse();
}

// All pairs of devices are linked, as in one server.
VGPU_QUERY(cudaDeviceGetP2PAttribute, int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (value == nullptr) refuse();
  if (!runtime.has_device(from) || !runtime.has_device(to) || from == to)
    refuse(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank: *value = 0; return;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
    case cudaDevP2PAttrCudaArrayAccessSupported: *value = 1; return;
    default: refuse();
  }
}

// Graphs reserve no memory beyond that of their nodes.
VGPU_CALL(cudaDeviceGraphMemTrim, int device) {
  if (!runtime.has_device(device)) refuse(cudaErrorInvalidDevice);
}

VGPU_CALL(cudaDeviceGetGraphMemAttribute, int device, cudaGraphMemAttributeType attribute,
          void* value) {
  if (!runtime.has_device(device)) refuse(cudaErrorInvalidDevice);
  if (value == nullptr || attribute < cudaGraphMemAttrUsedMemCurrent ||
      attribute > cudaGraphMemAttrReservedMemHigh) {
    refuse();
  }
  constexpr std::uint64_t kNone = 0;
  std::memcpy(value, &kNone, sizeof kNone);
}

VGPU_CALL(cudaDeviceSetGraphMemAttribute, int device, cudaGraphMemAttributeType attribute,
          void* value) {
  if (!runtime.has_device(device)) refuse(cudaErrorInvalidDevice);
  const bool high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (value == nullptr || !high) refuse();
}
