// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory_operations.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

constexpr std::uint32_t kMostOperations = 256;

bool is_known(const MemoryOperation& operation) {
  switch (operation.type) {
    case MemoryOperation::kWait32:
    case MemoryOperation::kWait64: return operation.flags <= MemoryOperation::kNor;
    case MemoryOperation::kWrite32:
    case MemoryOperation::kWrite64:
      return operation.flags == 0;  // the one flag is of the first form of these functions
    case MemoryOperation::kBarrier: return operation.barrier <= 1;
    default: return false;
  }
}

std::byte* pointer_to(std::uint64_t address) {
  return reinterpret_cast<std::byte*>(address);  // NOLINT(performance-no-int-to-ptr)
}

bool is_in_memory(const Runtime& runtime, const MemoryOperation& operation) {
  const Block* const block = runtime.pointers.covering(pointer_to(operation.address));
  return block != nullptr && block->origin != Origin::kManaged &&
         operation.address - block->begin <= block->bytes - operation.bytes();
}

void check(const Runtime& runtime, const MemoryOperation& operation) {
  constexpr std::uint32_t kFlush = 1U << 30;
  const bool waits =
      operation.type == MemoryOperation::kWait32 || operation.type == MemoryOperation::kWait64;
  if (waits && (operation.flags & kFlush) != 0) refuse(cudaErrorNotSupported);
  if (!is_known(operation)) refuse();
  if (operation.type == MemoryOperation::kBarrier) return;
  if (operation.address % operation.bytes() != 0)
    refuse(cudaErrorInvalidValue, fmt::format("a value of {} bytes at 0x{:x}, which is not aligned",
                                              operation.bytes(), operation.address));
  if (!is_in_memory(runtime, operation))
    refuse(
        cudaErrorInvalidValue,
        fmt::format(
            "a value of {} bytes at 0x{:x}, which is neither in device memory nor in mapped host "
            "memory",
            operation.bytes(), operation.address));
}

std::uint64_t value_at(const MemoryOperation& operation) {
  const std::byte* const at = pointer_to(operation.address);
  return operation.bytes() == 8
             ? __atomic_load_n(reinterpret_cast<const std::uint64_t*>(at), __ATOMIC_ACQUIRE)
             : __atomic_load_n(reinterpret_cast<const std::uint32_t*>(at), __ATOMIC_ACQUIRE);
}

bool holds(const MemoryOperation& operation, std::uint64_t found) {
  const std::uint64_t all = operation.bytes() == 8 ? ~std::uint64_t{0} : ~std::uint32_t{0};
  const std::uint64_t wanted = operation.value & all;
  switch (operation.flags) {
    case MemoryOperation::kGreaterOrEqual:
      return ((found - wanted) & (all ^ all >> 1)) == 0;  // of the difference as a signed number
    case MemoryOperation::kEqual: return found == wanted;
    case MemoryOperation::kAnd: return (found & wanted) != 0;
    default: return (~(found | wanted) & all) != 0;
  }
}

void wait_for(Runtime& runtime, const MemoryOperation& operation) {
  std::uint64_t found = value_at(operation), former = ~found;
  while (!holds(operation, found)) {
    if (runtime.fault.code != cudaSuccess) throw Abandoned();
    if (!runtime.queue.let_others_run(writer_of(runtime, operation.address), found == former))
      refuse(cudaErrorLaunchTimeout,
             fmt::format("a stream waits for the value at 0x{:x}, which nothing writes any more",
                         operation.address));
    former = found;
    found = value_at(operation);
  }
}

void write(Runtime& runtime, const MemoryOperation& operation) {
  std::byte* const at = pointer_to(operation.address);
  if (operation.bytes() == 8)
    __atomic_store_n(reinterpret_cast<std::uint64_t*>(at), operation.value, __ATOMIC_RELEASE);
  else
    __atomic_store_n(reinterpret_cast<std::uint32_t*>(at),
                     static_cast<std::uint32_t>(operation.value), __ATOMIC_RELEASE);
  runtime.memory.mark_written(at, operation.bytes());
}

}  // namespace

MemoryWork memory_work(Runtime& runtime, const MemoryOperations& params) {
  if ((params.operations == nullptr && params.count != 0) || params.count > kMostOperations ||
      params.flags != 0)
    refuse();
  MemoryWork work{params.context, {params.operations, params.operations + params.count}};
  for (const MemoryOperation& operation : work.operations) check(runtime, operation);
  return work;
}

void submit(Runtime& runtime, Stream& stream, const MemoryWork& work) {
  submit(runtime, stream, [&runtime, operations = work.operations] {
    for (const MemoryOperation& operation : operations) {
      if (operation.type == MemoryOperation::kBarrier) continue;  // all work is ordered
      if (!is_in_memory(runtime, operation))
        refuse(cudaErrorIllegalAddress,
               fmt::format("a stream's value at 0x{:x}: the memory was freed", operation.address));
      if (operation.waits())
        wait_for(runtime, operation);
      else
        write(runtime, operation);
    }
  });
}

using Writer = WorkQueue::Writer;

Writer writer_of(const Runtime& runtime, std::uint64_t address) {
  const auto* const pointer =
      reinterpret_cast<const std::byte*>(address);  // NOLINT: a device address
  if (const Block* const block = runtime.pointers.covering(pointer)) {
    const auto* const begin = reinterpret_cast<const std::byte*>(block->begin);  // NOLINT: as above
    if (runtime.interprocess.is_shared(begin)) return Writer::kAnybody;
    switch (block->origin) {
      case Origin::kDevice: return Writer::kDevice;
      case Origin::kManaged:
      case Origin::kPinnedHost: return Writer::kHost;
      case Origin::kRegisteredHost:
      case Origin::kMapped: return Writer::kAnybody;  // processes may share it
    }
  }
  const auto& managed = runtime.modules.managed_variables();
  const bool is_managed = std::ranges::any_of(managed, [&](const Variable& variable) {
    const auto* const begin = static_cast<const std::byte*>(*variable.managed_pointer);
    return begin != nullptr && pointer >= begin && pointer < begin + variable.bytes;
  });
  return is_managed ? Writer::kHost : Writer::kDevice;
}

bool KernelPatience::wait(const std::vector<std::uint64_t>& addresses, bool still) {
  const std::scoped_lock lock(runtime_.mutex);
  if (runtime_.fault.code != cudaSuccess) throw Abandoned();  // another kernel's
  Writer writer = Writer::kDevice;
  for (const std::uint64_t address : addresses)
    writer = std::max(writer, writer_of(runtime_, address));
  return runtime_.queue.let_others_run(writer, still);
}

}  // namespace vgpu::runtime
