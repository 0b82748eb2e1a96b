// SPDX-License-Identifier: Apache-2.0
// From the parameters that the API takes to work, and back. All throw Failure where the parameters
// are not good.
#pragma once
#include "runtime/graph/graph.hpp"

namespace vgpu::runtime {

Work work_of(Runtime& runtime, const cudaKernelNodeParams* params);
Work work_of(Runtime& runtime, const cudaMemcpy3DParms* params);
Work work_of(Runtime& runtime, const cudaMemsetParams* params);
Work work_of(Runtime& runtime, const cudaHostNodeParams* params);
// As the node's kind says.
Work work_of(Runtime& runtime, const cudaGraphNodeParams* params);

cudaKernelNodeParams parameters_of(const KernelWork& work);

}  // namespace vgpu::runtime
