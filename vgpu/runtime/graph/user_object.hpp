// SPDX-License-Identifier: Apache-2.0
// Reference-counted objects that graphs keep alive. The last release calls the program's
// destructor.
#pragma once
#include "runtime/api.hpp"

namespace vgpu::runtime {

bool retain_user_object(cudaUserObject_t object, unsigned count);  // false: not a live object
bool release_user_object(cudaUserObject_t object, unsigned count);

}  // namespace vgpu::runtime
