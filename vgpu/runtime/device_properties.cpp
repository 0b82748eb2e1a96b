// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_properties.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace vgpu::runtime {
namespace {

template <class T, std::size_t n>
void assign(T (&field)[n], const std::array<T, n>& values) {
  std::copy(values.begin(), values.end(), field);
}

// The values that every data-centre GPU from Ampere on reports.
void set_texture_limits(cudaDeviceProp& p) {
  p.maxTexture1D = 131072;
  p.maxTexture1DMipmap = 32768;
  assign(p.maxTexture2D, {131072, 65536});
  assign(p.maxTexture2DMipmap, {32768, 32768});
  assign(p.maxTexture2DLinear, {131072, 65000, 2097120});
  assign(p.maxTexture2DGather, {32768, 32768});
  assign(p.maxTexture3D, {16384, 16384, 16384});
  assign(p.maxTexture3DAlt, {8192, 8192, 32768});
  p.maxTextureCubemap = 32768;
  assign(p.maxTexture1DLayered, {32768, 2048});
  assign(p.maxTexture2DLayered, {32768, 32768, 2048});
  assign(p.maxTextureCubemapLayered, {32768, 2046});
  p.maxSurface1D = 32768;
  assign(p.maxSurface2D, {131072, 65536});
  assign(p.maxSurface3D, {16384, 16384, 16384});
  assign(p.maxSurface1DLayered, {32768, 2048});
  assign(p.maxSurface2DLayered, {32768, 32768, 2048});
  p.maxSurfaceCubemap = 32768;
  assign(p.maxSurfaceCubemapLayered, {32768, 2046});
  p.textureAlignment = 512;
  p.texturePitchAlignment = 32;
  p.surfaceAlignment = 512;
}

// The capabilities of the device and its driver. They are the same on all data-centre GPUs unless
// `device` says otherwise.
void set_abilities(cudaDeviceProp& p, const Device& device) {
  p.canMapHostMemory = 1;
  p.concurrentKernels = 1;
  p.ECCEnabled = device.data_centre;
  p.asyncEngineCount = 3;
  p.unifiedAddressing = 1;
  p.streamPrioritiesSupported = 1;
  p.globalL1CacheSupported = 1;
  p.localL1CacheSupported = 1;
  p.managedMemory = 1;
  p.concurrentManagedAccess = 1;
  p.computePreemptionSupported = 1;
  p.canUseHostPointerForRegisteredMem = 1;
  p.cooperativeLaunch = 1;
  p.hostRegisterSupported = 1;
  p.hostRegisterReadOnlySupported = 1;
  p.sparseCudaArraySupported = 1;
  p.timelineSemaphoreInteropSupported = 1;
  p.memoryPoolsSupported = 1;
  p.memoryPoolSupportedHandleTypes = 9;
  p.gpuDirectRDMASupported = 1;
  p.gpuDirectRDMAFlushWritesOptions = 1;
  p.gpuDirectRDMAWritesOrdering = 100;
  p.deferredMappingCudaArraySupported = 1;
  p.ipcEventSupported = 1;
  p.clusterLaunch = device.major >= 9;
  p.unifiedFunctionPointers = 1;
  p.deviceNumaId = -1;
}

}  // namespace

cudaDeviceProp properties_of(const Device& device, int ordinal) {
  cudaDeviceProp p{};
  device.name.copy(p.name, sizeof p.name - 1);
  const auto uuid = vgpu::uuid(ordinal);
  std::copy(uuid.begin(), uuid.end(), p.uuid.bytes);
  p.totalGlobalMem = device.memory_bytes;
  p.sharedMemPerBlock = device.shared_per_block;
  p.sharedMemPerBlockOptin = device.shared_per_block_optin;
  p.sharedMemPerMultiprocessor = device.shared_per_multiprocessor;
  p.reservedSharedMemPerBlock = device.reserved_shared_per_block;
  p.regsPerBlock = device.registers_per_block;
  p.regsPerMultiprocessor = device.registers_per_multiprocessor;
  p.warpSize = 32;
  p.memPitch = 2147483647;
  p.maxThreadsPerBlock = 1024;
  assign(p.maxThreadsDim, {1024, 1024, 64});
  assign(p.maxGridSize, {2147483647, 65535, 65535});
  p.maxThreadsPerMultiProcessor = device.threads_per_multiprocessor;
  p.maxBlocksPerMultiProcessor = device.blocks_per_multiprocessor;
  p.totalConstMem = 65536;
  p.major = device.major;
  p.minor = device.minor;
  p.multiProcessorCount = device.multiprocessors;
  p.pciDeviceID = kFirstPciDevice + ordinal;
  p.memoryBusWidth = device.memory_bus_bits;
  p.l2CacheSize = static_cast<int>(device.l2_bytes);
  p.persistingL2CacheMaxSize = static_cast<int>(device.persisting_l2_bytes);
  p.accessPolicyMaxWindowSize = 134217728;
  p.gpuPciDeviceID = device.pci_device_id;
  p.gpuPciSubsystemID = device.pci_subsystem_id;
  set_texture_limits(p);
  set_abilities(p, device);
  return p;
}

std::optional<int> attribute_of(const Device& device, int ordinal, cudaDeviceAttr attribute) {
  const cudaDeviceProp p = properties_of(device, ordinal);
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      return p.maxThreadsPerBlock;
    case cudaDevAttrMaxBlockDimX:
      return p.maxThreadsDim[0];
    case cudaDevAttrMaxBlockDimY:
      return p.maxThreadsDim[1];
    case cudaDevAttrMaxBlockDimZ:
      return p.maxThreadsDim[2];
    case cudaDevAttrMaxGridDimX:
      return p.maxGridSize[0];
    case cudaDevAttrMaxGridDimY:
      return p.maxGridSize[1];
    case cudaDevAttrMaxGridDimZ:
      return p.maxGridSize[2];
    case cudaDevAttrMaxSharedMemoryPerBlock:
      return static_cast<int>(p.sharedMemPerBlock);
    case cudaDevAttrTotalConstantMemory:
      return static_cast<int>(p.totalConstMem);
    case cudaDevAttrWarpSize:
      return p.warpSize;
    case cudaDevAttrMaxPitch:
      return static_cast<int>(p.memPitch);
    case cudaDevAttrMaxRegistersPerBlock:
      return p.regsPerBlock;
    case cudaDevAttrClockRate:
      return device.clock_khz;
    case cudaDevAttrTextureAlignment:
      return static_cast<int>(p.textureAlignment);
    case cudaDevAttrGpuOverlap:
      return 1;
    case cudaDevAttrMultiProcessorCount:
      return p.multiProcessorCount;
    case cudaDevAttrKernelExecTimeout:
      return 0;
    case cudaDevAttrIntegrated:
      return p.integrated;
    case cudaDevAttrCanMapHostMemory:
      return p.canMapHostMemory;
    case cudaDevAttrComputeMode:
      return 0;
    case cudaDevAttrMaxTexture1DWidth:
      return p.maxTexture1D;
    case cudaDevAttrMaxTexture2DWidth:
      return p.maxTexture2D[0];
    case cudaDevAttrMaxTexture2DHeight:
      return p.maxTexture2D[1];
    case cudaDevAttrMaxTexture3DWidth:
      return p.maxTexture3D[0];
    case cudaDevAttrMaxTexture3DHeight:
      return p.maxTexture3D[1];
    case cudaDevAttrMaxTexture3DDepth:
      return p.maxTexture3D[2];
    case cudaDevAttrMaxTexture2DLayeredWidth:
      return p.maxTexture2DLayered[0];
    case cudaDevAttrMaxTexture2DLayeredHeight:
      return p.maxTexture2DLayered[1];
    case cudaDevAttrMaxTexture2DLayeredLayers:
      return p.maxTexture2DLayered[2];
    case cudaDevAttrSurfaceAlignment:
      return static_cast<int>(p.surfaceAlignment);
    case cudaDevAttrConcurrentKernels:
      return p.concurrentKernels;
    case cudaDevAttrEccEnabled:
      return p.ECCEnabled;
    case cudaDevAttrPciBusId:
      return p.pciBusID;
    case cudaDevAttrPciDeviceId:
      return p.pciDeviceID;
    case cudaDevAttrTccDriver:
      return p.tccDriver;
    case cudaDevAttrMemoryClockRate:
      return device.memory_clock_khz;
    case cudaDevAttrGlobalMemoryBusWidth:
      return p.memoryBusWidth;
    case cudaDevAttrL2CacheSize:
      return p.l2CacheSize;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      return p.maxThreadsPerMultiProcessor;
    case cudaDevAttrAsyncEngineCount:
      return p.asyncEngineCount;
    case cudaDevAttrUnifiedAddressing:
      return p.unifiedAddressing;
    case cudaDevAttrMaxTexture1DLayeredWidth:
      return p.maxTexture1DLayered[0];
    case cudaDevAttrMaxTexture1DLayeredLayers:
      return p.maxTexture1DLayered[1];
    case cudaDevAttrMaxTexture2DGatherWidth:
      return p.maxTexture2DGather[0];
    case cudaDevAttrMaxTexture2DGatherHeight:
      return p.maxTexture2DGather[1];
    case cudaDevAttrMaxTexture3DWidthAlt:
      return p.maxTexture3DAlt[0];
    case cudaDevAttrMaxTexture3DHeightAlt:
      return p.maxTexture3DAlt[1];
    case cudaDevAttrMaxTexture3DDepthAlt:
      return p.maxTexture3DAlt[2];
    case cudaDevAttrPciDomainId:
      return p.pciDomainID;
    case cudaDevAttrTexturePitchAlignment:
      return static_cast<int>(p.texturePitchAlignment);
    case cudaDevAttrMaxTextureCubemapWidth:
      return p.maxTextureCubemap;
    case cudaDevAttrMaxTextureCubemapLayeredWidth:
      return p.maxTextureCubemapLayered[0];
    case cudaDevAttrMaxTextureCubemapLayeredLayers:
      return p.maxTextureCubemapLayered[1];
    case cudaDevAttrMaxSurface1DWidth:
      return p.maxSurface1D;
    case cudaDevAttrMaxSurface2DWidth:
      return p.maxSurface2D[0];
    case cudaDevAttrMaxSurface2DHeight:
      return p.maxSurface2D[1];
    case cudaDevAttrMaxSurface3DWidth:
      return p.maxSurface3D[0];
    case cudaDevAttrMaxSurface3DHeight:
      return p.maxSurface3D[1];
    case cudaDevAttrMaxSurface3DDepth:
      return p.maxSurface3D[2];
    case cudaDevAttrMaxSurface1DLayeredWidth:
      return p.maxSurface1DLayered[0];
    case cudaDevAttrMaxSurface1DLayeredLayers:
      return p.maxSurface1DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredWidth:
      return p.maxSurface2DLayered[0];
    case cudaDevAttrMaxSurface2DLayeredHeight:
      return p.maxSurface2DLayered[1];
    case cudaDevAttrMaxSurface2DLayeredLayers:
      return p.maxSurface2DLayered[2];
    case cudaDevAttrMaxSurfaceCubemapWidth:
      return p.maxSurfaceCubemap;
    case cudaDevAttrMaxSurfaceCubemapLayeredWidth:
      return p.maxSurfaceCubemapLayered[0];
    case cudaDevAttrMaxSurfaceCubemapLayeredLayers:
      return p.maxSurfaceCubemapLayered[1];
    case cudaDevAttrMaxTexture1DLinearWidth:
      return 268435456;
    case cudaDevAttrMaxTexture2DLinearWidth:
      return p.maxTexture2DLinear[0];
    case cudaDevAttrMaxTexture2DLinearHeight:
      return p.maxTexture2DLinear[1];
    case cudaDevAttrMaxTexture2DLinearPitch:
      return p.maxTexture2DLinear[2];
    case cudaDevAttrMaxTexture2DMipmappedWidth:
      return p.maxTexture2DMipmap[0];
    case cudaDevAttrMaxTexture2DMipmappedHeight:
      return p.maxTexture2DMipmap[1];
    case cudaDevAttrComputeCapabilityMajor:
      return p.major;
    case cudaDevAttrComputeCapabilityMinor:
      return p.minor;
    case cudaDevAttrMaxTexture1DMipmappedWidth:
      return p.maxTexture1DMipmap;
    case cudaDevAttrStreamPrioritiesSupported:
      return p.streamPrioritiesSupported;
    case cudaDevAttrGlobalL1CacheSupported:
      return p.globalL1CacheSupported;
    case cudaDevAttrLocalL1CacheSupported:
      return p.localL1CacheSupported;
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      return static_cast<int>(p.sharedMemPerMultiprocessor);
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return p.regsPerMultiprocessor;
    case cudaDevAttrManagedMemory:
      return p.managedMemory;
    case cudaDevAttrIsMultiGpuBoard:
      return p.isMultiGpuBoard;
    case cudaDevAttrMultiGpuBoardGroupID:
      return p.multiGpuBoardGroupID;
    case cudaDevAttrHostNativeAtomicSupported:
      return p.hostNativeAtomicSupported;
    case cudaDevAttrSingleToDoublePrecisionPerfRatio:
      return device.double_ratio;
    case cudaDevAttrPageableMemoryAccess:
      return p.pageableMemoryAccess;
    case cudaDevAttrConcurrentManagedAccess:
      return p.concurrentManagedAccess;
    case cudaDevAttrComputePreemptionSupported:
      return p.computePreemptionSupported;
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
      return p.canUseHostPointerForRegisteredMem;
    case cudaDevAttrCooperativeLaunch:
      return p.cooperativeLaunch;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      return static_cast<int>(p.sharedMemPerBlockOptin);
    case cudaDevAttrCanFlushRemoteWrites:
      return 0;
    case cudaDevAttrHostRegisterSupported:
      return p.hostRegisterSupported;
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
      return p.pageableMemoryAccessUsesHostPageTables;
    case cudaDevAttrDirectManagedMemAccessFromHost:
      return p.directManagedMemAccessFromHost;
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return p.maxBlocksPerMultiProcessor;
    case cudaDevAttrMaxPersistingL2CacheSize:
      return p.persistingL2CacheMaxSize;
    case cudaDevAttrMaxAccessPolicyWindowSize:
      return p.accessPolicyMaxWindowSize;
    case cudaDevAttrReservedSharedMemoryPerBlock:
      return static_cast<int>(p.reservedSharedMemPerBlock);
    case cudaDevAttrSparseCudaArraySupported:
      return p.sparseCudaArraySupported;
    case cudaDevAttrHostRegisterReadOnlySupported:
      return p.hostRegisterReadOnlySupported;
    case cudaDevAttrTimelineSemaphoreInteropSupported:
      return p.timelineSemaphoreInteropSupported;
    case cudaDevAttrMemoryPoolsSupported:
      return p.memoryPoolsSupported;
    case cudaDevAttrGPUDirectRDMASupported:
      return p.gpuDirectRDMASupported;
    case cudaDevAttrGPUDirectRDMAFlushWritesOptions:
      return static_cast<int>(p.gpuDirectRDMAFlushWritesOptions);
    case cudaDevAttrGPUDirectRDMAWritesOrdering:
      return p.gpuDirectRDMAWritesOrdering;
    case cudaDevAttrMemoryPoolSupportedHandleTypes:
      return static_cast<int>(p.memoryPoolSupportedHandleTypes);
    case cudaDevAttrClusterLaunch:
      return p.clusterLaunch;
    case cudaDevAttrDeferredMappingCudaArraySupported:
      return p.deferredMappingCudaArraySupported;
    case cudaDevAttrIpcEventSupport:
      return p.ipcEventSupported;
    case cudaDevAttrMemSyncDomainCount:
      return 4;
    case cudaDevAttrNumaConfig:
      return p.deviceNumaConfig;
    case cudaDevAttrNumaId:
      return p.deviceNumaId;
    case cudaDevAttrMpsEnabled:
      return p.mpsEnabled;
    case cudaDevAttrHostNumaId:
      return p.hostNumaId;
    case cudaDevAttrD3D12CigSupported:
      return 0;
    case cudaDevAttrVulkanCigSupported:
      return 0;
    case cudaDevAttrGpuPciDeviceId:
      return static_cast<int>(p.gpuPciDeviceID);
    case cudaDevAttrGpuPciSubsystemId:
      return static_cast<int>(p.gpuPciSubsystemID);
    case cudaDevAttrHostNumaMemoryPoolsSupported:
      return 1;
    case cudaDevAttrHostNumaMultinodeIpcSupported:
      return p.hostNumaMultinodeIpcSupported;
    case cudaDevAttrHostMemoryPoolsSupported:
      return 1;
    case cudaDevAttrOnlyPartialHostNativeAtomicSupported:
      return 0;
    default:
      return std::nullopt;
  }
}

}  // namespace vgpu::runtime
