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
  std::uint64_t size = 0;  // also of sections without data
  std::uint32_t type = 0, link = 0;
};

constexpr std::uint32_t kSymbolTable = 2, kNoBits = 8;  // SHT_SYMTAB, SHT_NOBITS

std::span<const std::byte> range(std::span<const std::byte> bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size() || size > bytes.size() - offset) throw Damaged("cubin: section outside the file");
  return bytes.subspan(offset, size);
}

std::string_view name_at(std::span<const std::byte> table, std::size_t offset) {
  if (offset >= table.size()) throw Damaged("cubin: name outside the string table");
  const std::string_view rest(reinterpret_cast<const char*>(table.data()) + offset, table.size() - offset);
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
    sections[i].name =
        name_at(sections[names_index].data, load<std::uint32_t>(headers.subspan(i * entry_size), 0));
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

}  // namespace

std::map<std::string, std::uint32_t> read_register_counts(std::span<const std::byte> cubin) {
  // .nv.info is a row of attributes: format, attribute, 16-bit size or value, then (format 4) that many
  // bytes.
  constexpr std::uint8_t kSized = 4, kRegisterCount = 0x2f;

  const std::vector<Section> sections = read_sections(cubin);
  const std::vector<std::string_view> symbols = read_symbol_names(sections);
  std::map<std::string, std::uint32_t> counts;
  for (const Section& section : sections) {
    if (section.name != ".nv.info") continue;
    for (std::size_t at = 0; at < section.data.size();) {
      const auto format = load<std::uint8_t>(section.data, at);
      const auto attribute = load<std::uint8_t>(section.data, at + 1);
      const auto size = load<std::uint16_t>(section.data, at + 2);
      if (format == kSized && attribute == kRegisterCount) {
        const auto symbol = load<std::uint32_t>(section.data, at + 4);
        if (symbol >= symbols.size()) throw Damaged(fmt::format("cubin: no symbol {}", symbol));
        counts[std::string(symbols[symbol])] = load<std::uint32_t>(section.data, at + 8);
      }
      at += 4 + (format == kSized ? size : 0u);
    }
  }
  return counts;
}

}  // namespace vgpu::image
