// SPDX-License-Identifier: Apache-2.0
#include "runtime/allocations.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "engine/kernel.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

const char* kind(Origin origin) {
  switch (origin) {
    case Origin::kDevice: return "device";
    case Origin::kManaged: return "managed";
    case Origin::kPinnedHost: return "pinned host";
    case Origin::kRegisteredHost: return "registered host";
    case Origin::kMapped: return "mapped device";
  }
  return "";
}

// Describes a code address with what the dynamic linker knows: "main+0x1a4 in ./program".
std::string place(const void* code) {
  Dl_info info{};
  if (code == nullptr || ::dladdr(code, &info) == 0) return "an unknown place";
  const auto distance = [&](const void* from) {
    return reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(from);
  };
  return info.dli_sname != nullptr
             ? fmt::format("{}+{:#x} in {}", demangle(info.dli_sname), distance(info.dli_saddr),
                           info.dli_fname)
             : fmt::format("{}+{:#x}", info.dli_fname, distance(info.dli_fbase));
}

std::string heap_leaks(const Runtime& runtime) {
  return fmt::format(
      "leak: {} bytes in {} blocks of the device's heap, from malloc in kernels, were never freed",
      runtime.heap.live_bytes(), runtime.heap.live_blocks());
}

}  // namespace

void allocate(Runtime& runtime, void** pointer, std::size_t bytes, Origin origin, unsigned flags,
              const void* caller) {
  if (pointer == nullptr) refuse();
  *pointer = nullptr;
  if (bytes == 0) return;
  if (origin != Origin::kPinnedHost) {
    const std::size_t used = runtime.pointers.bytes_on(Runtime::ordinal());
    if (bytes > runtime.device().memory_bytes - used) refuse(cudaErrorMemoryAllocation);
  }
  void* block = runtime.memory.allocate(bytes);
  if (block == nullptr && !runtime.queue.pending().empty()) {  // which may free memory
    await(runtime, all_tasks(runtime));
    block = runtime.memory.allocate(bytes);
  }
  if (block == nullptr) refuse(out_of_memory(runtime));
  // The host may write host-accessible memory at any time, and the runtime cannot detect it.
  if (origin != Origin::kDevice) runtime.memory.share(block);
  Block& added = runtime.pointers.add(block, bytes, origin, Runtime::ordinal(), flags);
  added.caller = caller;
  added.context = &owning_context(runtime);
  *pointer = block;
}

// Checks the call and forgets the block; returns whether it is of a graph.
static bool forget(Runtime& runtime, const char* function, void* pointer, bool host) {
  const Block* block = runtime.pointers.starting_at(pointer);
  if (block == nullptr || (block->origin == Origin::kPinnedHost) != host ||
      block->origin == Origin::kRegisteredHost || block->origin == Origin::kMapped ||
      runtime.interprocess.has_opened(pointer)) {
    if (!runtime.settings.checks.memory) refuse();
    const Failure failure{
        cudaErrorInvalidValue,
        fmt::format("{}: {} is not the start of a live allocation of this kind ({})", function,
                    fmt::ptr(pointer),
                    runtime.memory.describe(reinterpret_cast<std::uintptr_t>(pointer)))};
    report_check(runtime, {"invalid free", "", failure.message, "", 0});
    throw failure;
  }
  const bool of_graph = block->of_graph;
  runtime.pointers.remove(pointer);
  return of_graph;
}

static void give_back(Runtime& runtime, void* pointer, bool of_graph) {
  runtime.interprocess.forget(pointer);
  const bool freed = of_graph ? runtime.memory.suspend(pointer) : runtime.memory.free(pointer);
  if (!freed) refuse();
}

void release(Runtime& runtime, const char* function, void* pointer, bool host) {
  if (pointer == nullptr) return;
  give_back(runtime, pointer, forget(runtime, function, pointer, host));
}

void submit_release(Runtime& runtime, Stream& stream, const char* function, void* pointer) {
  if (pointer == nullptr) return;
  const bool of_graph = forget(runtime, function, pointer, false);
  run_in_order(
      runtime, stream, [] {},
      [&runtime, pointer, of_graph] { give_back(runtime, pointer, of_graph); });
}

std::string leaks(const Runtime& runtime) {
  constexpr std::size_t kShown = 20;
  std::vector<Block> left;
  std::size_t bytes = 0;
  for (const auto& [begin, block] : runtime.pointers.all()) {
    if (block.origin == Origin::kRegisteredHost || block.origin == Origin::kMapped) continue;
    left.push_back(block);
    bytes += block.bytes;
  }
  if (left.empty() && runtime.heap.live_blocks() == 0) return "";
  if (left.empty()) return heap_leaks(runtime);
  std::ranges::sort(left, {}, &Block::number);
  std::string report =
      fmt::format("leak: {} bytes in {} allocations were never freed", bytes, left.size());
  for (std::size_t i = 0; i < std::min(left.size(), kShown); ++i) {
    report += fmt::format("\n  {} bytes of {} memory at {:#x}, allocation {} of the program, by {}",
                          left[i].bytes, kind(left[i].origin), left[i].begin, left[i].number,
                          place(left[i].caller));
  }
  if (left.size() > kShown) report += fmt::format("\n  and {} more", left.size() - kShown);
  if (runtime.heap.live_blocks() != 0) report += "\n" + heap_leaks(runtime);
  return report;
}

}  // namespace vgpu::runtime
