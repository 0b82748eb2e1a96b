// SPDX-License-Identifier: Apache-2.0
// Cubins: the reader's results, and that damaged ones give an error or a module.
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <new>
#include <sstream>
#include <stdexcept>
#include <string>

#include "engine/engine.hpp"
#include "memory/memory.hpp"
#include "sass/elf/cubin.hpp"
#include "sass/elf/lines.hpp"

namespace {

std::string read(const char* name) {
  std::ifstream file(std::string(VGPU_SASS_CUBINS) + "/" + name + ".cubin", std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

const vgpu::sass::KernelInfo* find(const vgpu::sass::Cubin& cubin, const std::string& name) {
  for (const vgpu::sass::KernelInfo& kernel : cubin.kernels()) {
    if (kernel.name == name) return &kernel;
  }
  return nullptr;
}

TEST(Cubin, Kernels) {
  const std::string file = read("cubin");
  const vgpu::sass::Cubin cubin(bytes_of(file));
  EXPECT_EQ(cubin.target(), 90);
  EXPECT_EQ(cubin.kernels().size(), 2u);
  const vgpu::sass::KernelInfo* const kernel = find(cubin, "with_everything");
  ASSERT_NE(kernel, nullptr);
  EXPECT_EQ(kernel->code.size() % 128, 0u);
  EXPECT_EQ(kernel->param_base, 0x210u);
  EXPECT_EQ(kernel->params.size(), 3u);
  EXPECT_EQ(kernel->params[1].offset, 8u);
  EXPECT_EQ(kernel->params[2].size, 4u);
  EXPECT_EQ(kernel->param_bytes, 20u);
  EXPECT_EQ(kernel->shared_bytes, 1024u + 256u);
  EXPECT_EQ(kernel->max_threads, 96u);
  EXPECT_GE(kernel->registers, 8u);
}

// The header as ptxas 12.9 writes it for sm_90.
TEST(Cubin, TheArchitectureInTheHeaderOfCuda12) {
  std::string file = read("cubin");
  file[7] = 0x33;
  constexpr std::uint32_t kFlags = 0x5a055a;
  std::memcpy(file.data() + 0x30, &kFlags, sizeof kFlags);
  EXPECT_EQ(vgpu::sass::Cubin(bytes_of(file)).target(), 90);
}

TEST(Cubin, Variables) {
  const std::string file = read("cubin");
  vgpu::Memory memory(std::size_t{1} << 24);
  const auto module = vgpu::Module::from_cubin(bytes_of(file), memory);
  const auto numbers = module->find_symbol("numbers"), factor = module->find_symbol("factor"),
             pointer = module->find_symbol("pointer");
  ASSERT_TRUE(numbers && factor && pointer);
  EXPECT_EQ(numbers->bytes, 4 * sizeof(int));
  EXPECT_FALSE(numbers->constant);
  EXPECT_EQ(static_cast<int*>(numbers->address)[2], 7);
  EXPECT_TRUE(factor->constant);
  EXPECT_EQ(*static_cast<float*>(factor->address), 2.5F);
  void* target;
  std::memcpy(&target, pointer->address, sizeof(target));
  EXPECT_EQ(target, static_cast<int*>(numbers->address) + 1);
  EXPECT_FALSE(module->find_symbol("absent"));
}

// A kernel that calls an unknown function is refused with the function's name; other kernels are
// not.
TEST(Cubin, UnknownFunctionsAreRefusedByName) {
  std::string file = read("calls");
  vgpu::Memory memory(std::size_t{1} << 24);
  const auto known = vgpu::Module::from_cubin(bytes_of(file), memory);
  EXPECT_EQ(vgpu::refusal(*known->find_kernel("takes_memory")), "");
  const std::string name("\0malloc", 7);
  for (std::size_t at = 0; (at = file.find(name + '\0', at)) != file.npos; ++at)
    file.replace(at, 7, "\0mallox", 7);
  const auto unknown = vgpu::Module::from_cubin(bytes_of(file), memory);
  EXPECT_NE(vgpu::refusal(*unknown->find_kernel("takes_memory")).find("the address of mallox"),
            std::string::npos)
      << vgpu::refusal(*unknown->find_kernel("takes_memory"));
  EXPECT_EQ(vgpu::refusal(*unknown->find_kernel("calls_nothing")), "");
}

// ptxas saves the uniform predicates in a byte of a register, and only where many are live: here
// instructions stand in the place of others.
TEST(Cubin, UniformPredicatesAreSavedInARegister) {
  std::string file = read("calls");
  const vgpu::sass::Cubin cubin(bytes_of(file));
  const vgpu::sass::KernelInfo* const kernel = find(cubin, "has_room");
  ASSERT_NE(kernel, nullptr);
  constexpr std::uint64_t kOpcode = 0xfff, kNanosleep = 0x35d, kResult = 0x12345678;
  constexpr std::uint64_t kMoves[][2] = {
      {0x00005a0000147882, 0x000fe20000000000},   // UMOV UR20, 0x5a00
      {0x0000007f14007884, 0x000fe20008001000},   // UR2UP UPR, UR20.B1, 0x7f
      {0x000000ff14157883, 0x000fe20008003000},   // UP2UR.B3 UR21, UPR, UR20, 0xff
      {0x0000001500007c02, 0x000fe20008000f00}};  // MOV R0, UR21
  std::uint64_t result = 0;
  std::size_t moved = 0;
  for (std::size_t at = 0; at < kernel->code.size(); at += 16) {
    char* const place = file.data() + (kernel->code.data() - bytes_of(file).data()) + at;
    std::uint64_t low;
    std::memcpy(&low, place, sizeof low);
    const bool is_result = low >> 32 == kResult;
    if (is_result) result = low & 0xff0000;  // its register
    if ((low & kOpcode) == kNanosleep && moved < std::size(kMoves))
      std::memcpy(place, kMoves[moved++], sizeof *kMoves);
    else if (!is_result)
      continue;
    if (moved == std::size(kMoves)) {
      const std::uint64_t last[] = {kMoves[3][0] | result, kMoves[3][1]};
      std::memcpy(place, last, sizeof last);
    }
  }
  ASSERT_EQ(moved, std::size(kMoves));

  vgpu::Memory memory(std::size_t{1} << 24);
  auto* const out = static_cast<std::uint32_t*>(memory.allocate(4 * 32));
  const auto module = vgpu::Module::from_cubin(bytes_of(file), memory);
  const vgpu::Kernel* const patched = module->find_kernel("has_room");
  ASSERT_EQ(vgpu::refusal(*patched), "");
  vgpu::LaunchConfig config;
  config.grid = {1, 1, 1};
  config.block = {32, 1, 1};
  vgpu::launch(*patched, config, std::as_bytes(std::span(&out, 1)), memory);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(out[i], 0x5a005a00u) << i;
}

TEST(Cubin, SourceLines) {
  const std::string file = read("cubin");
  const vgpu::sass::Cubin cubin(bytes_of(file));
  const vgpu::sass::KernelInfo* const kernel = find(cubin, "with_everything");
  ASSERT_NE(kernel, nullptr);
  const vgpu::sass::LineTable lines = vgpu::sass::read_lines(cubin, *kernel);
  ASSERT_FALSE(lines.entries.empty());
  bool store = false;
  for (const vgpu::sass::LineEntry& entry : lines.entries) {
    if (entry.line == 0) continue;
    EXPECT_NE(lines.files[entry.file].find("cubin.cu"), std::string::npos);
    store |= entry.line == 22;
  }
  EXPECT_TRUE(store);
}

// Whether the file becomes a module, whose kernels then say whether they can be launched. Any other
// exception than the promised ones ends the test.
bool loads(const std::string& file) {
  vgpu::Memory memory(std::size_t{1} << 24);
  try {
    const auto module = vgpu::Module::from_cubin(bytes_of(file), memory);
    for (const std::string& name : module->kernel_names())
      vgpu::refusal(*module->find_kernel(name));
    return true;
  } catch (const std::invalid_argument&) {
  } catch (const std::bad_alloc&) {
  }
  return false;
}

// The table of segments ends the file, so that a shorter file lacks a part of a table.
TEST(CubinDamage, Truncated) {
  const std::string file = read("cubin");
  ASSERT_TRUE(loads(file));
  for (std::size_t size = 0; size < file.size(); size += 1 + size / 64)
    EXPECT_FALSE(loads(file.substr(0, size))) << size << " of " << file.size() << " bytes";
}

// Each byte of the ELF header (Elf64_Ehdr of elf.h), changed in each bit. A module is loaded from
// its sections: what may change unseen is what only a linker or a loader of segments reads.
TEST(CubinDamage, HeaderBitsChanged) {
  struct Field {
    std::size_t begin, end;
    const char* why;
  };
  static constexpr Field kUnread[] = {
      {6, 16, "EI_VERSION to EI_PAD: the same in all cubins of one format"},
      {16, 18, "e_type: relocatable and executable cubins are read alike"},
      {20, 24, "e_version: has one value"},
      {24, 32, "e_entry: a cubin has none"},
      {32, 40, "e_phoff: segments are not read, their table need only lie inside the file"},
      {48, 52, "e_flags: the compute capability, of which other ones are loaded, too"},
      {52, 58, "e_ehsize, e_phentsize, e_phnum: likewise"},
  };
  const std::string file = read("cubin");
  for (std::size_t at = 0; at < 64; ++at) {
    bool unread = false;
    for (const Field& field : kUnread) unread |= field.begin <= at && at < field.end;
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = file;
      changed[at] = static_cast<char>(changed[at] ^ 1 << bit);
      const bool loaded = loads(changed);
      EXPECT_TRUE(unread || !loaded) << "byte " << at << ", bit " << bit;
    }
  }
}

// Most of a file is code, notes and debug information, whose damage is found only when it is
// executed; names and tables are a small part.
TEST(CubinDamage, OneByteChanged) {
  const std::string file = read("cubin");
  std::uint64_t state = 1;
  int refused = 0;
  for (int i = 0; i < 4000; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    std::string changed = file;
    changed[(state >> 33) % file.size()] = static_cast<char>(state >> 24);
    refused += !loads(changed);
  }
  EXPECT_GT(refused, 40);
}

// Every offset of a relocation at which 8 or 16 bytes do not fit.
TEST(CubinDamage, RelocationsOutsideTheirSections) {
  for (const char* name : {"cubin", "calls"}) {
    const std::string file = read(name);
    for (const std::uint64_t offset :
         {~std::uint64_t{0}, ~std::uint64_t{0} - 7, ~std::uint64_t{0} - 15, std::uint64_t{1} << 63,
          std::uint64_t{1} << 20}) {
      const vgpu::sass::Cubin cubin(bytes_of(file));
      std::string changed = file;
      for (const vgpu::sass::Section& section : cubin.sections()) {
        if (!section.name.starts_with(".rela")) continue;
        const auto begin = section.data.data() - bytes_of(file).data();
        constexpr std::size_t kEntry = 24;
        for (std::size_t at = 0; at + kEntry <= section.data.size(); at += kEntry)
          std::memcpy(changed.data() + begin + static_cast<std::ptrdiff_t>(at), &offset,
                      sizeof offset);
      }
      EXPECT_FALSE(loads(changed)) << name << ", offset " << offset;
    }
  }
}

TEST(CubinDamage, OtherFiles) {
  vgpu::Memory memory(std::size_t{1} << 24);
  for (const char* text :
       {"", "\177ELF",
        "not an ELF file, but longer than the header of one would have to be....."}) {
    EXPECT_THROW(vgpu::Module::from_cubin(bytes_of(std::string(text)), memory),
                 std::invalid_argument);
  }
}

}  // namespace
