// SPDX-License-Identifier: Apache-2.0
// Device management. Devices are always present. Device queries succeed even after a fault.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "runtime/device_properties.hpp"
#include "runtime/driver_function.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/launch.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

template <class T, class Value>
void set(T& field, Value value) {
  field = static_cast<T>(value);
}

}  // namespace

cudaDeviceProp properties_of(const Device& device) {
  cudaDeviceProp p{};
  device.name.copy(p.name, sizeof p.name - 1);
  const auto uuid = vgpu::uuid(device.place);
  std::ranges::copy(uuid, p.uuid.bytes);
  p.totalGlobalMem = device.memory_bytes;
  p.unifiedFunctionPointers = 1;
#define VGPU_PROPERTY(attribute, field, value) set(p.field, value);
#define VGPU_ATTRIBUTE(attribute, value)
#include "runtime/device_properties.inc"
#undef VGPU_PROPERTY
#undef VGPU_ATTRIBUTE
  return p;
}

std::optional<int> attribute_of(const Device& device, cudaDeviceAttr attribute) {
  switch (attribute) {
#define VGPU_PROPERTY(name, field, value) VGPU_ATTRIBUTE(name, value)
#define VGPU_ATTRIBUTE(name, value) \
  case cudaDevAttr##name:           \
    return static_cast<int>(value);
#include "runtime/device_properties.inc"
#undef VGPU_PROPERTY
#undef VGPU_ATTRIBUTE
    default: return std::nullopt;
  }
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

namespace {

bool valid_limit(const Runtime& runtime, cudaLimit limit) {
  return limit >= 0 && static_cast<std::size_t>(limit) < runtime.limits.size();
}

// The pairs (device, peer) with peer access enabled. The virtual GPU allows peer access even if a
// program did not enable it, and does not report that.
std::set<std::pair<int, int>>& peers() {
  static std::set<std::pair<int, int>> enabled;
  return enabled;
}
constexpr int kVersion = CUDART_VERSION;

cudaError_t find_driver_entry(const char* symbol, void** function, int version,
                              unsigned long long flags, cudaDriverEntryPointQueryResult* status) {
  return query([&](Runtime&) {
    if (version > kVersion) refuse();
    const auto found = vgpu::runtime::find_driver_function(symbol, function, version, flags);
    if (!found) refuse();
    if (status != nullptr) *status = static_cast<cudaDriverEntryPointQueryResult>(*found);
  });
}

}  // namespace

cudaError_t cudaGetDeviceCount(int* count) {
  if (count != nullptr) *count = 0;  // also where the call fails, because there is no device
  return query_for(
      count, [&](Runtime& runtime) { return static_cast<int>(runtime.settings.devices.size()); });
}

cudaError_t cudaGetDevice(int* device) {
  return query_for(device, [&](Runtime&) { return Runtime::ordinal(); });
}

VGPU_QUERY(cudaSetDevice, int device) {
  runtime.known_device(device);
  Context& primary = runtime.contexts.primary(device);
  primary.used = true;
  primary.destroyed = false;
  set_context(&primary);
}

VGPU_QUERY(cudaInitDevice, int device, unsigned, unsigned) { runtime.known_device(device); }

VGPU_QUERY(cudaSetValidDevices, int* devices, int count) {
  if (devices == nullptr || count < 0) refuse();
  const bool all =
      std::all_of(devices, devices + count, [&](int d) { return runtime.has_device(d); });
  if (!all) refuse(cudaErrorInvalidDevice);
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* wish) {
  return wish == nullptr ? finish(cudaErrorInvalidValue) : cudaGetDevice(device);
}

VGPU_QUERY(cudaSetDeviceFlags, unsigned flags) {
  if ((flags & ~static_cast<unsigned>(cudaDeviceMask)) != 0) refuse();
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  return query_for(flags, [&](Runtime&) { return cudaDeviceMapHost; });
}

VGPU_QUERY(cudaGetDeviceProperties, cudaDeviceProp* properties, int device) {
  const vgpu::Device& asked = runtime.known_device(device);
  if (properties == nullptr) refuse();
  *properties = properties_of(asked);
}

VGPU_QUERY(cudaDeviceGetAttribute, int* value, cudaDeviceAttr attribute, int device) {
  const auto known = attribute_of(runtime.known_device(device), attribute);
  if (value == nullptr || !known) refuse();
  *value = *known;
}

VGPU_QUERY(cudaDeviceGetPCIBusId, char* text, int length, int device) {
  const std::string id = vgpu::pci_bus_id(runtime.known_device(device).place);
  if (text == nullptr || length <= static_cast<int>(id.size())) refuse();
  std::strcpy(text, id.c_str());
}

VGPU_QUERY(cudaDeviceGetByPCIBusId, int* device, const char* text) {
  if (device == nullptr || text == nullptr) refuse();
  const auto& devices = runtime.settings.devices;
  const auto found = std::ranges::find_if(devices, [&](const vgpu::Device& visible) {
    return vgpu::pci_bus_id(visible.place) == text;
  });
  if (found == devices.end()) refuse();
  *device = static_cast<int>(found - devices.begin());
}

VGPU_QUERY(cudaDeviceCanAccessPeer, int* can, int device, int peer) {
  if (can == nullptr) refuse();
  if (!runtime.has_device(device) || !runtime.has_device(peer)) refuse(cudaErrorInvalidDevice);
  *can = device != peer;
}

VGPU_CALL(cudaDeviceEnablePeerAccess, int peer, unsigned flags) {
  if (flags != 0) refuse();
  if (!runtime.has_device(peer) || peer == Runtime::ordinal()) refuse(cudaErrorInvalidDevice);
  if (!peers().emplace(Runtime::ordinal(), peer).second) refuse(cudaErrorPeerAccessAlreadyEnabled);
}

VGPU_CALL(cudaDeviceDisablePeerAccess, int peer) {
  runtime.known_device(peer);
  if (peers().erase({Runtime::ordinal(), peer}) == 0) refuse(cudaErrorPeerAccessNotEnabled);
}

VGPU_CALL(cudaDeviceSynchronize) {
  refuse_in_capture(runtime);
  await(runtime, tasks_of_device(runtime, Runtime::ordinal()));
}

// The reset does not clear a fault. On a real device, too, only a new process helps.
VGPU_QUERY(cudaDeviceReset) {
  try {
    await(runtime, tasks_of_device(runtime, Runtime::ordinal()));
  } catch (const Failure&) {  // the sticky error, which later calls return
  }
}

VGPU_CALL(cudaDeviceGetLimit, size_t* value, cudaLimit limit) {
  if (value == nullptr || !valid_limit(runtime, limit)) refuse();
  if (limit == cudaLimitDevRuntimeSyncDepth) refuse(cudaErrorUnsupportedLimit);
  *value = runtime.limits[limit];
}

// Rounds a memory limit as an H200 (driver 580) does: up to a minimum, then up to a whole unit; the
// share of L2 for persisting accesses as an H100 does, up to whole ways.
static size_t rounded_limit(const vgpu::Device& device, cudaLimit limit, size_t value) {
  if (limit == cudaLimitPersistingL2CacheSize) {
    const size_t way = device.l2_bytes / 16;
    return (value + way - 1) / way * way;
  }
  constexpr size_t kKiB = 1024;
  const size_t least = limit == cudaLimitMallocHeapSize ? 4096 * kKiB : 512 * kKiB;
  const size_t unit = limit == cudaLimitMallocHeapSize ? 64 * kKiB : 256;
  return std::max(least, (value + unit - 1) / unit * unit);
}

VGPU_CALL(cudaDeviceSetLimit, cudaLimit limit, size_t value) {
  if (!valid_limit(runtime, limit)) refuse();
  if (limit == cudaLimitDevRuntimeSyncDepth) refuse(cudaErrorUnsupportedLimit);
  const bool of_memory = limit == cudaLimitPrintfFifoSize || limit == cudaLimitMallocHeapSize;
  const vgpu::Device& of_device = runtime.device();
  if (of_memory && value > of_device.memory_bytes) refuse(cudaErrorMemoryAllocation);
  const bool of_l2 = limit == cudaLimitPersistingL2CacheSize && of_device.persisting_l2_bytes > 0;
  if (of_l2 && value > of_device.persisting_l2_bytes) refuse();
  if (of_memory || of_l2) value = rounded_limit(of_device, limit, value);
  if (of_memory) await(runtime, tasks_of_device(runtime, Runtime::ordinal()));
  // The limit is fixed once a kernel has used the resource.
  if (limit == cudaLimitPrintfFifoSize && runtime.printed) refuse();
  if (limit == cudaLimitMallocHeapSize && !runtime.heap.set_bytes(value)) refuse();
  runtime.limits[limit] = value;
}

VGPU_CALL(cudaDeviceSetCacheConfig, cudaFuncCache config) {
  if (config < cudaFuncCachePreferNone || config > cudaFuncCachePreferEqual) refuse();
}

cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  return call_for(config, [&](Runtime&) { return cudaFuncCachePreferNone; });
}

VGPU_CALL(cudaCtxResetPersistingL2Cache) {}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return finish(cudaErrorInvalidValue);
  *version = kVersion;
  return cudaSuccess;
}
VGPU_BY(cudaDriverGetVersion, 1, cudaRuntimeGetVersion(a0));

// Without effect: every launch is counted, whether a profiler is on or off.
VGPU_CALL(cudaProfilerStart) {}
VGPU_BY(cudaProfilerStop, 0, cudaProfilerStart());

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                            cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, kVersion, flags, status);
}
VGPU_TWIN(cudaGetDriverEntryPoint, _ptsz, 4);

cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version,
                                             unsigned long long flags,
                                             cudaDriverEntryPointQueryResult* status) {
  return find_driver_entry(symbol, function, static_cast<int>(version), flags, status);
}
VGPU_TWIN(cudaGetDriverEntryPointByVersion, _ptsz, 5);

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Preferences that a program may set and read back, without effect on this device.

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
VGPU_CALL(cudaDeviceGraphMemTrim, int device) { runtime.known_device(device); }

VGPU_CALL(cudaDeviceGetGraphMemAttribute, int device, cudaGraphMemAttributeType attribute,
          void* value) {
  runtime.known_device(device);
  if (value == nullptr || attribute < cudaGraphMemAttrUsedMemCurrent ||
      attribute > cudaGraphMemAttrReservedMemHigh) {
    refuse();
  }
  constexpr std::uint64_t kNone = 0;
  std::memcpy(value, &kNone, sizeof kNone);
}

VGPU_CALL(cudaDeviceSetGraphMemAttribute, int device, cudaGraphMemAttributeType attribute,
          void* value) {
  runtime.known_device(device);
  const bool high =
      attribute == cudaGraphMemAttrUsedMemHigh || attribute == cudaGraphMemAttrReservedMemHigh;
  if (value == nullptr || !high) refuse();
}
