// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/cubin.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "runtime/image/bytes.hpp"

namespace vgpu::image {
namespace {

struct Section {
  std::string_view name;
  std::span<const std::byte> data;
  std::uint64_t size = 0;  // also set for sections without data
  std::uint32_t type = 0, link = 0;
};

constexpr std::uint32_t kSymbolTable = 2, kNoBits = 8;  // SHT_SYMTAB, SHT_NOBITS

std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset,
                                 std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset)
    throw Damaged("cubin: section outside the file");
  return bytes.subspan(offset, size);
}

std::string_view name_at(std::span<const std::byte> table, std::size_t offset) {
  if (offset >= table.size()) throw Damaged("cubin: name outside the string table");
  const std::string_view rest(reinterpret_cast<const char*>(table.data()) + offset,
                              table.size() - offset);
  const auto end = rest.find('\0');
  if (end == rest.npos) throw Damaged("cubin: name without an end");
  return rest.substr(0, end);
}

std::vector<Section> read_sections(std::span<const std::byte> file) {
  if (load<std::uint32_t>(file, 0) != 0x464c457f || load<std::uint8_t>(file, 4) != 2) {
    throw Damaged("cubin: not a 64-bit ELF file");
  }
  const auto table = load<std::uint64_t>(file, 0x28);
  const std::size_t entry_size = load<std::uint16_t>(file, 0x3a);
  const std::size_t count = load<std::uint16_t>(file, 0x3c);
  const std::size_t names_index = load<std::uint16_t>(file, 0x3e);
  if (entry_size < 64 || names_index >= count) throw Damaged("cubin: bad section table");

  const auto headers = range(file, table, entry_size * count);
  std::vector<Section> sections;
  for (std::size_t i = 0; i < count; ++i) {
    const auto header = headers.subspan(i * entry_size, entry_size);
    Section section;
    section.type = load<std::uint32_t>(header, 4);
    section.size = load<std::uint64_t>(header, 32);
    section.link = load<std::uint32_t>(header, 40);
    if (section.type != kNoBits) {
      section.data = range(file, load<std::uint64_t>(header, 24), section.size);
    }
    sections.push_back(section);
  }
  for (std::size_t i = 0; i < count; ++i) {
    sections[i].name = name_at(sections[names_index].data,
                               load<std::uint32_t>(headers.subspan(i * entry_size), 0));
  }
  return sections;
}

std::vector<std::string_view> read_symbol_names(const std::vector<Section>& sections) {
  constexpr std::size_t kSymbolBytes = 24;
  std::vector<std::string_view> names;
  for (const Section& section : sections) {
    if (section.type != kSymbolTable) continue;
    if (section.link >= sections.size()) throw Damaged("cubin: symbols without names");
    for (std::size_t at = 0; at + kSymbolBytes <= section.data.size(); at += kSymbolBytes) {
      names.push_back(name_at(sections[section.link].data, load<std::uint32_t>(section.data, at)));
    }
  }
  return names;
}

// An .nv.info section is a sequence of attributes: an 8-bit format, an 8-bit attribute, a 16-bit
// size or value, and, in format 4, that number of bytes.
template <class Visit>
void for_each_attribute(std::span<const std::byte> data, Visit visit) {
  constexpr std::uint8_t kSized = 4;
  for (std::size_t at = 0; at < data.size();) {
    const auto format = load<std::uint8_t>(data, at);
    const auto size = load<std::uint16_t>(data, at + 2);
    const std::size_t behind = format == kSized ? size : 0u;
    visit(load<std::uint8_t>(data, at + 1), size, range(data, at + 4, behind));
    at += 4 + behind;
  }
}

}  // namespace

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
  constexpr std::uint8_t kRegisterCount = 0x2f, kBarrierCount = 0x4c;
  constexpr std::string_view kInfo = ".nv.info", kInfoOf = ".nv.info.", kSharedOf = ".nv.shared.";

  const std::vector<Section> sections = read_sections(cubin);
  const std::vector<std::string_view> symbols = read_symbol_names(sections);
  std::map<std::string, Resources> all;
  for (const Section& section : sections) {
    if (section.name == kInfo) {
      for_each_attribute(section.data, [&](std::uint8_t attribute, std::uint16_t,
                                           std::span<const std::byte> value) {
        if (attribute != kRegisterCount) return;
        const auto symbol = load<std::uint32_t>(value, 0);
        if (symbol >= symbols.size()) throw Damaged(fmt::format("cubin: no symbol {}", symbol));
        all[std::string(symbols[symbol])].registers = load<std::uint32_t>(value, 4);
      });
    } else if (section.name.starts_with(kInfoOf)) {
      for_each_attribute(section.data, [&](std::uint8_t attribute, std::uint16_t value,
                                           std::span<const std::byte>) {
        if (attribute == kBarrierCount)
          all[std::string(section.name.substr(kInfoOf.size()))].barriers = value & 0xff;
      });
    }
  }
  for (const Section& section : sections) {  // the system's shared section belongs to no kernel
    if (!section.name.starts_with(kSharedOf)) continue;
    const auto kernel = all.find(std::string(section.name.substr(kSharedOf.size())));
    if (kernel != all.end()) kernel->second.shared_bytes = static_cast<std::uint32_t>(section.size);
  }
  return all;
}

}  // namespace vgpu::image
