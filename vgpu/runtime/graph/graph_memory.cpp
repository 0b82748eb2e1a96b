// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/graph.hpp"

#include "runtime/allocations.hpp"

namespace vgpu::runtime {

GraphMemory::GraphMemory(Runtime& runtime, std::size_t bytes, int device, const void* caller)
    : bytes_(bytes), device_(device), caller_(caller) {
  const OnDevice there(device);
  runtime::allocate(runtime, &pointer_, bytes, Origin::kDevice, 0, caller);
  if (pointer_ == nullptr) refuse();
  runtime.pointers.remove(pointer_);
  runtime.memory.suspend(pointer_);
}

GraphMemory::~GraphMemory() {
  Runtime& runtime = Runtime::get();
  if (Block* const block = runtime.pointers.starting_at(pointer_); block != nullptr) {
    block->of_graph = false;
  } else if (runtime.memory.resume(pointer_)) {
    runtime.memory.free(pointer_);
  }
}

bool GraphMemory::exists(const Runtime& runtime) const {
  return runtime.pointers.starting_at(pointer_) != nullptr;
}

void GraphMemory::allocate(Runtime& runtime) const {
  if (!runtime.memory.resume(pointer_)) refuse(out_of_memory(runtime));
  Block& block = runtime.pointers.add(pointer_, bytes_, Origin::kDevice, device_);
  block.caller = caller_;
  block.of_graph = true;
}

}  // namespace vgpu::runtime
