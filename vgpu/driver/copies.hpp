// SPDX-License-Identifier: Apache-2.0
// The driver API's structures for copies, as the runtime API has them.
#pragma once

#include "driver/api.hpp"

namespace vgpu::driver {

// Throws Failure for a structure that is not valid, and for arrays.
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D& copy);
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY2D& copy);
CUDA_MEMCPY3D copy_of(const cudaMemcpy3DParms& what);

}  // namespace vgpu::driver
