// SPDX-License-Identifier: Apache-2.0
// Checks the program's host memory before it is used, so that a bad pointer causes an error code
// instead of a crash.
#pragma once
#include <cstddef>

namespace vgpu::runtime {

// Whether all bytes can be read, or written. The contents do not change. The cost is small compared
// with a copy of the bytes.
bool can_read(const void* pointer, std::size_t bytes);
bool can_write(void* pointer, std::size_t bytes);

}  // namespace vgpu::runtime
