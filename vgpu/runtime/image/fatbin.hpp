// SPDX-License-Identifier: Apache-2.0
// Reads the fat binaries that nvcc embeds: their entries, compressed or not. Nothing in the input
// is trusted: whatever does not add up throws Damaged. Knows nothing of the runtime or of the
// engine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace vgpu::image {

struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class Kind : std::uint16_t {
  kPtx = 1,
  kCubin = 2
};  // other kinds exist (LTO code); they are kept, unread

enum class Compression { kNone, kLz4, kZstd };

struct Entry {
  Kind kind{};
  std::uint32_t target = 0;    // 90 for compute_90 and sm_90
  bool arch_specific = false;  // compute_90a, sm_90a
  Compression compression = Compression::kNone;
  std::span<const std::byte>
      stored;  // as it lies in the fat binary; a plain entry may carry zero padding
  std::uint64_t plain_bytes = 0;  // after decompression; stored.size() if it is not compressed
};

inline constexpr std::size_t kFatBinaryHeader = 16;

// How many bytes a fat binary has, by its header.
std::size_t fat_binary_bytes(std::span<const std::byte, kFatBinaryHeader> header);

// The fat binary that a registration wrapper (what __cudaRegisterFatBinary gets) points to. Its
// extent is what its own header says: the one thing that has to be believed.
std::span<const std::byte> fat_binary_of(const void* wrapper);

// Whether the wrapper is that of device code linked by nvlink (-rdc=true): machine code only, its
// PTX stays behind.
bool is_linked(const void* wrapper);

// All entries, in order.
std::vector<Entry> read_entries(std::span<const std::byte> fat_binary);

// What the entry holds, decompressed.
std::string contents(const Entry& entry);

// The PTX text of an entry: contents up to the terminating zero.
std::string ptx_text(const Entry& entry);

// The PTX that a device of this target (90) would be given: the highest target not above its own,
// the architecture-specific one only for the very same target. Null if there is none.
const Entry* choose_ptx(std::span<const Entry> entries, std::uint32_t target);

// The machine code that the device would run as it is: same major version, highest minor not above.
// Null if none.
const Entry* choose_cubin(std::span<const Entry> entries, std::uint32_t target);

}  // namespace vgpu::image
