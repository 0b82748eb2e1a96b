// SPDX-License-Identifier: Apache-2.0
// Device printf. The compiler passes the format and a buffer of arguments, each aligned to its
// size: 4 bytes for int, 8 for long, double and pointers. Text is collected by block. CUDA C++
// Programming Guide, "Formatted Output".
#include "machine/print.hpp"

#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdio>
#include <cstring>

#include <fmt/format.h>

#include "machine/fault.hpp"
#include "memory/heap.hpp"

namespace vgpu::machine {
namespace {

constexpr int kMostArguments = 32;

// Reads generic memory as one lane addresses it.
class Reader {
 public:
  Reader(const Warp& warp, const Insn& insn, u32 lane) : warp_(warp), insn_(insn), lane_(lane) {}

  template <class T>
  T read(u64 address) const {
    T value;
    for (u32 i = 0; i < sizeof(T); ++i) reinterpret_cast<u8*>(&value)[i] = byte(address + i);
    return value;
  }

  // Reads a string up to its end, or `most` characters.
  std::string text(u64 address, std::size_t most) const {
    std::string result;
    while (result.size() < most) {
      const u8 c = byte(address++);
      if (c == 0) break;
      result.push_back(static_cast<char>(c));
    }
    return result;
  }

 private:
  u8 byte(u64 address) const {
    const AddressSpace space = space_of(address, warp_.shared_window);
    const u64 offset = (address - warp_.shared_window) % kWindowBytes;
    switch (space) {
      case AddressSpace::kGlobal: {
        const Allocation* const allocation = allocation_at(warp_.block->launch, address);
        if (allocation == nullptr || allocation->freed) break;
        return *reinterpret_cast<const u8*>(address);
      }
      case AddressSpace::kShared:
        if (offset < warp_.shared_begin || offset >= warp_.shared_end) break;
        return static_cast<u8>(warp_.shared[offset]);
      case AddressSpace::kLocal:
        if (offset >= warp_.local_bytes) break;
        return static_cast<u8>(warp_.local[(offset / 4 * kLanes + lane_) * 4 + offset % 4]);
      case AddressSpace::kParam:
        if (offset >= warp_.param_bytes) break;
        return static_cast<u8>(warp_.params[offset]);
      case AddressSpace::kCluster:
      case AddressSpace::kFunction: break;
    }
    fault_access({warp_, insn_, lane_}, space, space == AddressSpace::kGlobal ? address : offset,
                 1);
  }

  const Warp& warp_;
  const Insn& insn_;
  u32 lane_;
};

template <class T>
T argument(const Warp& warp, const ParamPlace& place, u32 lane) {
  T value{};
  std::memcpy(&value, warp.window + place.slot + u64{lane} * place.bytes,
              std::min<std::size_t>(sizeof(T), place.bytes));
  return value;
}

// Writes the result to the call's first result place, or to two of 4 bytes, lower half first.
void give_result(Warp& warp, const Call& what, u32 lane, u64 value) {
  for (const ParamPlace& place : what.returns) {
    std::memcpy(warp.window + place.slot + u64{lane} * place.bytes, &value,
                std::min<std::size_t>(place.bytes, sizeof value));
    value = place.bytes < sizeof value ? value >> 8 * place.bytes : 0;
  }
}

class Formatter {
 public:
  // `room`: maximum length of the text in bytes; the rest is truncated.
  Formatter(const Reader& reader, u64 arguments, std::size_t room)
      : reader_(reader), next_(arguments), room_(room) {}

  std::string format(const std::string& pattern) {
    std::string result;
    for (std::size_t i = 0; i < pattern.size() && result.size() < room_;) {
      if (pattern[i] != '%') {
        result.push_back(pattern[i++]);
        continue;
      }
      i = conversion(pattern, i + 1, result);
    }
    result.resize(std::min(result.size(), room_));
    return result;
  }

  int taken() const { return taken_; }

 private:
  // `i`: the position after '%'. Returns the position after the conversion.
  std::size_t conversion(const std::string& pattern, std::size_t i, std::string& result) {
    const std::size_t begin = i;
    std::string spec = "%";
    // A width or a precision, limited because no kept text is longer than `room_`.
    const auto number = [&] {
      long long value = 0;
      if (i < pattern.size() && pattern[i] == '*') {
        ++i;
        value = taken_ < kMostArguments ? take<int>() : 0;
      } else {
        while (i < pattern.size() && std::isdigit(static_cast<unsigned char>(pattern[i])) != 0) {
          value = std::min<long long>(10 * value + (pattern[i++] - '0'), INT_MAX);
        }
      }
      const auto most = static_cast<long long>(std::min<std::size_t>(room_, kLongestField));
      return std::clamp(value, -most, most);
    };
    for (; i < pattern.size() && std::strchr("-+ #0", pattern[i]) != nullptr; ++i) {
      if (spec.find(pattern[i]) == spec.npos) spec.push_back(pattern[i]);
    }
    if (const long long width = number(); width != 0) spec += std::to_string(width);
    if (i < pattern.size() && pattern[i] == '.') {
      ++i;
      if (const long long precision = number(); precision >= 0)
        spec += fmt::format(".{}", precision);
    }
    std::string length;
    while (i < pattern.size() && std::strchr("hljztLq", pattern[i]) != nullptr)
      length.push_back(pattern[i++]);
    if (i >= pattern.size()) {
      result += "%" + pattern.substr(begin);
      return i;
    }
    const std::string as_written = pattern.substr(begin, i + 1 - begin);
    if (taken_ >= kMostArguments && pattern[i] != '%')
      result += "%" + as_written;
    else
      convert(spec, length, pattern[i], as_written, result);
    return i + 1;
  }

  void convert(const std::string& spec, const std::string& length, char kind,
               const std::string& as_written, std::string& result) {
    const bool wide = length.find_first_of("ljztLq") != std::string::npos;
    switch (kind) {
      case '%': result.push_back('%'); return;
      case 'd':
      case 'i': {
        long long value = wide ? take<long long>() : take<int>();
        if (length == "h") value = static_cast<short>(value);
        if (length == "hh") value = static_cast<i64>(static_cast<u64>(value) << 56) >> 56;
        append(result, spec + "ll" + kind, value);
        return;
      }
      case 'u':
      case 'o':
      case 'x':
      case 'X': {
        unsigned long long value = wide ? take<unsigned long long>() : take<unsigned>();
        if (length == "h") value = static_cast<unsigned short>(value);
        if (length == "hh") value = static_cast<unsigned char>(value);
        append(result, spec + "ll" + kind, value);
        return;
      }
      case 'c': append(result, spec + "c", take<int>()); return;
      case 'p': append(result, spec + "p", reinterpret_cast<void*>(take<u64>())); return;
      case 's': {
        const u64 address = take<u64>();
        append(result, spec + "s", address == 0 ? "(null)" : reader_.text(address, room_).c_str());
        return;
      }
      case 'f':
      case 'F':
      case 'e':
      case 'E':
      case 'g':
      case 'G':
      case 'a':
      case 'A': append(result, spec + kind, take<double>()); return;
      default: result += "%" + as_written;  // printed unchanged, as the hardware's driver does
    }
  }

  template <class T>
  T take() {
    next_ = (next_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    const T value = reader_.read<T>(next_);
    next_ += sizeof(T);
    ++taken_;
    return value;
  }

  template <class T>
  static void append(std::string& result, const std::string& spec, T value) {
    const int size = std::snprintf(nullptr, 0, spec.c_str(), value);
    if (size < 0) return;
    const std::size_t before = result.size();
    result.resize(before + static_cast<std::size_t>(size) + 1);
    std::snprintf(result.data() + before, static_cast<std::size_t>(size) + 1, spec.c_str(), value);
    result.pop_back();
  }

  static constexpr std::size_t kLongestField = INT_MAX / 2;

  const Reader& reader_;
  u64 next_;
  std::size_t room_;
  int taken_ = 0;
};

}  // namespace

void print(Warp& warp, const Insn& insn, const Call& what) {
  warp.block->counters.called_driver = true;
  const std::size_t capacity = warp.block->output.capacity();
  const std::size_t room = capacity - std::min(capacity, PrintFifo::kCallBytes);
  for (const u32 lane : SetBits(warp.mask)) {
    const Reader reader(warp, insn, lane);
    int result = -1;
    if (const u64 pattern = argument<u64>(warp, what.args[0], lane); pattern != 0) {
      Formatter formatter(reader, argument<u64>(warp, what.args[1], lane), room);
      warp.block->output.add(formatter.format(reader.text(pattern, room)));
      result = formatter.taken();
    }
    give_result(warp, what, lane, static_cast<u32>(result));
  }
}

void allocate(Warp& warp, const Call& what) {
  DeviceHeap* const heap = warp.block->launch.config.heap;
  warp.block->counters.called_driver = true;
  ++warp.progress;
  for (const u32 lane : SetBits(warp.mask)) {
    const u64 bytes = argument<u64>(warp, what.args[0], lane);
    give_result(warp, what, lane, heap == nullptr ? 0 : heap->allocate(bytes));
  }
}

void free(Warp& warp, const Insn& insn, const Call& what) {
  DeviceHeap* const heap = warp.block->launch.config.heap;
  warp.block->counters.called_driver = true;
  ++warp.progress;
  for (const u32 lane : SetBits(warp.mask)) {
    const u64 address = argument<u64>(warp, what.args[0], lane);
    if (address == 0 || (heap != nullptr && heap->free(address))) continue;
    const Allocation* const known = heap == nullptr ? nullptr : heap->find(address);
    const bool twice = known != nullptr && known->freed && known->begin == address;
    fault({warp, insn, lane}, twice ? FaultKind::kUseAfterFree : FaultKind::kBadOperand,
          twice ? "free of memory that was freed before" : "free of what malloc has not returned",
          fmt::format("address 0x{:x}: {}", address, describe_global(warp.block->launch, address)));
  }
}

void report_assertion(Warp& warp, const Insn& insn, const Call& what) {
  const u32 lane = static_cast<u32>(__builtin_ctz(warp.mask));
  const Reader reader(warp, insn, lane);
  const auto text = [&](std::size_t i) {
    const u64 address = argument<u64>(warp, what.args[i], lane);
    constexpr std::size_t kLongest = 4096;
    return address == 0 ? std::string() : reader.text(address, kLongest);
  };
  fault({warp, insn, lane}, FaultKind::kAssert, fmt::format("assertion `{}` failed", text(0)),
        fmt::format("asserted at {}:{} in {}", text(1), argument<u32>(warp, what.args[2], lane),
                    text(3)));
}

}  // namespace vgpu::machine
