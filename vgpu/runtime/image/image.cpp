// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <zstd.h>

#include <algorithm>

#include "runtime/image/image.hpp"
#include "sass/elf/cubin.hpp"

namespace vgpu::image {
namespace {

constexpr std::uint32_t kWrapperMagic = 0x466243b1;
constexpr std::uint32_t kFatBinaryMagic = 0xBA55ED50;
// Offsets of fields in an entry's header. A file name and options follow, so that the header's size
// varies.
constexpr std::size_t kKind = 0, kHeaderSize = 4, kSize = 8, kCompressedSize = 16, kTarget = 28,
                      kFlags = 40, kPlainSize = 56, kEntryHeader = 64;
constexpr std::uint64_t kFlagLz4 = 0x2000, kFlagZstd = 0x8000, kFlagArchSpecific = 0x100000;

// Larger than any real module, so that a damaged size cannot cause a huge allocation.
constexpr std::uint64_t kLargestPlainSize = std::uint64_t{1} << 30;

struct Wrapper {
  std::uint32_t magic, version;
  const std::byte* data;
  const std::byte* const* units;  // of kLinkedVersion: those of the units, and a null pointer
};
constexpr std::uint32_t kLinkedVersion = 2;

Wrapper read_wrapper(const void* wrapper) {
  Wrapper w;
  std::memcpy(&w, wrapper, sizeof w);
  if (w.magic != kWrapperMagic)
    throw Damaged(fmt::format("registration wrapper's magic is {:#x}", w.magic));
  return w;
}

Entry read_entry(std::span<const std::byte> bytes, std::size_t header_size, std::size_t size) {
  Entry entry;
  entry.kind = static_cast<Kind>(load<std::uint16_t>(bytes, kKind));
  entry.target = load<std::uint32_t>(bytes, kTarget);
  const auto flags = load<std::uint64_t>(bytes, kFlags);
  entry.arch_specific = (flags & kFlagArchSpecific) != 0;
  entry.stored = bytes.subspan(header_size, size);
  entry.plain_bytes = size;
  if ((flags & (kFlagZstd | kFlagLz4)) == 0) return entry;

  entry.compression = (flags & kFlagZstd) != 0 ? Compression::kZstd : Compression::kLz4;
  entry.plain_bytes = load<std::uint64_t>(bytes, kPlainSize);
  const auto compressed = load<std::uint32_t>(bytes, kCompressedSize);
  if (compressed > size) {
    throw Damaged(fmt::format("entry of {} bytes claims {} compressed bytes", size, compressed));
  }
  if (entry.plain_bytes > kLargestPlainSize) {
    throw Damaged(fmt::format("entry claims {} bytes when decompressed", entry.plain_bytes));
  }
  entry.stored = entry.stored.first(compressed);
  return entry;
}

// A block is a series of sequences. A sequence consists of a token (4 bits of literal length, 4
// bits of match length), the literals and a 16-bit distance back. If a length is 15, more bytes
// follow that are added to it, and each byte of 255 is followed by another one.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> block) : rest_(block) {}
  bool empty() const { return rest_.empty(); }

  std::size_t byte() {
    if (rest_.empty()) throw Damaged("LZ4: block ends inside a sequence");
    const auto value = std::to_integer<std::size_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  std::size_t length(std::size_t nibble) {
    std::size_t total = nibble;
    if (nibble == 15) {
      for (std::size_t more = 255; more == 255; total += more) more = byte();
    }
    return total;
  }

  std::span<const std::byte> take(std::size_t n) {
    if (n > rest_.size()) throw Damaged("LZ4: literals run past the block's end");
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

constexpr std::size_t kShortestMatch = 4;
constexpr std::size_t kBestRatio = 255;  // the format cannot compress better

constexpr std::uint32_t kNoBits = 8;  // SHT_NOBITS

std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    throw Damaged("cubin: section outside the file");
  return bytes.subspan(offset, size);
}

}  // namespace

// magic u32, version u16, header size u16, size of all entries u64
std::size_t fat_binary_bytes(std::span<const std::byte, kFatBinaryHeader> header) {
  if (load<std::uint32_t>(header, 0) != kFatBinaryMagic) throw Damaged("not a fat binary");
  std::size_t bytes = 0;
  if (__builtin_add_overflow(load<std::uint16_t>(header, 6), load<std::uint64_t>(header, 8),
                             &bytes))
    throw Damaged("a fat binary larger than memory");
  return bytes;
}

static std::span<const std::byte> whole(const std::byte* fat_binary) {
  return {fat_binary, fat_binary_bytes(std::span<const std::byte, kFatBinaryHeader>(
                          fat_binary, kFatBinaryHeader))};
}

std::span<const std::byte> fat_binary_of(const void* wrapper) {
  const Wrapper w = read_wrapper(wrapper);
  if (w.data == nullptr) throw Damaged("registration wrapper points to nothing");
  return whole(w.data);
}

std::vector<std::span<const std::byte>> linked_units(const void* wrapper) {
  const Wrapper w = read_wrapper(wrapper);
  std::vector<std::span<const std::byte>> units;
  if (w.version != kLinkedVersion || w.units == nullptr) return units;
  for (const std::byte* const* unit = w.units; *unit != nullptr; ++unit)
    units.push_back(whole(*unit));
  return units;
}

std::vector<Entry> read_entries(std::span<const std::byte> fat_binary) {
  if (load<std::uint32_t>(fat_binary, 0) != kFatBinaryMagic) throw Damaged("not a fat binary");
  const std::size_t header = load<std::uint16_t>(fat_binary, 6);
  const auto body_size = load<std::uint64_t>(fat_binary, 8);
  if (header < kFatBinaryHeader || header > fat_binary.size() ||
      body_size > fat_binary.size() - header) {
    throw Damaged(fmt::format("header of {} and entries of {} bytes in a fat binary of {}", header,
                              body_size, fat_binary.size()));
  }
  std::vector<Entry> entries;
  std::span<const std::byte> rest = fat_binary.subspan(header, body_size);
  while (!rest.empty()) {
    const std::size_t header_size = load<std::uint32_t>(rest, kHeaderSize);
    const auto size = load<std::uint64_t>(rest, kSize);
    if (header_size < kEntryHeader || header_size > rest.size() ||
        size > rest.size() - header_size) {
      throw Damaged(fmt::format("entry {}: header of {} and contents of {} bytes where {} are left",
                                entries.size(), header_size, size, rest.size()));
    }
    entries.push_back(read_entry(rest, header_size, size));
    rest = rest.subspan(header_size + size);
  }
  return entries;
}

std::string contents(const Entry& entry) {
  std::string plain;
  switch (entry.compression) {
    case Compression::kNone:
      plain.assign(reinterpret_cast<const char*>(entry.stored.data()), entry.stored.size());
      break;
    case Compression::kLz4: plain = lz4_decompress(entry.stored, entry.plain_bytes); break;
    case Compression::kZstd: {
      // Check the size before memory is allocated for it.
      if (ZSTD_getFrameContentSize(entry.stored.data(), entry.stored.size()) != entry.plain_bytes) {
        throw Damaged(fmt::format("zstd: the frame does not hold {} bytes", entry.plain_bytes));
      }
      plain.resize(entry.plain_bytes);
      const std::size_t got =
          ZSTD_decompress(plain.data(), plain.size(), entry.stored.data(), entry.stored.size());
      if (ZSTD_isError(got)) throw Damaged(fmt::format("zstd: {}", ZSTD_getErrorName(got)));
      if (got != plain.size()) {
        throw Damaged(fmt::format("zstd: {} bytes where {} were promised", got, plain.size()));
      }
      break;
    }
  }
  return plain;
}

std::string ptx_text(const Entry& entry) {
  std::string text = contents(entry);
  text.resize(std::min(text.find('\0'), text.size()));
  return text;
}

const Entry* choose_ptx(std::span<const Entry> entries, std::uint32_t target) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (entry.kind != Kind::kPtx || entry.target > target) continue;
    if (entry.arch_specific && entry.target != target) continue;
    const bool better =
        best == nullptr || entry.target > best->target ||
        (entry.target == best->target && entry.arch_specific && !best->arch_specific);
    if (better) best = &entry;
  }
  return best;
}

const Entry* choose_cubin(std::span<const Entry> entries, std::uint32_t target) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries) {
    if (entry.kind != Kind::kCubin || entry.target / 10 != target / 10 || entry.target > target)
      continue;
    if (entry.arch_specific && entry.target != target) continue;
    if (best == nullptr || entry.target > best->target) best = &entry;
  }
  return best;
}

std::string lz4_decompress(std::span<const std::byte> block, std::size_t plain_bytes) {
  if (plain_bytes / kBestRatio > block.size())
    throw Damaged("LZ4: block too short for the size it claims");
  std::string plain;
  plain.reserve(plain_bytes);
  Reader in(block);
  while (!in.empty()) {
    const std::size_t token = in.byte();
    const auto literals = in.take(in.length(token >> 4));
    if (literals.size() > plain_bytes - plain.size())
      throw Damaged("LZ4: more bytes than promised");
    plain.append(reinterpret_cast<const char*>(literals.data()), literals.size());
    if (in.empty()) break;  // the last sequence has literals only

    const std::size_t low = in.byte();
    const std::size_t distance = low | in.byte() << 8;
    const std::size_t match = in.length(token & 15) + kShortestMatch;
    if (distance == 0 || distance > plain.size()) throw Damaged("LZ4: match before the beginning");
    if (match > plain_bytes - plain.size()) throw Damaged("LZ4: more bytes than promised");
    // Copied byte by byte, because a match may overlap its own output.
    for (std::size_t i = 0; i < match; ++i) plain.push_back(plain[plain.size() - distance]);
  }
  if (plain.size() != plain_bytes) throw Damaged("LZ4: fewer bytes than promised");
  return plain;
}

std::size_t cubin_tables_end(std::span<const std::byte> header) {
  const auto end = [&](std::size_t offset, std::size_t entry, std::size_t count) {
    std::size_t bytes = 0;
    if (__builtin_add_overflow(
            load<std::uint64_t>(header, offset),
            std::uint64_t{load<std::uint16_t>(header, entry)} * load<std::uint16_t>(header, count),
            &bytes))
      throw Damaged("cubin: a table larger than memory");
    return bytes;
  };
  return std::max({kCubinHeader, end(0x20, 0x36, 0x38), end(0x28, 0x3a, 0x3c)});
}

std::size_t cubin_bytes(std::span<const std::byte> up_to_tables) {
  const auto table = load<std::uint64_t>(up_to_tables, 0x28);
  const std::size_t entry_size = load<std::uint16_t>(up_to_tables, 0x3a);
  const std::size_t count = load<std::uint16_t>(up_to_tables, 0x3c);
  if (count != 0 && entry_size < 64) throw Damaged("cubin: bad section table");
  std::size_t bytes = up_to_tables.size();
  for (std::size_t i = 0; i < count; ++i) {
    const auto header = range(up_to_tables, table + i * entry_size, entry_size);
    if (load<std::uint32_t>(header, 4) == kNoBits) continue;
    std::size_t end = 0;
    if (__builtin_add_overflow(load<std::uint64_t>(header, 24), load<std::uint64_t>(header, 32),
                               &end))
      throw Damaged("cubin: section larger than memory");
    bytes = std::max(bytes, end);
  }
  return bytes;
}

// CUDA 12 and older number the architecture in other bits of the flags.
std::uint32_t cubin_target(std::span<const std::byte> header) {
  constexpr std::uint8_t kFormerAbi = 0x33;
  const auto flags = load<std::uint32_t>(header, 0x30);
  return (load<std::uint8_t>(header, 7) == kFormerAbi ? flags : flags >> 8) & 0xff;
}

std::map<std::string, Resources> read_resources(std::span<const std::byte> cubin) {
  try {
    std::map<std::string, Resources> all;
    const sass::Cubin file(cubin);
    for (const sass::KernelInfo& kernel : file.kernels())
      all[kernel.name] = {kernel.registers, kernel.barriers, kernel.shared_bytes};
    return all;
  } catch (const sass::BadCubin& error) {
    throw Damaged(error.what());
  }
}

}  // namespace vgpu::image
