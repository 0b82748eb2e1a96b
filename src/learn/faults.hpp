// SPDX-License-Identifier: Apache-2.0
// Faults and CUDA's errors, explained to a beginner.
#pragma once
#include <string_view>

namespace ladder::learn {

struct Explained {
  std::string_view name, mark, text;
};

// The virtual GPU's kinds of fault, and names of CUDA's errors; null for others.
const Explained* fault_named(std::string_view kind);
const Explained* error_named(std::string_view name);

}  // namespace ladder::learn
