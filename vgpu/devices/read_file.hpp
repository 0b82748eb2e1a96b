// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace vgpu {

// Reads a whole file. Returns 0 or an error number; a device such as /dev/zero has no end.
int read_file(const std::string& path, std::string& text);

// "not JSON: " and where, from an exception of the parser; without the exception's own number.
std::string no_json(const std::string& what);

}  // namespace vgpu
