// SPDX-License-Identifier: Apache-2.0
// Programs of the CUDA toolkit that may be installed.
#pragma once
#include <string>

namespace ladder::analyse {

// The path in `variable` of the environment, else `name` in PATH, CUDA_HOME/bin or /usr/local/cuda/bin; "" if nowhere.
std::string find_tool(const char* variable, const std::string& name);

}  // namespace ladder::analyse
