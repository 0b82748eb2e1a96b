// SPDX-License-Identifier: Apache-2.0
// Reads a cubin: the ELF file of machine code that ptxas generates for one architecture. The input
// is not trusted; inconsistent data throws BadCubin. Sections: .text.K is kernel K's code,
// .nv.info.K its parameters, .nv.shared.K its shared memory (including the part that the system
// reserves), .nv.constantN constant bank N.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.hpp"

namespace vgpu::sass {

struct BadCubin : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Section {
  std::string_view name;
  std::span<const std::byte> data;  // empty for sections without bytes in the file (.nv.global)
  std::uint64_t size = 0;
  std::uint64_t alignment = 1;
  std::uint32_t type = 0, link = 0, info = 0;
};

struct ElfSymbol {
  std::string_view name;
  std::uint64_t value = 0, size = 0;  // value: offset in its section
  std::uint32_t section = 0;          // 0: undefined
  std::uint8_t type = 0;              // ELF: 1 object, 2 function
  bool kernel = false;                // __global__
};

struct Relocation {
  std::uint64_t offset = 0;  // in the section that is patched
  std::uint32_t symbol = 0, type = 0;
  std::int64_t addend = 0;
};

struct KernelInfo {
  std::string name;  // mangled
  std::uint32_t section = 0;
  std::span<const std::byte> code;  // 16 bytes per instruction
  std::vector<Param> params;        // in order of declaration
  std::uint32_t param_base = 0;     // offset of the parameters in constant bank 0
  std::uint32_t param_bytes = 0;
  std::uint32_t registers = 0;
  // Named barriers: the highest number used plus 1; 16 if a number is computed at run time.
  std::uint32_t barriers = 0;
  std::uint32_t stack_bytes = 0;          // local memory per thread, without recursive calls
  std::uint32_t shared_bytes = 0;         // including the reserved bytes at the front
  std::uint32_t max_threads = 0;          // __launch_bounds__; 0 if not given
  std::uint32_t cluster[3] = {};          // __cluster_dims__; 0 if not given
  std::span<const std::byte> constants2;  // bank 2: literals and jump tables of this kernel
};

class Cubin {
 public:
  // `file` must outlive the Cubin.
  explicit Cubin(std::span<const std::byte> file);

  const std::vector<KernelInfo>& kernels() const { return kernels_; }
  const std::vector<Section>& sections() const { return sections_; }
  const std::vector<ElfSymbol>& symbols() const { return symbols_; }
  const Section* find(std::string_view section) const;                  // null if absent
  std::vector<Relocation> relocations(std::string_view section) const;  // of .rela<section>
  int target() const { return target_; }                                // 90 for sm_90

 private:
  void read_sections(std::span<const std::byte> file);
  void read_symbols();
  void read_module_info();
  void read_kernel_info(KernelInfo& kernel) const;

  std::vector<Section> sections_;
  std::vector<ElfSymbol> symbols_;
  std::vector<KernelInfo> kernels_;
  int target_ = 0;
};

// A little-endian value at `offset`; throws BadCubin if it is not within `bytes`.
std::uint8_t read8(std::span<const std::byte> bytes, std::uint64_t offset);
std::uint16_t read16(std::span<const std::byte> bytes, std::uint64_t offset);
std::uint32_t read32(std::span<const std::byte> bytes, std::uint64_t offset);
std::uint64_t read64(std::span<const std::byte> bytes, std::uint64_t offset);
// The text up to the terminating zero.
std::string_view read_text(std::span<const std::byte> bytes, std::uint64_t offset);

}  // namespace vgpu::sass
