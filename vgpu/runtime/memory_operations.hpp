// SPDX-License-Identifier: Apache-2.0
// Waiting for values in memory. Operations of streams and graphs wait until a value meets a
// condition, or write one (CUDA Driver API, "Stream Memory Operations"). A queued kernel waits for
// what others write: the host, copies, kernels of other streams.
#pragma once
#include <cstdint>
#include <vector>

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

// Where the memory at a device address can be written from. Called with the runtime's lock.
WorkQueue::Writer writer_of(const Runtime& runtime, std::uint64_t address);

// Used without the runtime's lock.
class KernelPatience : public Patience {
 public:
  explicit KernelPatience(Runtime& runtime) : runtime_(runtime) {}
  bool wait(const std::vector<std::uint64_t>& addresses, bool still) override;

 private:
  Runtime& runtime_;
};

}  // namespace vgpu::runtime
