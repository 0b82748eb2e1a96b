// SPDX-License-Identifier: Apache-2.0
// A module loaded from a cubin: its variables are in device memory, and a kernel is lowered on its
// first use.
#include <algorithm>
#include <cstring>
#include <map>
#include <new>
#include <set>

#include <fmt/format.h>

#include "engine/kernel.hpp"
#include "engine/linked_code.hpp"
#include "ir/driver_constants.hpp"
#include "ir/provided.hpp"
#include "memory/memory.hpp"
#include "sass/decode/decode.hpp"
#include "sass/elf/lines.hpp"
#include "sass/lower/lower.hpp"

namespace vgpu {
namespace {

using ir::u32;
using ir::u64;

// Bytes before a block's own shared memory, which the file counts as the kernel's.
constexpr u32 reserved_shared(int architecture) { return architecture >= 90 ? 1024 : 0; }
// Minimum for kernels with calls that use local memory: the default of cudaLimitStackSize.
constexpr u32 kFewestStackBytes = 1024;
constexpr u32 kRecursiveStackBytes = 16 << 10;
// The values that function pointers of kernels have in code that launches them.
constexpr u64 kLaunchHandles = u64{1} << 40;
// Pointers to other functions that variables hold. Where the code of a function lies depends on the
// kernel.
constexpr u64 kFunctionHandles = u64{1} << 41;

// What a lowered program's statements refer to.
struct Source {
  std::vector<sass::Instruction> instructions;
  std::vector<sass::LineTable> lines;  // of each part
};

class CubinModule final : public Module {
 public:
  CubinModule(std::span<const std::byte> file, Memory& memory)
      : bytes_(file.begin(), file.end()), cubin_(bytes_), memory_(memory) {
    try {
      place_variables();
    } catch (...) {
      free_variables();
      throw;
    }
    for (const sass::KernelInfo& kernel : cubin_.kernels()) add_kernel(kernel);
  }
  ~CubinModule() override { free_variables(); }

  const Kernel* find_kernel(std::string_view name) const override {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second.get();
  }

  std::optional<Symbol> find_symbol(std::string_view name) const override {
    const auto found = symbols_.find(name);
    return found == symbols_.end() ? std::nullopt : std::optional(found->second);
  }

  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const sass::KernelInfo& kernel : cubin_.kernels()) names.push_back(kernel.name);
    return names;
  }

 private:
  std::byte* place(u64 bytes, std::string_view name) {
    void* const at = memory_.allocate(bytes, std::string(name));
    if (at == nullptr) throw std::bad_alloc();
    allocations_.push_back(at);
    return static_cast<std::byte*>(at);
  }

  void place_variables() {
    constexpr std::string_view kGlobal = ".nv.global", kInitialised = ".nv.global.init",
                               kConstant = ".nv.constant3";
    const sass::Section* const constants = cubin_.find(kConstant);
    if (constants != nullptr && constants->size != 0) {
      bank3_ = place(constants->size, "__constant__ variables");
      bank3_bytes_ = constants->size;
      std::memcpy(bank3_, constants->data.data(), constants->data.size());
    }
    placed_.resize(cubin_.symbols().size());
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const sass::ElfSymbol& symbol = cubin_.symbols()[i];
      if (symbol.type != 1 || symbol.section >= cubin_.sections().size() || symbol.size == 0)
        continue;
      const sass::Section& section = cubin_.sections()[symbol.section];
      if (section.name != kGlobal && section.name != kInitialised && section.name != kConstant)
        continue;
      const u64 size = section.name == kConstant      ? bank3_bytes_
                       : section.name == kInitialised ? section.data.size()
                                                      : section.size;
      if (symbol.value > size || symbol.size > size - symbol.value) {
        throw sass::BadCubin(
            fmt::format("cubin: variable {} lies outside its section", symbol.name));
      }
      std::byte* at;
      if (section.name == kConstant) {
        at = bank3_ + symbol.value;
      } else {
        at = place(symbol.size, symbol.name);
        if (section.name == kInitialised)
          std::memcpy(at, section.data.data() + symbol.value, symbol.size);
      }
      symbols_[symbol.name] = {at, symbol.size, section.name == kConstant};
      placed_[i] = at;
    }
    for (const std::string_view section : {kInitialised, kConstant}) {
      for (const sass::Relocation& r : cubin_.relocations(section)) relocate_variable(section, r);
    }
    if (const sass::Section* const addresses = cubin_.find(".nv.constant4"); addresses != nullptr) {
      bank4_.assign(addresses->data.begin(), addresses->data.end());
      for (const sass::Relocation& r : cubin_.relocations(".nv.constant4")) {
        const u64 address = address_of(r);
        if (points_to_function(r)) pointed_to_.insert(cubin_.symbols()[r.symbol].section);
        const std::string_view symbol = cubin_.symbols()[r.symbol].name;
        if (r.offset > bank4_.size() || bank4_.size() - r.offset < 8)
          throw sass::BadCubin("cubin: a relocation outside its section");
        if (placed_[r.symbol] == nullptr && !points_to_function(r)) functions_[r.offset] = symbol;
        std::memcpy(bank4_.data() + r.offset, &address, 8);
      }
    }
  }

  // Whether a variable holds the address of a function of the file that is no kernel.
  bool points_to_function(const sass::Relocation& r) const {
    const sass::ElfSymbol& symbol = cubin_.symbols()[r.symbol];
    return symbol.type == kFunction && !symbol.kernel && symbol.value == 0 && r.addend == 0 &&
           !ir::provided_function(symbol.name) && function_in(cubin_, symbol.section) != nullptr;
  }
  static u64 function_handle(u32 section) { return kFunctionHandles + 16 * u64{section}; }

  // 0 for symbols without an address here. Kernels that use them are refused.
  u64 address_of(const sass::Relocation& r) const {
    constexpr u32 kAddress64 = 2, kGenericAddress64 = 4;
    const sass::ElfSymbol& symbol = cubin_.symbols()[r.symbol];
    if (const auto provided = ir::provided_function(symbol.name)) return *provided;
    if (symbol.kernel) return launch_handle(symbol.section);
    if (points_to_function(r)) return function_handle(symbol.section);
    const std::byte* const at = placed_[r.symbol];
    if ((r.type != kAddress64 && r.type != kGenericAddress64) || at == nullptr) return 0;
    return reinterpret_cast<u64>(at) + static_cast<u64>(r.addend);
  }

  // Relocations in instructions: the lower or upper half of an address as an immediate, or the
  // target of a call.
  void relocate_code(Linked& code, const Part& in, const sass::Relocation& r) const {
    constexpr u32 kLowerHalf = 0x38, kUpperHalf = 0x39, kCall = 0x4b, kFormerCall = 0x3a;
    const bool kernel = is_kernel_address(r);
    const sass::ElfSymbol& symbol = cubin_.symbols()[r.symbol];
    const auto provided = ir::provided_function(symbol.name);
    u64 value = static_cast<u64>(r.addend);
    if (kernel)
      value = launch_handle(symbol.section);
    else if (provided)
      value = *provided;
    else if (placed_[r.symbol] != nullptr)
      value += reinterpret_cast<u64>(placed_[r.symbol]);
    else if (const Part* const part = code.in_section(symbol.section);
             symbol.type == kFunction && part != nullptr)
      value += part->base + symbol.value;
    else
      refuse_symbol(symbol.name);
    std::byte* const at = code.text.data() + in.base + r.offset;
    if (r.type == kLowerHalf || r.type == kUpperHalf || kernel) {
      const bool upper = r.type == kUpperHalf || r.type == kUpperHalfOfKernel;
      const u32 half = static_cast<u32>(upper ? value >> 32 : value);
      std::memcpy(at + 4, &half, 4);
    } else if (r.type == kCall || r.type == kFormerCall) {  // the latter before sm_90
      u64 low;
      std::memcpy(&low, at, 8);
      low |= r.type == kCall ? (value >> 2 & 0xff) << 16 | value >> 10 << 34 : value >> 2 << 34;
      std::memcpy(at, &low, 8);
    } else {
      throw sass::UnknownInstruction("machine code that the driver would have to link");
    }
  }

  void relocate_variable(std::string_view section, const sass::Relocation& r) {
    const u64 address = address_of(r);
    if (points_to_function(r)) pointed_to_.insert(cubin_.symbols()[r.symbol].section);
    if (address == 0) {
      unknown_in_variables_ = cubin_.symbols()[r.symbol].name;
      return;
    }
    for (std::size_t i = 0; i < placed_.size(); ++i) {
      const sass::ElfSymbol& symbol = cubin_.symbols()[i];
      const bool inside = placed_[i] != nullptr &&
                          cubin_.sections()[symbol.section].name == section &&
                          r.offset >= symbol.value && symbol.size >= 8 &&
                          r.offset - symbol.value <= symbol.size - 8;
      if (!inside) continue;
      std::memcpy(placed_[i] + (r.offset - symbol.value), &address, 8);
      return;
    }
  }

  [[noreturn]] static void refuse_symbol(std::string_view name) {
    throw sass::UnknownInstruction(fmt::format("machine code with the address of {}", name));
  }

  // The kernel uses the address of the function `name`.
  void use_function(ir::Program& program, std::string_view name) const {
    if (!ir::provided_function(name)) refuse_symbol(name);
    // The addresses that malloc returns depend on the order of blocks.
    const bool device_runtime = ir::device_function(name).has_value();
    if (name == "malloc" || name == "free" || device_runtime) program.heap = program.ordered = true;
    program.prints |= name == "vprintf" || name == "__assertfail";
    if (device_runtime && program.launchable.empty()) add_launchable(program);
  }

  // A kernel's address is not that of its code, which the launching kernel does not contain.
  static u64 launch_handle(u32 section) { return kLaunchHandles + 16 * u64{section}; }
  void add_launchable(ir::Program& program) const {
    for (const sass::ElfSymbol& symbol : cubin_.symbols()) {
      const auto& kernels = cubin_.kernels();
      const auto found = std::ranges::find_if(
          kernels, [&](const auto& kernel) { return kernel.section == symbol.section; });
      if (symbol.kernel && found != kernels.end())
        program.launchable[launch_handle(symbol.section)] = {found->name, found->param_bytes};
    }
  }

  // Registers the functions whose addresses a lowered kernel may read from constant bank 4. Refuses
  // the kernel if a variable's initialiser contains an unknown address.
  void use_functions(ir::Program& program, bool indexes_addresses) const {
    constexpr u32 kAddresses = 4;
    if (!unknown_in_variables_.empty()) refuse_symbol(unknown_in_variables_);
    for (const auto& [offset, name] : functions_) {
      const auto reads = [from = offset](const ir::BankConstant& constant) {
        return constant.bank == kAddresses && constant.offset + 4 > from &&
               constant.offset < from + 8;
      };
      if (indexes_addresses || std::ranges::any_of(program.bank_constants, reads))
        use_function(program, name);
    }
  }

  void free_variables() {
    for (void* at : allocations_) memory_.free(at);
  }

  void add_kernel(const sass::KernelInfo& kernel) {
    KernelAttributes attributes;
    attributes.name = kernel.name;
    attributes.params = kernel.params;
    attributes.param_bytes = kernel.param_bytes;
    attributes.static_shared_bytes =
        kernel.shared_bytes - std::min(kernel.shared_bytes, reserved_shared(cubin_.target()));
    attributes.local_bytes = kernel.stack_bytes;
    attributes.constant_bytes = static_cast<u32>(bank3_bytes_);
    attributes.max_threads = kernel.max_threads;
    attributes.cluster = {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]};
    attributes.target = cubin_.target();
    const auto lower = [this, &kernel, attributes] { return program_of(kernel, attributes); };
    kernels_.emplace(kernel.name, std::make_unique<Kernel>(attributes, lower));
  }

  // Possible targets of indirect jumps: the beginnings of functions and the entries of the kernel's
  // jump tables.
  std::vector<u32> jump_targets(const sass::KernelInfo& kernel, const Linked& code) const {
    std::vector<u32> targets;
    for (const sass::ElfSymbol& symbol : cubin_.symbols()) {
      const Part* const part = code.in_section(symbol.section);
      if (symbol.type == kFunction && part != nullptr)
        targets.push_back(static_cast<u32>(part->base + symbol.value));
    }
    for (u64 at = 0; at + 4 <= kernel.constants2.size(); at += 4) {
      targets.push_back(sass::read32(kernel.constants2, at));
    }
    return targets;
  }

  ir::Program program_of(const sass::KernelInfo& kernel, const KernelAttributes& attributes) const {
    ir::Program program;
    program.attributes = attributes;
    program.display_name = demangle(kernel.name);
    program.shared_begin = reserved_shared(cubin_.target());
    program.shared_static = attributes.static_shared_bytes;
    program.shared_dynamic_alignment = 16;
    program.functions.resize(1);
    program.functions[0].name = kernel.name;
    ir::MachineCode& code = program.machine_code.emplace();
    code.param_base =
        kernel.param_base != 0 ? kernel.param_base : ir::driver_constants(cubin_.target()).params;
    code.bank2.assign(kernel.constants2.begin(), kernel.constants2.end());
    code.bank3 = bank3_;
    code.bank3_bytes = bank3_bytes_;
    code.bank4 = bank4_;
    const auto source = std::make_shared<Source>();
    program.storage = source;
    Linked linked;
    try {
      if (!sass::is_known_architecture(cubin_.target())) {
        throw sass::UnknownInstruction(
            fmt::format("machine code of sm_{}, whose encodings are not known", cubin_.target()));
      }
      linked = link(cubin_, kernel, pointed_to_);
      for (const u32 section : pointed_to_) {
        if (const Part* const part = linked.in_section(section); part != nullptr)
          program.function_pointers[function_handle(section)] = static_cast<u32>(part->base);
      }
      for (const Part& part : linked.parts) {
        const bool has_own_constants =
            part.function != &kernel && !part.function->constants2.empty();
        if (has_own_constants ||
            !cubin_.relocations(".nv.constant2." + part.function->name).empty()) {
          throw sass::UnknownInstruction("machine code that the driver would have to link");
        }
        for (const sass::Relocation& r : code_relocations(cubin_, *part.function)) {
          relocate_code(linked, part, r);
          const std::string_view symbol = cubin_.symbols()[r.symbol].name;
          if (ir::provided_function(symbol)) use_function(program, symbol);
        }
        source->lines.push_back(sass::read_lines(cubin_, *part.function));
      }
      const std::vector<u32> targets = jump_targets(kernel, linked);
      sass::Lowering lowering(program, source->instructions, linked.text, targets);
      lowering.run();
      use_functions(program, lowering.indexes_addresses());
    } catch (const sass::UnknownInstruction& unknown) {
      program.unsupported = unknown.what();
      return program;
    } catch (const sass::BadCubin& damage) {
      program.unsupported = damage.what();
      return program;
    }
    for (ir::Statement& statement : program.statements) {
      const std::size_t part = linked.at(statement.place);
      const sass::LineTable& lines = source->lines[part];
      const sass::LineEntry* const entry =
          lines.find(static_cast<u32>(statement.place - linked.parts[part].base));
      if (entry == nullptr) continue;
      statement.file = lines.files[entry->file];
      statement.line = entry->line;
    }
    code.stack_bytes = stack_of(kernel, source->instructions);
    program.functions[0].local_bytes = code.stack_bytes;
    return program;
  }

  static u32 stack_of(const sass::KernelInfo& kernel,
                      const std::vector<sass::Instruction>& instructions) {
    constexpr u32 kUnknown = 0xffffffff;  // unknown to ptxas: it calls functions of the driver
    u32 bytes = kernel.stack_bytes == kUnknown ? 0 : kernel.stack_bytes;
    bool calls = false, local = false;
    for (const sass::Instruction& i : instructions) {
      calls |= i.op == sass::Op::kCall || i.op == sass::Op::kCallAbsolute;
      local |= i.op == sass::Op::kLdl || i.op == sass::Op::kStl || i.op == sass::Op::kLd ||
               i.op == sass::Op::kSt;
    }
    if (calls && local)
      bytes = std::max(bytes, bytes == 0 ? kRecursiveStackBytes : kFewestStackBytes);
    return (bytes + 15) / 16 * 16;
  }

  std::vector<std::byte> bytes_;
  sass::Cubin cubin_;
  Memory& memory_;
  std::vector<void*> allocations_;
  std::byte* bank3_ = nullptr;
  u64 bank3_bytes_ = 0;
  std::vector<std::byte> bank4_;
  std::map<u64, std::string_view> functions_;  // functions whose addresses are in bank 4, by offset
  std::set<u32> pointed_to_;               // sections of functions whose addresses variables hold
  std::string_view unknown_in_variables_;  // an initialiser's symbol that has no address here
  std::map<std::string_view, Symbol> symbols_;
  std::vector<std::byte*> placed_;  // variables by symbol, since files of a linked program may each
                                    // have one of the same name; null for other symbols
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels_;
};

}  // namespace

std::unique_ptr<Module> Module::from_cubin(std::span<const std::byte> cubin, Memory& memory) {
  try {
    return std::make_unique<CubinModule>(cubin, memory);
  } catch (const sass::BadCubin& error) {
    throw std::invalid_argument(error.what());
  }
}

}  // namespace vgpu
