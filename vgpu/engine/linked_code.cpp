// SPDX-License-Identifier: Apache-2.0
#include "engine/linked_code.hpp"

#include <algorithm>

#include "ir/provided.hpp"

namespace vgpu {
namespace {

// CALL.ABS of a register.
bool has_indirect_call(const sass::KernelInfo& function) {
  constexpr std::uint32_t kOpcode = 0x343, kOpcodeBits = 0xfff;
  for (std::size_t at = 0; at + 16 <= function.code.size(); at += 16) {
    if ((sass::read32(function.code, at) & kOpcodeBits) == kOpcode) return true;
  }
  return false;
}

}  // namespace

void Linked::add(const sass::KernelInfo& function) {
  parts.push_back({&function, text.size()});
  text.insert(text.end(), function.code.begin(), function.code.end());
}

const Part* Linked::in_section(std::uint32_t section) const {
  const auto found = std::ranges::find_if(
      parts, [&](const Part& part) { return part.function->section == section; });
  return found == parts.end() ? nullptr : &*found;
}

std::size_t Linked::at(std::uint64_t place) const {
  const auto behind = std::find_if(parts.begin() + 1, parts.end(),
                                   [&](const Part& part) { return part.base > place; });
  return static_cast<std::size_t>(behind - parts.begin()) - 1;
}

std::vector<sass::Relocation> code_relocations(const sass::Cubin& cubin,
                                               const sass::KernelInfo& function) {
  std::vector<sass::Relocation> all = cubin.relocations(".text." + function.name);
  for (const sass::Relocation& r : all) {
    if (r.offset % 16 != 0 || r.offset >= function.code.size() ||
        r.symbol >= cubin.symbols().size())
      throw sass::BadCubin("cubin: a relocation outside its section");
  }
  return all;
}

const sass::KernelInfo* function_in(const sass::Cubin& cubin, std::uint32_t section) {
  const auto& all = cubin.kernels();
  const auto found = std::ranges::find_if(
      all, [&](const sass::KernelInfo& function) { return function.section == section; });
  return found == all.end() ? nullptr : &*found;
}

Linked link(const sass::Cubin& cubin, const sass::KernelInfo& kernel,
            const std::set<std::uint32_t>& pointed_to) {
  Linked code;
  code.add(kernel);
  bool calls_pointers = false;
  for (std::size_t i = 0; i < code.parts.size(); ++i) {
    if (!calls_pointers && has_indirect_call(*code.parts[i].function)) {
      calls_pointers = true;
      for (const std::uint32_t section : pointed_to) {
        if (code.in_section(section) == nullptr) code.add(*function_in(cubin, section));
      }
    }
    for (const sass::Relocation& r : code_relocations(cubin, *code.parts[i].function)) {
      const sass::ElfSymbol& symbol = cubin.symbols()[r.symbol];
      if (is_kernel_address(r) || ir::provided_function(symbol.name)) continue;
      if (symbol.type != kFunction || code.in_section(symbol.section) != nullptr) continue;
      const sass::KernelInfo* const function = function_in(cubin, symbol.section);
      if (function != nullptr) code.add(*function);
    }
  }
  return code;
}

}  // namespace vgpu
