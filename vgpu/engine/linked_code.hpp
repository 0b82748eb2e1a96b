// SPDX-License-Identifier: Apache-2.0
// The code of a kernel with the functions that it reaches. The linker of relocatable device code
// leaves each function in a section of its own.
#pragma once
#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "sass/elf/cubin.hpp"

namespace vgpu {

constexpr std::uint8_t kFunction = 2;  // sass::ElfSymbol::type

// A function's code and its place in the kernel's program.
struct Part {
  const sass::KernelInfo* function;
  std::uint64_t base;
};

// The kernel comes first.
struct Linked {
  std::vector<Part> parts;
  std::vector<std::byte> text;

  void add(const sass::KernelInfo& function);
  const Part* in_section(std::uint32_t section) const;  // null if there is none
  std::size_t at(std::uint64_t place) const;            // index of the part
};

// The function in a section of the file; null if there is none.
const sass::KernelInfo* function_in(const sass::Cubin& cubin, std::uint32_t section);

// With the functions in the sections `pointed_to` if the kernel calls by pointers. Throws BadCubin.
// Nothing is relocated yet.
Linked link(const sass::Cubin& cubin, const sass::KernelInfo& kernel,
            const std::set<std::uint32_t>& pointed_to);

// Whether the relocation is a half of a kernel's address, by which code launches it.
inline constexpr std::uint32_t kLowerHalfOfKernel = 0x3e, kUpperHalfOfKernel = 0x3f;
inline bool is_kernel_address(const sass::Relocation& r) {
  return r.type == kLowerHalfOfKernel || r.type == kUpperHalfOfKernel;
}

// The relocations in a function's code, which are inside it.
std::vector<sass::Relocation> code_relocations(const sass::Cubin& cubin,
                                               const sass::KernelInfo& function);

}  // namespace vgpu
