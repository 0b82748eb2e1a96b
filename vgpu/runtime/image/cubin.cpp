// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/cubin.hpp"

#include <fmt/format.h>

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
