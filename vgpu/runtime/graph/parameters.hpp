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

cudaKernelNodeParams parameters_of(const KernelWork& work);

}  // namespace vgpu::runtime
