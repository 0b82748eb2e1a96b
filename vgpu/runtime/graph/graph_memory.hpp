// SPDX-License-Identifier: Apache-2.0
// Memory that a graph allocates. Its address is fixed from the node's creation on; it exists from a
// launch of the node until the program or a graph frees it, and again after the next launch.
#pragma once
#include <cstddef>

#include "runtime/api.hpp"

namespace vgpu::runtime {

class Runtime;

class GraphMemory {
 public:
  // Reserves the address. Throws Failure.
  GraphMemory(Runtime& runtime, std::size_t bytes, int device, const void* caller);
  // Memory that exists now becomes the program's to free.
  ~GraphMemory();
  GraphMemory(const GraphMemory&) = delete;
  GraphMemory& operator=(const GraphMemory&) = delete;

  void* pointer() const { return pointer_; }
  bool exists(const Runtime& runtime) const;
  void allocate(Runtime& runtime) const;

 private:
  void* pointer_ = nullptr;
  std::size_t bytes_;
  int device_;
  const void* caller_;
};

}  // namespace vgpu::runtime
