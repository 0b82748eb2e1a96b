// SPDX-License-Identifier: Apache-2.0
#include "app/elf.hpp"

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <vector>

namespace vgpu::app {
namespace {

constexpr std::size_t kLongestName = 4096;

class File {
 public:
  explicit File(const std::string& path) : in_(path, std::ios::binary) {}

  template <class T>
  bool read(std::uint64_t offset, T& value) {
    return in_.clear(), in_.seekg(static_cast<std::streamoff>(offset)) &&
                            in_.read(reinterpret_cast<char*>(&value), sizeof value);
  }
  // Reads the zero-terminated text at `offset`.
  std::string text(std::uint64_t offset) {
    std::string result;
    in_.clear();
    in_.seekg(static_cast<std::streamoff>(offset));
    for (char c; result.size() < kLongestName && in_.get(c) && c != '\0';) result += c;
    return result;
  }

 private:
  std::ifstream in_;
};

}  // namespace

ElfFacts read_elf(const std::string& path) {
  ElfFacts facts;
  File file(path);
  Elf64_Ehdr header;
  if (!file.read(0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB) {
    return facts;
  }
  facts.is_elf = true;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    if (!file.read(header.e_phoff + i * sizeof segment, segment)) break;
    if (segment.p_type == PT_INTERP) facts.interpreter = file.text(segment.p_offset);
  }
  Elf64_Shdr names;
  if (!file.read(header.e_shoff + header.e_shstrndx * sizeof names, names)) return facts;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    if (!file.read(header.e_shoff + i * sizeof section, section)) break;
    if (file.text(names.sh_offset + section.sh_name) == ".nv_fatbin") facts.has_device_code = true;
  }
  return facts;
}

}  // namespace vgpu::app
