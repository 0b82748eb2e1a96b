// SPDX-License-Identifier: Apache-2.0
// The engine's interface: modules, their variables in device memory, and their kernels.
#include <cxxabi.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <new>

#include <fmt/format.h>

#include "engine/kernel.hpp"
#include "ir/address.hpp"
#include "memory/memory.hpp"
#include "ptx/lower/lower.hpp"

namespace vgpu {
std::string demangle(std::string_view name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(std::string(name).c_str(), nullptr, nullptr, &status);
  std::string result = status == 0 ? std::string(text) : std::string(name);
  std::free(text);
  return result;
}

namespace {

class PtxModule final : public Module {
 public:
  PtxModule(ptx::Module module, Memory& memory, const Module* others)
      : module_(std::move(module)),
        memory_(memory),
        others_(others),
        owned_(module_.variables.size()) {
    placement_.addresses.assign(module_.variables.size(), 0);
    place_variables();
    for (ir::u32 i = 0; i < module_.functions.size(); ++i) {
      if (module_.functions[i].is_entry && !module_.functions[i].is_declaration) add_kernel(i);
    }
  }
  ~PtxModule() override { free_variables(); }

  const Kernel* find_kernel(std::string_view name) const override {
    const auto found = kernels_.find(name);
    return found == kernels_.end() ? nullptr : found->second.get();
  }

  std::optional<Symbol> find_symbol(std::string_view name) const override {
    for (std::size_t i = 0; i < module_.variables.size(); ++i) {
      const ptx::Variable& v = module_.variables[i];
      if (v.name != name || placement_.addresses[i] == 0) continue;
      return Symbol{reinterpret_cast<void*>(placement_.addresses[i]), v.size,
                    v.space == ptx::Space::kConst};
    }
    return std::nullopt;
  }

  std::vector<std::string> kernel_names() const override {
    std::vector<std::string> names;
    for (const ptx::Function& f : module_.functions) {
      if (f.is_entry && !f.is_declaration) names.emplace_back(f.name);
    }
    return names;
  }

 private:
  void place_variables() {
    try {
      for (std::size_t i = 0; i < module_.variables.size(); ++i) {
        const ptx::Variable& v = module_.variables[i];
        const bool placed = v.space == ptx::Space::kGlobal || v.space == ptx::Space::kConst;
        if (!placed || v.linkage == ptx::Linkage::kExtern || v.size == 0) continue;
        if (void* const shared = shared_with_others(v); shared != nullptr) {
          placement_.addresses[i] = reinterpret_cast<ir::u64>(shared);
          continue;
        }
        void* const at = memory_.allocate(v.size, std::string(v.name));
        if (at == nullptr) throw std::bad_alloc();
        owned_[i] = true;
        if (!v.initial.empty()) std::memcpy(at, v.initial.data(), v.initial.size());
        placement_.addresses[i] = reinterpret_cast<ir::u64>(at);
      }
      for (std::size_t i = 0; i < module_.variables.size(); ++i) {
        if (!owned_[i]) continue;
        for (const ptx::Relocation& r : module_.variables[i].relocations) relocate(i, r);
      }
    } catch (...) {
      free_variables();
      throw;
    }
  }

  // Function addresses differ in machine code, so variables that hold some are not shared.
  void* shared_with_others(const ptx::Variable& v) const {
    if (others_ == nullptr) return nullptr;
    for (const ptx::Relocation& r : v.relocations) {
      if (r.symbol.kind == ptx::Symbol::Kind::kFunction) return nullptr;
    }
    const auto found = others_->find_symbol(v.name);
    return found && found->bytes == v.size ? found->address : nullptr;
  }

  void relocate(std::size_t variable, const ptx::Relocation& r) {
    ir::u64 address = 0;
    if (r.symbol.kind == ptx::Symbol::Kind::kFunction) {
      const ir::u32 function = ptx::resolve_alias(module_, r.symbol.index);
      if (!module_.functions[function].is_declaration) address = ir::function_address(function);
    } else if (r.symbol.kind == ptx::Symbol::Kind::kModule) {
      address = placement_.addresses[r.symbol.index];
    }
    if (address == 0 || placement_.addresses[variable] == 0) {
      throw Unsupported(fmt::format("unsupported: the address of {} in the initialiser of {}",
                                    r.name, module_.variables[variable].name));
    }
    address = (address + static_cast<ir::u64>(r.addend)) >> r.shift;
    std::memcpy(reinterpret_cast<void*>(placement_.addresses[variable] + r.offset), &address,
                r.size);
  }

  void free_variables() {
    for (std::size_t i = 0; i < owned_.size(); ++i) {
      if (owned_[i]) memory_.free(reinterpret_cast<void*>(placement_.addresses[i]));
    }
  }

  void add_kernel(ir::u32 index) {
    const ptx::Layout layout = ptx::lay_out(module_, index);
    KernelAttributes attributes = ptx::attributes_of(module_, index, layout);
    const std::string_view name = module_.functions[index].name;
    const auto lower = [this, layout, attributes] {
      ir::Program program = ptx::lower(module_, layout, placement_, attributes);
      program.display_name = demangle(attributes.name);
      return program;
    };
    kernels_.emplace(name, std::make_unique<Kernel>(attributes, lower));
  }

  ptx::Module module_;
  Memory& memory_;
  const Module* others_;
  std::vector<bool> owned_;  // by variable: allocated by this module
  ptx::Placement placement_;
  std::map<std::string_view, std::unique_ptr<Kernel>> kernels_;
};

}  // namespace

std::unique_ptr<Module> module_of_ptx(std::string_view ptx, Memory& memory, const Module* others) {
  return std::make_unique<PtxModule>(ptx::parse(ptx), memory, others);
}

std::unique_ptr<Module> Module::from_ptx(std::string_view ptx, Memory& memory) {
  return module_of_ptx(ptx, memory, nullptr);
}

const KernelAttributes& attributes(const Kernel& kernel) { return kernel.attributes(); }
const std::string& refusal(const Kernel& kernel) { return kernel.program().unsupported; }

}  // namespace vgpu
