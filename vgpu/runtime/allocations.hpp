// SPDX-License-Identifier: Apache-2.0
// Allocating and freeing memory for the program, and the report of leaks.
#pragma once
#include <cstddef>
#include <string>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// Allocates on the calling thread's device. 0 bytes give a null pointer. `caller` is the code
// address of the call, for the leak check.
void allocate(Runtime& runtime, void** pointer, std::size_t bytes, Origin origin, unsigned flags,
              const void* caller);

// Frees an allocation. Throws Failure, with the name `function`, if no live allocation of that kind
// (host or device) starts at `pointer`.
void release(Runtime& runtime, const char* function, void* pointer, bool host);
// The same for device memory, behind the stream's earlier work. The program may not use the memory
// from now on.
void submit_release(Runtime& runtime, Stream& stream, const char* function, void* pointer);

// The report of memory that was never freed, in several lines; "" if there is none. It includes
// pinned memory and allocations from memory pools.
std::string leaks(const Runtime& runtime);

// Checks the program's host memory before it is used, so that a bad pointer causes an error code
// instead of a crash: whether all bytes can be read, or written. The contents do not change. The
// cost is small compared with a copy of the bytes.
bool can_read(const void* pointer, std::size_t bytes);
bool can_write(void* pointer, std::size_t bytes);

}  // namespace vgpu::runtime
