// SPDX-License-Identifier: Apache-2.0
// Whether the program may use memory of its own, asked before it is used: a bad pointer is an error
// then, not a crash.
#pragma once
#include <cstddef>

namespace vgpu::runtime {

// Whether all of it can be read, or written. The contents stay as they are. Costs little beside a
// copy of the bytes.
bool can_read(const void* pointer, std::size_t bytes);
bool can_write(void* pointer, std::size_t bytes);

}  // namespace vgpu::runtime
