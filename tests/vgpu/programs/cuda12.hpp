// SPDX-License-Identifier: Apache-2.0
// Functions with the names and arguments of CUDA 12's runtime. OF_12 declares or defines one.
#pragma once
#include <driver_types.h>

#include <cstddef>

// What CUDA 12's headers declare.
struct Properties12 {
  char name[256];
  char uuid[16], luid[8];
  unsigned luid_mask;
  std::size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch;
  int threads_per_block, threads[3], grid[3], clock_rate;
  std::size_t constants;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, multiprocessors;
  char others[1032 - 392];
};
static_assert(sizeof(Properties12) == 1032, "the size in CUDA 12");

struct PointerAttributes12 {
  int type, device;
  void *device_pointer, *host_pointer;
};

OF_12(__cudaRegisterFatBinary)
OF_12(cudaMalloc, void**, std::size_t)
OF_12(cudaMallocManaged, void**, std::size_t, unsigned)
OF_12(cudaGetDeviceProperties_v2, Properties12*, int)
OF_12(cudaPointerGetAttributes, PointerAttributes12*, const void*)
OF_12(cudaRuntimeGetVersion, int*)
OF_12(cudaMemAdvise, const void*, std::size_t, int, int)
OF_12(cudaMemPrefetchAsync, const void*, std::size_t, int, cudaStream_t)
OF_12(cudaMemPrefetchAsync_v2, const void*, std::size_t, cudaMemLocation, unsigned, cudaStream_t)
OF_12(cudaGraphCreate, cudaGraph_t*, unsigned)
OF_12(cudaGraphAddEmptyNode, cudaGraphNode_t*, cudaGraph_t, const cudaGraphNode_t*, std::size_t)
OF_12(cudaGraphAddDependencies, cudaGraph_t, const cudaGraphNode_t*, const cudaGraphNode_t*,
      std::size_t)
OF_12(cudaGraphGetEdges, cudaGraph_t, cudaGraphNode_t*, cudaGraphNode_t*, std::size_t*)
OF_12(cudaGraphNodeGetDependencies_v2, cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*,
      std::size_t*)
OF_12(cudaStreamGetCaptureInfo, cudaStream_t, cudaStreamCaptureStatus*, unsigned long long*)
OF_12(cudaThreadSynchronize)
OF_12(cudaLaunchCooperativeKernelMultiDevice, void*, unsigned, unsigned)
