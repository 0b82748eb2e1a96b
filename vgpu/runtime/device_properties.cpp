// SPDX-License-Identifier: Apache-2.0
#include "runtime/device_properties.hpp"

#include <algorithm>
#include <array>

namespace vgpu::runtime {
namespace {

template <class T, std::size_t n>
void assign(T (&field)[n], const std::array<T, n>& values) {
  std::ranges::copy(values, field);
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
  std::ranges::copy(uuid, p.uuid.bytes);
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
  p.accessPolicyMaxWindowSize = kMostAccessPolicyBytes;
  p.gpuPciDeviceID = device.pci_device_id;
  p.gpuPciSubsystemID = device.pci_subsystem_id;
  set_texture_limits(p);
  set_abilities(p, device);
  return p;
}

std::optional<int> attribute_of(const Device& device, int ordinal, cudaDeviceAttr attribute) {
  const cudaDeviceProp p = properties_of(device, ordinal);
#define VGPU_ATTRIBUTE(name, value) \
  case cudaDevAttr##name: return static_cast<int>(value);
  switch (attribute) {
    VGPU_ATTRIBUTE(MaxThreadsPerBlock, p.maxThreadsPerBlock)
    VGPU_ATTRIBUTE(MaxBlockDimX, p.maxThreadsDim[0])
    VGPU_ATTRIBUTE(MaxBlockDimY, p.maxThreadsDim[1])
    VGPU_ATTRIBUTE(MaxBlockDimZ, p.maxThreadsDim[2])
    VGPU_ATTRIBUTE(MaxGridDimX, p.maxGridSize[0])
    VGPU_ATTRIBUTE(MaxGridDimY, p.maxGridSize[1])
    VGPU_ATTRIBUTE(MaxGridDimZ, p.maxGridSize[2])
    VGPU_ATTRIBUTE(MaxSharedMemoryPerBlock, p.sharedMemPerBlock)
    VGPU_ATTRIBUTE(TotalConstantMemory, p.totalConstMem)
    VGPU_ATTRIBUTE(WarpSize, p.warpSize)
    VGPU_ATTRIBUTE(MaxPitch, p.memPitch)
    VGPU_ATTRIBUTE(MaxRegistersPerBlock, p.regsPerBlock)
    VGPU_ATTRIBUTE(ClockRate, device.clock_khz)
    VGPU_ATTRIBUTE(TextureAlignment, p.textureAlignment)
    VGPU_ATTRIBUTE(GpuOverlap, 1)
    VGPU_ATTRIBUTE(MultiProcessorCount, p.multiProcessorCount)
    VGPU_ATTRIBUTE(KernelExecTimeout, 0)
    VGPU_ATTRIBUTE(Integrated, p.integrated)
    VGPU_ATTRIBUTE(CanMapHostMemory, p.canMapHostMemory)
    VGPU_ATTRIBUTE(ComputeMode, 0)
    VGPU_ATTRIBUTE(MaxTexture1DWidth, p.maxTexture1D)
    VGPU_ATTRIBUTE(MaxTexture2DWidth, p.maxTexture2D[0])
    VGPU_ATTRIBUTE(MaxTexture2DHeight, p.maxTexture2D[1])
    VGPU_ATTRIBUTE(MaxTexture3DWidth, p.maxTexture3D[0])
    VGPU_ATTRIBUTE(MaxTexture3DHeight, p.maxTexture3D[1])
    VGPU_ATTRIBUTE(MaxTexture3DDepth, p.maxTexture3D[2])
    VGPU_ATTRIBUTE(MaxTexture2DLayeredWidth, p.maxTexture2DLayered[0])
    VGPU_ATTRIBUTE(MaxTexture2DLayeredHeight, p.maxTexture2DLayered[1])
    VGPU_ATTRIBUTE(MaxTexture2DLayeredLayers, p.maxTexture2DLayered[2])
    VGPU_ATTRIBUTE(SurfaceAlignment, p.surfaceAlignment)
    VGPU_ATTRIBUTE(ConcurrentKernels, p.concurrentKernels)
    VGPU_ATTRIBUTE(EccEnabled, p.ECCEnabled)
    VGPU_ATTRIBUTE(PciBusId, p.pciBusID)
    VGPU_ATTRIBUTE(PciDeviceId, p.pciDeviceID)
    VGPU_ATTRIBUTE(TccDriver, p.tccDriver)
    VGPU_ATTRIBUTE(MemoryClockRate, device.memory_clock_khz)
    VGPU_ATTRIBUTE(GlobalMemoryBusWidth, p.memoryBusWidth)
    VGPU_ATTRIBUTE(L2CacheSize, p.l2CacheSize)
    VGPU_ATTRIBUTE(MaxThreadsPerMultiProcessor, p.maxThreadsPerMultiProcessor)
    VGPU_ATTRIBUTE(AsyncEngineCount, p.asyncEngineCount)
    VGPU_ATTRIBUTE(UnifiedAddressing, p.unifiedAddressing)
    VGPU_ATTRIBUTE(MaxTexture1DLayeredWidth, p.maxTexture1DLayered[0])
    VGPU_ATTRIBUTE(MaxTexture1DLayeredLayers, p.maxTexture1DLayered[1])
    VGPU_ATTRIBUTE(MaxTexture2DGatherWidth, p.maxTexture2DGather[0])
    VGPU_ATTRIBUTE(MaxTexture2DGatherHeight, p.maxTexture2DGather[1])
    VGPU_ATTRIBUTE(MaxTexture3DWidthAlt, p.maxTexture3DAlt[0])
    VGPU_ATTRIBUTE(MaxTexture3DHeightAlt, p.maxTexture3DAlt[1])
    VGPU_ATTRIBUTE(MaxTexture3DDepthAlt, p.maxTexture3DAlt[2])
    VGPU_ATTRIBUTE(PciDomainId, p.pciDomainID)
    VGPU_ATTRIBUTE(TexturePitchAlignment, p.texturePitchAlignment)
    VGPU_ATTRIBUTE(MaxTextureCubemapWidth, p.maxTextureCubemap)
    VGPU_ATTRIBUTE(MaxTextureCubemapLayeredWidth, p.maxTextureCubemapLayered[0])
    VGPU_ATTRIBUTE(MaxTextureCubemapLayeredLayers, p.maxTextureCubemapLayered[1])
    VGPU_ATTRIBUTE(MaxSurface1DWidth, p.maxSurface1D)
    VGPU_ATTRIBUTE(MaxSurface2DWidth, p.maxSurface2D[0])
    VGPU_ATTRIBUTE(MaxSurface2DHeight, p.maxSurface2D[1])
    VGPU_ATTRIBUTE(MaxSurface3DWidth, p.maxSurface3D[0])
    VGPU_ATTRIBUTE(MaxSurface3DHeight, p.maxSurface3D[1])
    VGPU_ATTRIBUTE(MaxSurface3DDepth, p.maxSurface3D[2])
    VGPU_ATTRIBUTE(MaxSurface1DLayeredWidth, p.maxSurface1DLayered[0])
    VGPU_ATTRIBUTE(MaxSurface1DLayeredLayers, p.maxSurface1DLayered[1])
    VGPU_ATTRIBUTE(MaxSurface2DLayeredWidth, p.maxSurface2DLayered[0])
    VGPU_ATTRIBUTE(MaxSurface2DLayeredHeight, p.maxSurface2DLayered[1])
    VGPU_ATTRIBUTE(MaxSurface2DLayeredLayers, p.maxSurface2DLayered[2])
    VGPU_ATTRIBUTE(MaxSurfaceCubemapWidth, p.maxSurfaceCubemap)
    VGPU_ATTRIBUTE(MaxSurfaceCubemapLayeredWidth, p.maxSurfaceCubemapLayered[0])
    VGPU_ATTRIBUTE(MaxSurfaceCubemapLayeredLayers, p.maxSurfaceCubemapLayered[1])
    VGPU_ATTRIBUTE(MaxTexture1DLinearWidth, 268435456)
    VGPU_ATTRIBUTE(MaxTexture2DLinearWidth, p.maxTexture2DLinear[0])
    VGPU_ATTRIBUTE(MaxTexture2DLinearHeight, p.maxTexture2DLinear[1])
    VGPU_ATTRIBUTE(MaxTexture2DLinearPitch, p.maxTexture2DLinear[2])
    VGPU_ATTRIBUTE(MaxTexture2DMipmappedWidth, p.maxTexture2DMipmap[0])
    VGPU_ATTRIBUTE(MaxTexture2DMipmappedHeight, p.maxTexture2DMipmap[1])
    VGPU_ATTRIBUTE(ComputeCapabilityMajor, p.major)
    VGPU_ATTRIBUTE(ComputeCapabilityMinor, p.minor)
    VGPU_ATTRIBUTE(MaxTexture1DMipmappedWidth, p.maxTexture1DMipmap)
    VGPU_ATTRIBUTE(StreamPrioritiesSupported, p.streamPrioritiesSupported)
    VGPU_ATTRIBUTE(GlobalL1CacheSupported, p.globalL1CacheSupported)
    VGPU_ATTRIBUTE(LocalL1CacheSupported, p.localL1CacheSupported)
    VGPU_ATTRIBUTE(MaxSharedMemoryPerMultiprocessor, p.sharedMemPerMultiprocessor)
    VGPU_ATTRIBUTE(MaxRegistersPerMultiprocessor, p.regsPerMultiprocessor)
    VGPU_ATTRIBUTE(ManagedMemory, p.managedMemory)
    VGPU_ATTRIBUTE(IsMultiGpuBoard, p.isMultiGpuBoard)
    VGPU_ATTRIBUTE(MultiGpuBoardGroupID, p.multiGpuBoardGroupID)
    VGPU_ATTRIBUTE(HostNativeAtomicSupported, p.hostNativeAtomicSupported)
    VGPU_ATTRIBUTE(SingleToDoublePrecisionPerfRatio, device.double_ratio)
    VGPU_ATTRIBUTE(PageableMemoryAccess, p.pageableMemoryAccess)
    VGPU_ATTRIBUTE(ConcurrentManagedAccess, p.concurrentManagedAccess)
    VGPU_ATTRIBUTE(ComputePreemptionSupported, p.computePreemptionSupported)
    VGPU_ATTRIBUTE(CanUseHostPointerForRegisteredMem, p.canUseHostPointerForRegisteredMem)
    VGPU_ATTRIBUTE(CooperativeLaunch, p.cooperativeLaunch)
    VGPU_ATTRIBUTE(MaxSharedMemoryPerBlockOptin, p.sharedMemPerBlockOptin)
    VGPU_ATTRIBUTE(CanFlushRemoteWrites, 0)
    VGPU_ATTRIBUTE(HostRegisterSupported, p.hostRegisterSupported)
    VGPU_ATTRIBUTE(PageableMemoryAccessUsesHostPageTables, p.pageableMemoryAccessUsesHostPageTables)
    VGPU_ATTRIBUTE(DirectManagedMemAccessFromHost, p.directManagedMemAccessFromHost)
    VGPU_ATTRIBUTE(MaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor)
    VGPU_ATTRIBUTE(MaxPersistingL2CacheSize, p.persistingL2CacheMaxSize)
    VGPU_ATTRIBUTE(MaxAccessPolicyWindowSize, p.accessPolicyMaxWindowSize)
    VGPU_ATTRIBUTE(ReservedSharedMemoryPerBlock, p.reservedSharedMemPerBlock)
    VGPU_ATTRIBUTE(SparseCudaArraySupported, p.sparseCudaArraySupported)
    VGPU_ATTRIBUTE(HostRegisterReadOnlySupported, p.hostRegisterReadOnlySupported)
    VGPU_ATTRIBUTE(TimelineSemaphoreInteropSupported, p.timelineSemaphoreInteropSupported)
    VGPU_ATTRIBUTE(MemoryPoolsSupported, p.memoryPoolsSupported)
    VGPU_ATTRIBUTE(GPUDirectRDMASupported, p.gpuDirectRDMASupported)
    VGPU_ATTRIBUTE(GPUDirectRDMAFlushWritesOptions, p.gpuDirectRDMAFlushWritesOptions)
    VGPU_ATTRIBUTE(GPUDirectRDMAWritesOrdering, p.gpuDirectRDMAWritesOrdering)
    VGPU_ATTRIBUTE(MemoryPoolSupportedHandleTypes, p.memoryPoolSupportedHandleTypes)
    VGPU_ATTRIBUTE(ClusterLaunch, p.clusterLaunch)
    VGPU_ATTRIBUTE(DeferredMappingCudaArraySupported, p.deferredMappingCudaArraySupported)
    VGPU_ATTRIBUTE(IpcEventSupport, p.ipcEventSupported)
    VGPU_ATTRIBUTE(MemSyncDomainCount, 4)
    VGPU_ATTRIBUTE(NumaConfig, p.deviceNumaConfig)
    VGPU_ATTRIBUTE(NumaId, p.deviceNumaId)
    VGPU_ATTRIBUTE(MpsEnabled, p.mpsEnabled)
    VGPU_ATTRIBUTE(HostNumaId, p.hostNumaId)
    VGPU_ATTRIBUTE(D3D12CigSupported, 0)
    VGPU_ATTRIBUTE(VulkanCigSupported, 0)
    VGPU_ATTRIBUTE(GpuPciDeviceId, p.gpuPciDeviceID)
    VGPU_ATTRIBUTE(GpuPciSubsystemId, p.gpuPciSubsystemID)
    VGPU_ATTRIBUTE(HostNumaMemoryPoolsSupported, 1)
    VGPU_ATTRIBUTE(HostNumaMultinodeIpcSupported, p.hostNumaMultinodeIpcSupported)
    VGPU_ATTRIBUTE(HostMemoryPoolsSupported, 1)
    VGPU_ATTRIBUTE(OnlyPartialHostNativeAtomicSupported, 0)
#undef VGPU_ATTRIBUTE
    default: return std::nullopt;
  }
}

}  // namespace vgpu::runtime
