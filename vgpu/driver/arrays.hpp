// SPDX-License-Identifier: Apache-2.0
// CUDA arrays and formats, as the runtime API has them.
#pragma once
#include "driver/api.hpp"

namespace vgpu::driver {

inline cudaArray_t array_of(CUarray array) { return reinterpret_cast<cudaArray_t>(array); }

// Throws Failure for formats that the runtime API cannot describe by channels.
cudaChannelFormatDesc channels_of(CUarray_format format, unsigned channels);

// Bytes of an element. Throws Failure if there is no such array.
std::size_t element_bytes(CUarray array);

}  // namespace vgpu::driver
