// SPDX-License-Identifier: Apache-2.0
// Arrays and the driver API's structures for copies, as the runtime API has them.
#pragma once

#include "driver/api.hpp"

namespace vgpu::driver {

inline cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// Bytes of an element. Throws Failure if there is no such array.
std::size_t element_bytes(CUarray array);

// Throws Failure for a structure that is not valid, and for arrays that do not exist.
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D& copy);
cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY2D& copy);
CUDA_MEMCPY3D copy_of(const cudaMemcpy3DParms& what);

}  // namespace vgpu::driver
