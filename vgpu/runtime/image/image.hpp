// SPDX-License-Identifier: Apache-2.0
// Reads the entries, compressed or not, of the fat binaries that nvcc embeds, and machine code. The
// input is not trusted: inconsistent data throw Damaged. This code depends on neither the runtime
// nor the engine.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace vgpu::image {

struct Damaged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Entries of other kinds (such as LTO code) are kept but never read.
enum class Kind : std::uint16_t { kPtx = 1, kCubin = 2 };

enum class Compression { kNone, kLz4, kZstd };

struct Entry {
  Kind kind{};
  std::uint32_t target = 0;    // 90 for compute_90 and sm_90
  bool arch_specific = false;  // compute_90a, sm_90a
  Compression compression = Compression::kNone;
  // the bytes in the fat binary; an uncompressed entry may end with zero padding
  std::span<const std::byte> stored;
  std::uint64_t plain_bytes = 0;  // size after decompression; stored.size() if it is not compressed
};

inline constexpr std::size_t kFatBinaryHeader = 16;

// The size of a fat binary in bytes, from its header.
std::size_t fat_binary_bytes(std::span<const std::byte, kFatBinaryHeader> header);

// The fat binary of a registration wrapper (the argument of __cudaRegisterFatBinary). Its size is
// taken from its own header, because no other source exists.
std::span<const std::byte> fat_binary_of(const void* wrapper);

// The fat binaries of the units of a program whose device code nvlink has linked (-rdc=true): its
// wrapper lists them for the driver. None of other programs. Linked code has no PTX; the units may.
std::vector<std::span<const std::byte>> linked_units(const void* wrapper);

// All entries, in order.
std::vector<Entry> read_entries(std::span<const std::byte> fat_binary);

// The contents of the entry, decompressed.
std::string contents(const Entry& entry);

// The PTX text of an entry: contents up to the terminating zero.
std::string ptx_text(const Entry& entry);

// The PTX that the driver would select for a device of this target (such as 90): the entry with the
// highest target that is not above the device's. An architecture-specific entry is selected only
// for exactly its target. Null if there is none.
const Entry* choose_ptx(std::span<const Entry> entries, std::uint32_t target);

// The machine code that the device can execute: the same major version, and the highest minor
// version that is not above the device's. Null if there is none.
const Entry* choose_cubin(std::span<const Entry> entries, std::uint32_t target);

// Decompresses the LZ4 block format, which `nvcc --compress-mode=speed` uses. Throws Damaged unless
// the block decompresses to exactly `plain_bytes` bytes.
std::string lz4_decompress(std::span<const std::byte> block, std::size_t plain_bytes);

// Reads little-endian values from bytes that may be damaged.
template <class T>
T load(std::span<const std::byte> bytes, std::size_t offset) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset)
    throw Damaged("data end too early");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

// The resources that ptxas assigned to each kernel, read from a cubin (an ELF file). PTX does not
// contain them.
struct Resources {
  std::uint32_t registers = 0;  // per thread
  // named barriers per block: the highest number used plus 1; 16 if a barrier number is computed at
  // run time
  std::uint32_t barriers = 0;
  // static shared memory, including the bytes that the system reserves in front of it
  std::uint32_t shared_bytes = 0;
  bool operator==(const Resources&) const = default;
};

// A cubin's size follows from its headers. First the end of its tables of sections and segments,
// from the ELF header; then, from the tables, the end of the file. Both throw Damaged.
inline constexpr std::size_t kCubinHeader = 64;
std::size_t cubin_tables_end(std::span<const std::byte> header);
std::size_t cubin_bytes(std::span<const std::byte> up_to_tables);

// The target, such as 90 for sm_90. Throws Damaged.
std::uint32_t cubin_target(std::span<const std::byte> header);

// The resources by mangled name, including those of device functions. Throws Damaged.
std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin);

}  // namespace vgpu::image
