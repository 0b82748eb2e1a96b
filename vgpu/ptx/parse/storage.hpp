// SPDX-License-Identifier: Apache-2.0
// Owns the memory that a parsed module's views point into: a copy of the text and an arena for the
// tree's lists.
#pragma once
#include <memory_resource>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace vgpu::ptx {

class Storage {
 public:
  explicit Storage(std::string_view text) : text_(text) {}
  std::string_view text() const { return text_; }  // a NUL follows it

  template <class T>
  std::span<T> keep(std::span<const T> list) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    if (list.empty()) return {};
    T* copy = static_cast<T*>(arena_.allocate(list.size_bytes(), alignof(T)));
    std::uninitialized_copy(list.begin(), list.end(), copy);
    return {copy, list.size()};
  }

 private:
  std::string text_;
  std::pmr::monotonic_buffer_resource arena_{std::size_t{64} << 10};
};

}  // namespace vgpu::ptx
