// SPDX-License-Identifier: Apache-2.0
// The runtime's functions whose arguments or structures changed from CUDA 12 to 13, as CUDA 12's
// headers declare them: for programs with CUDA 12's runtime linked in. redirect/names12.inc says
// which function of CUDA 12 is which of these.
#include <fmt/format.h>

#include <cstring>

#include "runtime/runtime.hpp"

namespace {

constexpr int kRuntimeVersion = 12000;  // the least that is known of the program's own runtime

// The fields of cudaDeviceProp that CUDA 12 and 13 both have. Between the groups CUDA 12 has fields
// that CUDA 13 has removed.
// clang-format off
#define VGPU_FIELDS_1(F) \
  F(name) F(uuid) F(luid) F(luidDeviceNodeMask) F(totalGlobalMem) F(sharedMemPerBlock) \
  F(regsPerBlock) F(warpSize) F(memPitch) F(maxThreadsPerBlock) F(maxThreadsDim) F(maxGridSize)
#define VGPU_FIELDS_2(F) \
  F(totalConstMem) F(major) F(minor) F(textureAlignment) F(texturePitchAlignment)
#define VGPU_FIELDS_3(F) F(integrated) F(canMapHostMemory)
#define VGPU_FIELDS_4(F) F(maxTexture1D) F(maxTexture1DMipmap)
#define VGPU_FIELDS_5(F) \
  F(maxTexture2D) F(maxTexture2DMipmap) F(maxTexture2DLinear) F(maxTexture2DGather) \
  F(maxTexture3D) F(maxTexture3DAlt) F(maxTextureCubemap) F(maxTexture1DLayered) \
  F(maxTexture2DLayered) F(maxTextureCubemapLayered) F(maxSurface1D) F(maxSurface2D) \
  F(maxSurface3D) F(maxSurface1DLayered) F(maxSurface2DLayered) F(maxSurfaceCubemap) \
  F(maxSurfaceCubemapLayered) F(surfaceAlignment) F(concurrentKernels) F(ECCEnabled) F(pciBusID) \
  F(pciDeviceID) F(pciDomainID) F(tccDriver) F(asyncEngineCount) F(unifiedAddressing)
#define VGPU_FIELDS_6(F) \
  F(memoryBusWidth) F(l2CacheSize) F(persistingL2CacheMaxSize) F(maxThreadsPerMultiProcessor) \
  F(streamPrioritiesSupported) F(globalL1CacheSupported) F(localL1CacheSupported) \
  F(sharedMemPerMultiprocessor) F(regsPerMultiprocessor) F(managedMemory) F(isMultiGpuBoard) \
  F(multiGpuBoardGroupID) F(hostNativeAtomicSupported)
#define VGPU_FIELDS_7(F) \
  F(pageableMemoryAccess) F(concurrentManagedAccess) F(computePreemptionSupported) \
  F(canUseHostPointerForRegisteredMem) F(cooperativeLaunch)
#define VGPU_FIELDS_8(F) \
  F(sharedMemPerBlockOptin) F(pageableMemoryAccessUsesHostPageTables) \
  F(directManagedMemAccessFromHost) F(maxBlocksPerMultiProcessor) F(accessPolicyMaxWindowSize) \
  F(reservedSharedMemPerBlock) F(hostRegisterSupported) F(sparseCudaArraySupported) \
  F(hostRegisterReadOnlySupported) F(timelineSemaphoreInteropSupported) F(memoryPoolsSupported) \
  F(gpuDirectRDMASupported) F(gpuDirectRDMAFlushWritesOptions) F(gpuDirectRDMAWritesOrdering) \
  F(memoryPoolSupportedHandleTypes) F(deferredMappingCudaArraySupported) F(ipcEventSupported) \
  F(clusterLaunch) F(unifiedFunctionPointers)
// clang-format on

#define VGPU_DECLARE(field) decltype(cudaDeviceProp::field) field;
struct Properties12 {
  VGPU_FIELDS_1(VGPU_DECLARE)
  int clockRate;
  VGPU_FIELDS_2(VGPU_DECLARE)
  int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled;
  VGPU_FIELDS_3(VGPU_DECLARE)
  int computeMode;
  VGPU_FIELDS_4(VGPU_DECLARE)
  int maxTexture1DLinear;
  VGPU_FIELDS_5(VGPU_DECLARE)
  int memoryClockRate;
  VGPU_FIELDS_6(VGPU_DECLARE)
  int singleToDoublePrecisionPerfRatio;
  VGPU_FIELDS_7(VGPU_DECLARE)
  int cooperativeMultiDeviceLaunch;
  VGPU_FIELDS_8(VGPU_DECLARE)
  int reserved[63];
};
#undef VGPU_DECLARE
static_assert(sizeof(Properties12) == 1032, "the size in CUDA 12");

struct PointerAttributes12 {
  cudaMemoryType type;
  int device;
  void *devicePointer, *hostPointer;
};

int attribute(cudaDeviceAttr which, int device) {
  int value = 0;
  cudaDeviceGetAttribute(&value, which, device);
  return value;
}

// CUDA 12 names a device by its number, and the host by -1.
cudaMemLocation location_of(int device) {
  return {device == -1 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice,
          device == -1 ? 0 : device};
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

cudaError_t vgpu12GetDeviceProperties(Properties12* properties, int device) {
  cudaDeviceProp now;
  const cudaError_t error = cudaGetDeviceProperties(properties == nullptr ? nullptr : &now, device);
  if (error != cudaSuccess) return error;
  std::memset(properties, 0, sizeof *properties);
#define VGPU_COPY(field) std::memcpy(&properties->field, &now.field, sizeof now.field);
  VGPU_FIELDS_1(VGPU_COPY)
  VGPU_FIELDS_2(VGPU_COPY)
  VGPU_FIELDS_3(VGPU_COPY)
  VGPU_FIELDS_4(VGPU_COPY)
  VGPU_FIELDS_5(VGPU_COPY)
  VGPU_FIELDS_6(VGPU_COPY)
  VGPU_FIELDS_7(VGPU_COPY)
  VGPU_FIELDS_8(VGPU_COPY)
  VGPU_COPY(multiProcessorCount)
#undef VGPU_COPY
  properties->clockRate = attribute(cudaDevAttrClockRate, device);
  properties->deviceOverlap = attribute(cudaDevAttrGpuOverlap, device);
  properties->kernelExecTimeoutEnabled = attribute(cudaDevAttrKernelExecTimeout, device);
  properties->computeMode = attribute(cudaDevAttrComputeMode, device);
  properties->maxTexture1DLinear = attribute(cudaDevAttrMaxTexture1DLinearWidth, device);
  properties->memoryClockRate = attribute(cudaDevAttrMemoryClockRate, device);
  properties->singleToDoublePrecisionPerfRatio =
      attribute(cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
  return cudaSuccess;
}

cudaError_t vgpu12PointerGetAttributes(PointerAttributes12* attributes, const void* pointer) {
  cudaPointerAttributes now;
  const cudaError_t error =
      cudaPointerGetAttributes(attributes == nullptr ? nullptr : &now, pointer);
  if (error == cudaSuccess)
    *attributes = {now.type, now.device, now.devicePointer, now.hostPointer};
  return error;
}

cudaError_t vgpu12RuntimeGetVersion(int* version) {
  const cudaError_t error = cudaRuntimeGetVersion(version);
  if (error == cudaSuccess) *version = kRuntimeVersion;
  return error;
}

cudaError_t vgpu12MemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise advice,
                            int device) {
  return cudaMemAdvise(pointer, bytes, advice, location_of(device));
}

cudaError_t vgpu12MemPrefetchAsync(const void* pointer, size_t bytes, int device,
                                   cudaStream_t stream) {
  return cudaMemPrefetchAsync(pointer, bytes, location_of(device), 0, stream);
}

cudaError_t vgpu12GraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                       const cudaGraphNode_t* to, size_t count) {
  return cudaGraphAddDependencies(graph, from, to, nullptr, count);
}

cudaError_t vgpu12GraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from,
                                          const cudaGraphNode_t* to, size_t count) {
  return cudaGraphRemoveDependencies(graph, from, to, nullptr, count);
}

cudaError_t vgpu12GraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph,
                               const cudaGraphNode_t* after, size_t count,
                               cudaGraphNodeParams* params) {
  return cudaGraphAddNode(node, graph, after, nullptr, count, params);
}

cudaError_t vgpu12GraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                size_t* count) {
  return cudaGraphGetEdges(graph, from, to, nullptr, count);
}

cudaError_t vgpu12GraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                           size_t* count) {
  return cudaGraphNodeGetDependencies(node, nodes, nullptr, count);
}

cudaError_t vgpu12GraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                             size_t* count) {
  return cudaGraphNodeGetDependentNodes(node, nodes, nullptr, count);
}

cudaError_t vgpu12StreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                       unsigned long long* id) {
  return cudaStreamGetCaptureInfo(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}

cudaError_t vgpu12StreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status,
                                          unsigned long long* id, cudaGraph_t* graph,
                                          const cudaGraphNode_t** nodes, size_t* count) {
  return cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, nullptr, count);
}

cudaError_t vgpu12StreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* nodes,
                                                  size_t count, unsigned flags) {
  return cudaStreamUpdateCaptureDependencies(stream, nodes, nullptr, count, flags);
}

// For functions that CUDA 13 has removed.
cudaError_t vgpu12Refuse(const char* name) {
  vgpu::runtime::say(fmt::format("{} of CUDA 12 is not implemented", name));
  return vgpu::runtime::finish(cudaErrorNotSupported);
}

// The program's CUDA 12 may be older than the function's newest form.
cudaError_t vgpu12GetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                      cudaDriverEntryPointQueryResult* status) {
  constexpr unsigned kNewest12 = 12090;
  void* found = nullptr;
  const cudaError_t error = cudaGetDriverEntryPointByVersion(
      symbol, function == nullptr ? nullptr : &found, kRuntimeVersion, flags, status);
  if (error != cudaSuccess) return error;
  *function = found;
  return found != nullptr
             ? error
             : cudaGetDriverEntryPointByVersion(symbol, function, kNewest12, flags, status);
}

cudaError_t vgpu12SetDouble(double*) { return cudaSuccess; }  // every device has doubles
}
#pragma GCC visibility pop
