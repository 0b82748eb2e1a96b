// SPDX-License-Identifier: Apache-2.0
// Copies and fills. Device memory is host memory, so that a copy is a memmove. The rest of this
// file makes the checks that a real device makes.
#include "runtime/copies.hpp"

#include <fmt/format.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "memory/shadow.hpp"
#include "runtime/allocations.hpp"
#include "runtime/graph/capture.hpp"
#include "runtime/launch.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

// The distance in bytes from the first byte to the end of the last row. If it overflows, the
// largest size, which fits nowhere.
std::size_t extent(std::size_t pitch, Plane plane) {
  std::size_t bytes = 0;
  const bool overflow = __builtin_mul_overflow(plane.rows - 1, pitch, &bytes) ||
                        __builtin_add_overflow(bytes, plane.width, &bytes);
  return overflow ? std::numeric_limits<std::size_t>::max() : bytes;
}

// One side of a copy.
struct Side {
  const char* name;  // "source", "destination"
  const void* pointer;
  std::size_t pitch;
  bool device;  // true: it must be memory that the device can access
};

bool can_use_host(const Side& side, Plane plane, bool writes) {
  const auto can_use = [&](const void* at, std::size_t bytes) {
    return writes ? can_write(const_cast<void*>(at), bytes) : can_read(at, bytes);
  };
  if (can_use(side.pointer, extent(side.pitch, plane))) return true;
  for (std::size_t row = 0; plane.rows > 1; ++row) {  // the gaps between rows may be inaccessible
    if (row == plane.rows) return true;
    if (!can_use(static_cast<const std::byte*>(side.pointer) + row * side.pitch, plane.width))
      break;
  }
  return false;
}

// Checks one side of a copy. A range of host memory must be accessible, and a range that begins
// inside device memory must not leave its allocation.
void check_side(Runtime& runtime, const char* function, const Side& side, Plane plane,
                bool writes) {
  const std::size_t bytes = extent(side.pitch, plane);
  const auto address = reinterpret_cast<std::uintptr_t>(side.pointer);
  if (runtime.memory.contains(side.pointer, bytes)) return;
  if (!side.device && runtime.memory.find(address) == nullptr) {
    if (can_use_host(side, plane, writes)) return;
    const Failure failure{
        cudaErrorInvalidValue,
        fmt::format("{}: {} of {} bytes at {:#x} is not memory that the program can {}{}", function,
                    side.name, bytes, address, writes ? "write" : "read",
                    side.pointer == nullptr ? ": a null pointer" : "")};
    if (runtime.settings.checks.memory)
      report_check(runtime, {"bad host pointer", "", failure.message, "", 0});
    throw failure;
  }
  const bool begins_inside = runtime.memory.contains(side.pointer, 1);
  refuse(cudaErrorInvalidValue,
         fmt::format("{}: {} of {} bytes at {:#x} {}: {}", function, side.name, bytes, address,
                     begins_inside ? "is longer than its allocation" : "is not device memory",
                     runtime.memory.describe(address)));
}

// Returns a fault if the bytes were computed from shared memory that was never written.
std::optional<Fault> doubt_about(Runtime& runtime, const char* function, const void* from,
                                 std::size_t bytes) {
  const auto doubt = runtime.memory.doubt_in(from, bytes);
  if (!doubt) return std::nullopt;
  Fault fault = *doubt->why;
  static_cast<std::runtime_error&>(fault) = std::runtime_error(
      fmt::format("{}\n  {} takes them away: address 0x{:x}, {}", fault.what(), function,
                  doubt->address, runtime.memory.describe(doubt->address)));
  return fault;
}

// How many of the bytes were never written.
std::size_t unwritten_in(const Memory& memory, const void* from, std::size_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  const Allocation* const block = memory.find(address);
  const Shadow* const shadow = memory.shadow();
  if (block == nullptr || block->written || !block->name.empty() || shadow == nullptr ||
      !shadow->covers(address, bytes))
    return 0;
  const std::uint64_t first = address - shadow->begin(), end = first + bytes;
  const std::uint8_t* const marks = shadow->written();
  constexpr unsigned kWhole = 15;
  unsigned all = kWhole;  // mostly every word is written
  for (std::uint64_t word = first / 4; word != (end + 3) / 4; ++word) all &= marks[word];
  if (all == kWhole) return 0;
  std::size_t unwritten = 0;
  for (std::uint64_t byte = first; byte != end; ++byte)
    unwritten += (marks[byte / 4] >> byte % 4 & 1) == 0 ? 1 : 0;
  return unwritten;
}

// Prints, once per process, that a copy gives the host bytes that were never written, which the
// program may mistake for results.
void remark_unwritten(const Runtime& runtime, const char* function, const void* to,
                      const void* from, std::size_t bytes) {
  static std::atomic_flag said;
  if (!runtime.settings.checks.init || said.test()) return;
  const Allocation* const target = runtime.memory.find(reinterpret_cast<std::uintptr_t>(to));
  if (target != nullptr && !target->shared) return;
  const std::size_t unwritten = unwritten_in(runtime.memory, from, bytes);
  if (unwritten == 0 || said.test_and_set()) return;
  say(fmt::format(
      "{}: {} of the {} bytes that the host receives were never written: 0 here, on a "
      "GPU what the memory held before\n  no fault in itself, if the program does not use them",
      function, unwritten, bytes));
}

void check_copy(Runtime& runtime, const char* function, void* to, std::size_t to_pitch,
                const void* from, std::size_t from_pitch, Plane plane, cudaMemcpyKind kind) {
  check_kind(kind);
  if (plane.empty()) return;
  if (plane.rows > 1 && (plane.width > to_pitch || plane.width > from_pitch))
    refuse(cudaErrorInvalidPitchValue);
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  check_side(runtime, function, {"destination", to, to_pitch, to_device}, plane, true);
  check_side(runtime, function, {"source", from, from_pitch, from_device}, plane, false);
}

void check_set(Runtime& runtime, const char* function, void* to, std::size_t pitch, Plane plane) {
  if (plane.empty()) return;
  if (plane.rows > 1 && plane.width > pitch) refuse(cudaErrorInvalidPitchValue);
  check_side(runtime, function, {"destination", to, pitch, true}, plane, true);
}

// Calls `use`, copy or check_copy, for every layer.
template <class Use>
void for_each_layer(Runtime& runtime, const char* function, const cudaMemcpy3DParms& what,
                    Use use) {
  if (what.srcArray != nullptr || what.dstArray != nullptr)
    return for_each_layer(runtime, function, without_arrays(runtime, what), use);
  const cudaExtent& extent = what.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) return;
  const auto start = [](const cudaPitchedPtr& memory, const cudaPos& at, std::size_t z) {
    return static_cast<std::byte*>(memory.ptr) + ((at.z + z) * memory.ysize + at.y) * memory.pitch +
           at.x;
  };
  const auto fits = [&](const cudaPitchedPtr& memory, const cudaPos& at) {
    return extent.depth == 1 || at.y + extent.height <= memory.ysize;
  };
  if (!fits(what.srcPtr, what.srcPos) || !fits(what.dstPtr, what.dstPos)) refuse();
  // Pass a null pointer unchanged, so that the error message names it and not an offset from it.
  if (what.srcPtr.ptr == nullptr || what.dstPtr.ptr == nullptr) {
    return use(runtime, function, what.dstPtr.ptr, what.dstPtr.pitch, what.srcPtr.ptr,
               what.srcPtr.pitch, {extent.width, extent.height}, what.kind);
  }
  for (std::size_t z = 0; z < extent.depth; ++z) {
    use(runtime, function, start(what.dstPtr, what.dstPos, z), what.dstPtr.pitch,
        start(what.srcPtr, what.srcPos, z), what.srcPtr.pitch, {extent.width, extent.height},
        what.kind);
  }
}

void check_element(unsigned size) {
  if (size != 1 && size != 2 && size != 4) refuse();
}

void copy_3d(Runtime& runtime, const char* function, const cudaMemcpy3DParms& what) {
  for_each_layer(runtime, function, what, copy);
}

void set_elements(Runtime& runtime, const char* function, const cudaMemsetParams& what) {
  const std::size_t size = what.elementSize, width = what.width * size;
  check_element(what.elementSize);
  // set() makes the checks. Larger elements are stored afterwards.
  set(runtime, function, what.dst, what.pitch, static_cast<int>(what.value & 255),
      {width, what.height});
  if (size == 1) return;
  for (std::size_t row = 0; row < what.height; ++row) {
    std::byte* const at = static_cast<std::byte*>(what.dst) + row * what.pitch;
    for (std::size_t i = 0; i < width; i += size) std::memcpy(at + i, &what.value, size);
    runtime.memory.mark_written(at, width);
  }
}

}  // namespace

void check_kind(cudaMemcpyKind kind) {
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault)
    refuse(cudaErrorInvalidMemcpyDirection);
}

void copy(Runtime& runtime, const char* function, void* to, std::size_t to_pitch, const void* from,
          std::size_t from_pitch, Plane plane, cudaMemcpyKind kind) {
  check_copy(runtime, function, to, to_pitch, from, from_pitch, plane, kind);
  if (plane.empty()) return;
  if (plane.width == to_pitch && plane.width == from_pitch) plane = {plane.width * plane.rows, 1};
  auto* target = static_cast<std::byte*>(to);
  const auto* source = static_cast<const std::byte*>(from);
  for (std::size_t row = 0; row < plane.rows; ++row) {
    if (runtime.settings.checks.init_shared && !runtime.memory.can_doubt(target + row * to_pitch)) {
      if (auto fault = doubt_about(runtime, function, source + row * from_pitch, plane.width)) {
        if (runtime.settings.fail_fast) {
          keep_fault(runtime, *fault);
          refuse(runtime.fault.code);
        }
        keep_finding(runtime, *fault, 1);
      }
    }
    remark_unwritten(runtime, function, target + row * to_pitch, source + row * from_pitch,
                     plane.width);
    runtime.memory.copy(target + row * to_pitch, source + row * from_pitch, plane.width);
  }
}

void set(Runtime& runtime, const char* function, void* to, std::size_t pitch, int value,
         Plane plane) {
  check_set(runtime, function, to, pitch, plane);
  if (plane.empty()) return;
  if (plane.width == pitch) plane = {plane.width * plane.rows, 1};
  auto* target = static_cast<std::byte*>(to);
  for (std::size_t row = 0; row < plane.rows; ++row)
    runtime.memory.fill(target + row * pitch, value & 255, plane.width);
}

void copy_in_stream(Runtime& runtime, cudaStream_t handle, const char* function,
                    const CopyWork& work, bool blocking) {
  Stream& stream = stream_for(runtime, handle);
  if (capture_of(stream) != nullptr) return record(stream, work);
  if (work.what.srcArray != nullptr || work.what.dstArray != nullptr) {
    return copy_in_stream(runtime, handle, function, {without_arrays(runtime, work.what)},
                          blocking);
  }
  const auto known = [&](const cudaPitchedPtr& memory) {
    return runtime.memory.find(reinterpret_cast<std::uintptr_t>(memory.ptr)) != nullptr;
  };
  // The program may change pageable memory when the call returns.
  if (!blocking && known(work.what.srcPtr) && known(work.what.dstPtr))
    return submit_copy(runtime, stream, function, work.what);
  const Tasks before = predecessors(runtime, stream);
  if (!before.unfinished.empty()) for_each_layer(runtime, function, work.what, check_copy);
  await(runtime, before);
  copy_3d(runtime, function, work.what);
}

void submit_copy(Runtime& runtime, Stream& stream, const char* function,
                 const cudaMemcpy3DParms& what) {
  run_in_order(
      runtime, stream, [&] { for_each_layer(runtime, function, what, check_copy); },
      [&runtime, function, what] { copy_3d(runtime, function, what); });
}

void submit_set(Runtime& runtime, Stream& stream, const char* function,
                const cudaMemsetParams& what) {
  const auto check = [&] {
    check_element(what.elementSize);
    check_set(runtime, function, what.dst, what.pitch,
              {what.width * what.elementSize, what.height});
  };
  run_in_order(runtime, stream, check,
               [&runtime, function, what] { set_elements(runtime, function, what); });
}

void set_in(Runtime& runtime, cudaStream_t stream, const char* function, const SetWork& work) {
  Stream& on = stream_for(runtime, stream);
  if (capture_of(on) != nullptr)
    record(on, work);
  else
    submit_set(runtime, on, function, work.what);
}

void copy_at_once(Runtime& runtime, const char* function, const CopyWork& work) {
  check_kind(work.what.kind);
  refuse_in_captured_default(runtime);
  copy_in_stream(runtime, kDefaultStream, function, work,
                 work.what.kind != cudaMemcpyDeviceToDevice);
}

}  // namespace vgpu::runtime
