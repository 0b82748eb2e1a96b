// SPDX-License-Identifier: Apache-2.0
// Conversion between the API's node parameters and work. All functions throw Failure for invalid
// parameters.
#pragma once
#include "runtime/graph/graph.hpp"

namespace vgpu::runtime {

Work work_of(Runtime& runtime, const cudaKernelNodeParams* params);
Work work_of(Runtime& runtime, const cudaMemcpy3DParms* params);
Work work_of(Runtime& runtime, const cudaMemsetParams* params);
Work work_of(Runtime& runtime, const cudaHostNodeParams* params);
// For the node type that the parameters name.
Work work_of(Runtime& runtime, const cudaGraphNodeParams* params);

Work copy_1d(Runtime& runtime, void* to, const void* from, size_t bytes, cudaMemcpyKind kind);
Work copy_to_symbol(Runtime& runtime, const void* symbol, const void* from, size_t bytes,
                    size_t offset, cudaMemcpyKind kind);
Work copy_from_symbol(Runtime& runtime, void* to, const void* symbol, size_t bytes, size_t offset,
                      cudaMemcpyKind kind);
Work child_work(Runtime& runtime, cudaGraph_t child);
Work record_work(Runtime& runtime, cudaEvent_t event);
Work wait_work(Runtime& runtime, cudaEvent_t event);

// Replaces the node's work by work of the same kind. A kernel keeps its attributes.
void replace_work(Node& node, Work work);

cudaKernelNodeParams parameters_of(const KernelWork& work);

}  // namespace vgpu::runtime

// Defines the entry point `name` of `count` parameters: by(make, parameters...), where `make` takes
// the Runtime and the last parameters and returns a node's work.
#define VGPU_NODE(name, count, by, make)                                             \
  cudaError_t name(VGPU_PARAMETERS_##count(name)) {                                  \
    return by([](Runtime& runtime, auto... a) { return Work(make(runtime, a...)); }, \
              VGPU_ARGUMENTS_##count);                                               \
  }                                                                                  \
  static_assert(true)
