// SPDX-License-Identifier: Apache-2.0
// Operations of streams and graphs on values in memory: they wait until a value meets a condition,
// or write one. CUDA Driver API, "Stream Memory Operations".
#pragma once
#include <cstdint>

#include "runtime/graph/memory_operation.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// With the layout of CUDA_BATCH_MEM_OP_NODE_PARAMS.
struct MemoryOperations {
  void* context = nullptr;
  std::uint32_t count = 0;
  const MemoryOperation* operations = nullptr;
  std::uint32_t flags = 0;
};

constexpr auto kMemoryOperationsNode = static_cast<cudaGraphNodeType>(12);

// The work of such a node, or of a stream. Throws Failure if an operation is none or its address is
// not where a value may be.
MemoryWork memory_work(Runtime& runtime, const MemoryOperations& params);

// Queues the operations, one after the other.
void submit(Runtime& runtime, Stream& stream, const MemoryWork& work);

}  // namespace vgpu::runtime
