// SPDX-License-Identifier: Apache-2.0
#include "observer/watch.hpp"

#include <algorithm>
#include <cstring>

namespace vgpu::observer {

void UnwrittenFill::apply(std::byte* shared, std::size_t bytes) const {
  std::memset(shared, words == nullptr ? byte : kUsual, bytes);
  if (words == nullptr) return;
  for (std::size_t i = 0; i < words->size(); ++i) {
    if ((*words)[i]) std::memset(shared + i * 4, byte, std::min<std::size_t>(4, bytes - i * 4));
  }
}

}  // namespace vgpu::observer
