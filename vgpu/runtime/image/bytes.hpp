// SPDX-License-Identifier: Apache-2.0
// Reads little-endian values from bytes that may be damaged.
#pragma once
#include <cstddef>
#include <cstring>
#include <span>
#include <type_traits>

#include "runtime/image/fatbin.hpp"

namespace vgpu::image {

template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset)
    throw Damaged("data end too early");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace vgpu::image
