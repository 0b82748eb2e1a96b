// SPDX-License-Identifier: Apache-2.0
// Devices. CUDA Driver API, "Device Management".
#include <algorithm>
#include <optional>

#include "driver/api.hpp"
#include "runtime/device_properties.hpp"

using namespace vgpu::driver;

namespace {

// Attributes that only the driver API has. The others have the same numbers in both APIs.
std::optional<int> driver_attribute(const vgpu::Device& device, CUdevice_attribute attribute) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR: return 1;
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return device.major >= 9;
    case CU_DEVICE_ATTRIBUTE_CAN_TEX2D_GATHER:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS_V1:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR_V1:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK:
    case CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_MAXIMUM_LENGTH:
    case CU_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HOST_ALLOC_DMA_BUF_SUPPORTED: return 0;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS: return 1;
    default: return std::nullopt;
  }
}

}  // namespace

VGPU_WITH_DRIVER(cuDeviceGetCount, cudaGetDeviceCount, 1);

VGPU_WITHOUT_CONTEXT(cuDeviceGet, CUdevice* device, int ordinal) {
  if (device == nullptr) refuse();
  runtime.known_device(ordinal);
  *device = ordinal;
}

VGPU_WITHOUT_CONTEXT(cuDeviceGetName, char* name, int length, CUdevice device) {
  const vgpu::Device& asked = runtime.known_device(device);
  if (name == nullptr || length < 1) refuse();
  const auto copied = asked.name.copy(name, static_cast<std::size_t>(length) - 1);
  name[copied] = '\0';
}

VGPU_WITHOUT_CONTEXT(cuDeviceGetUuid, CUuuid* uuid, CUdevice device) {
  store(uuid, vgpu::runtime::properties_of(runtime.known_device(device)).uuid);
}
VGPU_BY(cuDeviceGetUuid_v2, 2, cuDeviceGetUuid(a0, a1));

VGPU_WITHOUT_CONTEXT(cuDeviceTotalMem_v2, size_t* bytes, CUdevice device) {
  store(bytes, runtime.known_device(device).memory_bytes);
}

VGPU_WITHOUT_CONTEXT(cuDeviceGetAttribute, int* value, CUdevice_attribute attribute,
                     CUdevice device) {
  const vgpu::Device& asked = runtime.known_device(device);
  auto known = driver_attribute(asked, attribute);
  if (!known) {
    known = vgpu::runtime::attribute_of(asked,
                                        static_cast<cudaDeviceAttr>(static_cast<int>(attribute)));
  }
  if (!known) refuse();
  store(value, *known);
}

VGPU_WITHOUT_CONTEXT(cuDeviceComputeCapability, int* major, int* minor, CUdevice device) {
  const vgpu::Device& asked = runtime.known_device(device);
  if (major == nullptr || minor == nullptr) refuse();
  *major = asked.major;
  *minor = asked.minor;
}

VGPU_WITHOUT_CONTEXT(cuDeviceGetProperties, CUdevprop* properties, CUdevice device) {
  const vgpu::Device& asked = runtime.known_device(device);
  if (properties == nullptr) refuse();
  const cudaDeviceProp all = vgpu::runtime::properties_of(asked);
  properties->maxThreadsPerBlock = all.maxThreadsPerBlock;
  std::ranges::copy(all.maxThreadsDim, properties->maxThreadsDim);
  std::ranges::copy(all.maxGridSize, properties->maxGridSize);
  properties->sharedMemPerBlock = static_cast<int>(all.sharedMemPerBlock);
  properties->totalConstantMemory = static_cast<int>(all.totalConstMem);
  properties->SIMDWidth = all.warpSize;
  properties->memPitch = static_cast<int>(all.memPitch);
  properties->regsPerBlock = all.regsPerBlock;
  properties->clockRate = asked.clock_khz;
  properties->textureAlign = static_cast<int>(all.textureAlignment);
}

VGPU_WITH_DRIVER(cuDeviceGetPCIBusId, cudaDeviceGetPCIBusId, 3);
VGPU_WITH_DRIVER(cuDeviceGetByPCIBusId, cudaDeviceGetByPCIBusId, 2);
VGPU_WITH_DRIVER(cuDeviceCanAccessPeer, cudaDeviceCanAccessPeer, 3);
VGPU_WITH_DRIVER(cuDeviceGetP2PAttribute, cudaDeviceGetP2PAttribute, 4);

VGPU_WITHOUT_CONTEXT(cuDeviceGetExecAffinitySupport, int* supported, CUexecAffinityType type,
                     CUdevice device) {
  runtime.known_device(device);
  if (type < 0 || type >= CU_EXEC_AFFINITY_TYPE_MAX) refuse();
  store(supported, 0);
}

VGPU_WITH_DRIVER(cuDeviceGetDefaultMemPool, cudaDeviceGetDefaultMemPool, 2);
VGPU_WITH_DRIVER(cuDeviceGetMemPool, cudaDeviceGetMemPool, 2);
VGPU_WITH_DRIVER(cuDeviceSetMemPool, cudaDeviceSetMemPool, 2);
VGPU_WITH_DRIVER(cuDeviceGraphMemTrim, cudaDeviceGraphMemTrim, 1);
VGPU_WITH_DRIVER(cuDeviceGetGraphMemAttribute, cudaDeviceGetGraphMemAttribute, 3);
VGPU_WITH_DRIVER(cuDeviceSetGraphMemAttribute, cudaDeviceSetGraphMemAttribute, 3);

// Without effect: every launch is counted, whether a profiler is on or off.
VGPU_WITH_CONTEXT(cuProfilerStart, cudaProfilerStart, 0);
VGPU_WITH_CONTEXT(cuProfilerStop, cudaProfilerStop, 0);
