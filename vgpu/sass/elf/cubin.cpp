// SPDX-License-Identifier: Apache-2.0
#include "sass/elf/cubin.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

namespace vgpu::sass {
namespace {

constexpr std::uint32_t kSymbolTable = 2, kRelocations = 4, kNoBits = 8,
                        kShortRelocations = 9;    // section types
constexpr std::uint32_t kMostParamBytes = 32764;  // limit per kernel

template <class T>
T read(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset > bytes.size() || sizeof(T) > bytes.size() - offset)
    throw BadCubin("cubin: data end too early");
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

// Calls f(attribute, value) for each record of an .nv.info section: format, attribute, then a
// 16-bit value or (format 4) the size of the value that follows.
template <class F>
void for_each_attribute(std::span<const std::byte> info, F f) {
  constexpr std::uint8_t kSized = 4;
  for (std::uint64_t at = 0; at < info.size();) {
    const std::uint8_t format = read8(info, at), attribute = read8(info, at + 1);
    const std::uint16_t size = read16(info, at + 2);
    if (format != kSized) {
      f(attribute, info.subspan(at + 2, 2));
      at += 4;
      continue;
    }
    if (size > info.size() - at - 4) throw BadCubin("cubin: an attribute beyond its section");
    f(attribute, info.subspan(at + 4, size));
    at += 4 + std::uint64_t{size};
  }
}

enum Attribute : std::uint8_t {  // EIATTR_*
  kMaxThreads = 0x05,
  kParamBank = 0x0a,
  kMinStack = 0x12,
  kParamInfo = 0x17,
  kParamSize = 0x19,
  kRegisters = 0x2f,
  kCluster = 0x3d,
  kLargeParamInfo = 0x45,  // of kernels with parameters of more than 4 KB
  kBarriers = 0x4c,
};

}  // namespace

std::uint8_t read8(std::span<const std::byte> b, std::uint64_t at) {
  return read<std::uint8_t>(b, at);
}
std::uint16_t read16(std::span<const std::byte> b, std::uint64_t at) {
  return read<std::uint16_t>(b, at);
}
std::uint32_t read32(std::span<const std::byte> b, std::uint64_t at) {
  return read<std::uint32_t>(b, at);
}
std::uint64_t read64(std::span<const std::byte> b, std::uint64_t at) {
  return read<std::uint64_t>(b, at);
}

std::string_view read_text(std::span<const std::byte> bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) throw BadCubin("cubin: a name outside its table");
  const std::string_view rest(reinterpret_cast<const char*>(bytes.data()) + offset,
                              bytes.size() - offset);
  const auto end = rest.find('\0');
  if (end == rest.npos) throw BadCubin("cubin: a name without an end");
  return rest.substr(0, end);
}

Cubin::Cubin(std::span<const std::byte> file) {
  read_sections(file);
  read_symbols();
  constexpr std::string_view kText = ".text.";
  for (std::uint32_t i = 0; i < sections_.size(); ++i) {
    if (!sections_[i].name.starts_with(kText)) continue;
    KernelInfo kernel;
    kernel.name = sections_[i].name.substr(kText.size());
    kernel.section = i;
    kernel.code = sections_[i].data;
    if (kernel.code.size() % 16 != 0) throw BadCubin("cubin: code that is no multiple of 16 bytes");
    kernels_.push_back(std::move(kernel));
  }
  read_module_info();
  for (KernelInfo& kernel : kernels_) read_kernel_info(kernel);
}

const Section* Cubin::find(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

void Cubin::read_sections(std::span<const std::byte> file) {
  constexpr std::uint32_t kMagic = 0x464c457f;
  constexpr std::uint16_t kCuda = 190;
  constexpr std::uint64_t kHeaderBytes = 64;
  constexpr std::uint8_t k64Bit = 2, kLittleEndian = 1;
  if (read32(file, 0) != kMagic || read8(file, 4) != k64Bit || read8(file, 5) != kLittleEndian)
    throw BadCubin("cubin: not a 64-bit little-endian ELF file");
  if (read16(file, 0x12) != kCuda) throw BadCubin("cubin: an ELF file for another machine");
  const std::uint32_t flags = read32(file, 0x30);
  constexpr std::uint8_t kFormerAbi = 0x33;  // of CUDA 12 and older, with another use of flags
  target_ = static_cast<int>(read8(file, 7) == kFormerAbi ? flags & 0xff : flags >> 8 & 0xff);
  const std::uint64_t table = read64(file, 0x28);
  const std::uint64_t entry = read16(file, 0x3a), count = read16(file, 0x3c),
                      names = read16(file, 0x3e);
  if (entry < kHeaderBytes || names >= count) throw BadCubin("cubin: a bad table of sections");
  if (table > file.size() || entry * count > file.size() - table) {
    throw BadCubin("cubin: the table of sections lies outside the file");
  }
  // Segments are not used. Checking their table detects truncated files and wrong section counts.
  const std::uint64_t segments = read64(file, 0x20),
                      segment_bytes = std::uint64_t{read16(file, 0x36)} * read16(file, 0x38);
  if (segments > file.size() || segment_bytes > file.size() - segments)
    throw BadCubin("cubin: the table of segments lies outside the file");
  if (segments < table + entry * count && table < segments + segment_bytes)
    throw BadCubin("cubin: the tables of sections and segments overlap");
  std::vector<std::uint32_t> name_at;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = file.subspan(table + i * entry, entry);
    Section section;
    name_at.push_back(read32(header, 0));
    section.type = read32(header, 4);
    section.size = read64(header, 32);
    section.link = read32(header, 40);
    section.info = read32(header, 44);
    section.alignment = read64(header, 48);
    const std::uint64_t offset = read64(header, 24);
    if (section.type != kNoBits) {
      if (offset > file.size() || section.size > file.size() - offset) {
        throw BadCubin("cubin: a section outside the file");
      }
      section.data = file.subspan(offset, section.size);
    } else if (section.size > (std::uint64_t{1} << 40)) {
      throw BadCubin("cubin: a section of more than a terabyte");
    }
    sections_.push_back(section);
  }
  for (std::uint64_t i = 0; i < count; ++i)
    sections_[i].name = read_text(sections_[names].data, name_at[i]);
}

void Cubin::read_symbols() {
  constexpr std::uint64_t kBytes = 24;
  for (const Section& section : sections_) {
    if (section.type != kSymbolTable) continue;
    if (section.link >= sections_.size()) throw BadCubin("cubin: symbols without names");
    const auto names = sections_[section.link].data;
    for (std::uint64_t at = 0; at + kBytes <= section.data.size(); at += kBytes) {
      ElfSymbol symbol;
      symbol.name = read_text(names, read32(section.data, at));
      constexpr unsigned kEntry = 16;  // of st_other
      symbol.type = read8(section.data, at + 4) & 15;
      symbol.kernel = symbol.type == 2 && (read8(section.data, at + 5) & kEntry) != 0;
      symbol.section = read16(section.data, at + 6);
      symbol.value = read64(section.data, at + 8);
      symbol.size = read64(section.data, at + 16);
      constexpr std::uint16_t kFirstReserved = 0xff00;  // SHN_LORESERVE: absolute, common
      if (symbol.section >= sections_.size() && symbol.section < kFirstReserved)
        throw BadCubin(fmt::format("cubin: symbol {} is in no section", symbol.name));
      symbols_.push_back(symbol);
    }
  }
}

void Cubin::read_module_info() {
  const Section* const info = find(".nv.info");
  if (info == nullptr) return;
  for_each_attribute(info->data, [&](std::uint8_t attribute, std::span<const std::byte> value) {
    if (attribute != kRegisters && attribute != kMinStack) return;
    const std::uint32_t symbol = read32(value, 0);
    if (symbol >= symbols_.size())
      throw BadCubin(fmt::format("cubin: there is no symbol {}", symbol));
    for (KernelInfo& kernel : kernels_) {
      if (kernel.name != symbols_[symbol].name) continue;
      (attribute == kRegisters ? kernel.registers : kernel.stack_bytes) = read32(value, 4);
    }
  });
}

void Cubin::read_kernel_info(KernelInfo& kernel) const {
  if (const Section* const shared = find(".nv.shared." + kernel.name); shared != nullptr) {
    kernel.shared_bytes =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(shared->size, 1u << 24));
  }
  if (const Section* const literals = find(".nv.constant2." + kernel.name); literals != nullptr) {
    kernel.constants2 = literals->data;
  }
  const Section* const info = find(".nv.info." + kernel.name);
  if (info == nullptr) return;
  for_each_attribute(info->data, [&](std::uint8_t attribute, std::span<const std::byte> value) {
    switch (attribute) {
      case kParamBank:  // symbol, base, size
        kernel.param_base = read16(value, 4);
        kernel.param_bytes = read16(value, 6);
        break;
      case kParamInfo:         // index, ordinal, offset, flags with the size in the upper bits
      case kLargeParamInfo: {  // ... and only the size
        const std::uint16_t ordinal = read16(value, 4);
        const std::uint32_t size = read32(value, 8) >> (attribute == kParamInfo ? 18 : 0);
        const Param param{read16(value, 6), size};
        if (std::uint64_t{param.offset} + param.size > kMostParamBytes) {
          throw BadCubin("cubin: a parameter beyond the largest block of parameters");
        }
        if (kernel.params.size() <= ordinal) kernel.params.resize(ordinal + std::size_t{1});
        kernel.params[ordinal] = param;
        break;
      }
      case kBarriers: kernel.barriers = read8(value, 0); break;
      case kCluster:
        for (std::uint32_t d = 0; d < 3; ++d) kernel.cluster[d] = read32(value, 4 * d);
        break;
      case kMaxThreads: {
        const std::uint64_t threads = std::uint64_t{read32(value, 0)} *
                                      std::max(1u, read32(value, 4)) *
                                      std::max(1u, read32(value, 8));
        kernel.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1u << 30));
        break;
      }
      default: break;
    }
  });
  for (const Param& param : kernel.params) {
    kernel.param_bytes = std::max(kernel.param_bytes, param.offset + param.size);
  }
}

std::vector<Relocation> Cubin::relocations(std::string_view section) const {
  constexpr std::uint64_t kBytes = 24, kShortBytes = 16;
  std::vector<Relocation> all;
  // Before sm_100, those without an addend have a table of their own.
  const Section* const without = find(".rel" + std::string(section));
  if (without != nullptr && without->type == kShortRelocations) {
    for (std::uint64_t at = 0; at + kShortBytes <= without->data.size(); at += kShortBytes) {
      all.push_back({read64(without->data, at), read32(without->data, at + 12),
                     read32(without->data, at + 8), 0});
    }
  }
  const Section* const table = find(".rela" + std::string(section));
  if (table == nullptr || table->type != kRelocations) return all;
  for (std::uint64_t at = 0; at + kBytes <= table->data.size(); at += kBytes) {
    Relocation r;
    r.offset = read64(table->data, at);
    r.type = read32(table->data, at + 8);
    r.symbol = read32(table->data, at + 12);
    r.addend = static_cast<std::int64_t>(read64(table->data, at + 16));
    all.push_back(r);
  }
  for (const Relocation& r : all) {
    if (r.symbol >= symbols_.size())
      throw BadCubin(fmt::format("cubin: there is no symbol {}", r.symbol));
  }
  return all;
}

}  // namespace vgpu::sass
