// SPDX-License-Identifier: Apache-2.0
#include "ptx/lower/lower.hpp"

#include <algorithm>

namespace vgpu::ptx {
namespace {

// From sm_90 on, the first 0x400 bytes of shared memory are reserved for the system.
constexpr u32 kReservedShared = 0x400;

u32 align(u32 value, u32 to) { return (value + to - 1) / to * to; }

class Walker {
 public:
  Walker(const ptx::Module& module, u32 kernel) : module_(module) {
    layout_.member_of.assign(module.functions.size(), kNone);
    layout_.shared_begin = module.target >= 90 ? kReservedShared : 0;
    top_ = layout_.shared_begin;
    include(kernel);
    for (std::size_t i = 0; i < layout_.members.size(); ++i) visit(layout_.members[i].function);
    place_dynamic();
    for (const ptx::Variable& v : module.variables) {
      if (v.space != ptx::Space::kConst) continue;
      layout_.constant_bytes =
          align(layout_.constant_bytes, v.alignment) + static_cast<u32>(v.size);
    }
  }
  Layout take() { return std::move(layout_); }

 private:
  void include(u32 function) {
    function = resolve_alias(module_, function);
    if (layout_.member_of[function] != kNone || module_.functions[function].is_declaration) return;
    // The address of a kernel is for launches.
    if (module_.functions[function].is_entry && !layout_.members.empty()) return;
    layout_.member_of[function] = static_cast<u32>(layout_.members.size());
    Layout::Member& member = layout_.members.emplace_back();
    member.function = function;
    for (const ptx::Variable& v : module_.functions[function].variables) {
      u32 address = kNone;
      if (v.space == ptx::Space::kShared) {
        address = place_shared(v);
      } else if (v.space == ptx::Space::kLocal) {
        address = align(member.local_bytes, v.alignment);
        member.local_bytes = address + static_cast<u32>(v.size);
      }
      member.addresses.push_back(address);
    }
    if (!module_.functions[function].is_entry) place_params(module_.functions[function], member);
  }

  // A device function's parameter whose address is taken is a variable in local memory.
  static void place_params(const ptx::Function& function, Layout::Member& member) {
    member.param_copies.assign(function.params.size(), kNone);
    for (const ptx::Instruction& instruction : function.body) {
      for (const ptx::Operand& operand : instruction.operands) {
        if (operand.kind != ptx::Operand::Kind::kSymbol ||
            operand.symbol.kind != ptx::Symbol::Kind::kParam)
          continue;
        const ptx::Parameter& parameter = function.params[operand.symbol.index];
        u32& copy = member.param_copies[operand.symbol.index];
        if (copy != kNone) continue;
        copy = align(member.local_bytes, std::max(parameter.alignment, 8u));
        member.local_bytes = copy + static_cast<u32>(parameter.size);
      }
    }
  }

  void visit(u32 function) {
    for (const ptx::Instruction& instruction : module_.functions[function].body) {
      for (const ptx::Operand& operand : instruction.operands) visit(operand);
      const bool indirect = instruction.opcode->base() == "call" && is_indirect(instruction);
      if (indirect && !all_addressed_) include_addressed();
    }
  }

  void visit(const ptx::Operand& operand) {
    if (operand.kind == ptx::Operand::Kind::kSymbol) {
      if (operand.symbol.kind == ptx::Symbol::Kind::kFunction) include(operand.symbol.index);
      if (operand.symbol.kind == ptx::Symbol::Kind::kModule) use(operand.symbol.index);
    }
    for (const ptx::Operand& element : operand.elements) visit(element);
  }

  static bool is_indirect(const ptx::Instruction& call) {
    return std::ranges::any_of(call.operands, [](const ptx::Operand& o) {
      return o.kind == ptx::Operand::Kind::kRegister;
    });
  }

  // A call through a pointer can reach every function whose address is taken somewhere.
  void include_addressed() {
    all_addressed_ = true;
    for (const ptx::Variable& v : module_.variables) {
      for (const ptx::Relocation& r : v.relocations) {
        if (r.symbol.kind == ptx::Symbol::Kind::kFunction) include(r.symbol.index);
      }
    }
    for (const ptx::Function& f : module_.functions) {
      for (const ptx::Instruction& instruction : f.body) {
        if (instruction.opcode->base() == "call") continue;
        for (const ptx::Operand& operand : instruction.operands) {
          if (operand.symbol.kind == ptx::Symbol::Kind::kFunction) include(operand.symbol.index);
        }
      }
    }
  }

  void use(u32 variable) {
    const ptx::Variable& v = module_.variables[variable];
    if (v.space != ptx::Space::kShared || layout_.shared.contains(variable)) return;
    if (v.size == 0) {
      dynamic_.push_back(variable);
      layout_.dynamic_alignment = std::max(layout_.dynamic_alignment, v.alignment);
      layout_.shared[variable] = kNone;
    } else {
      layout_.shared[variable] = place_shared(v);
    }
  }

  u32 place_shared(const ptx::Variable& v) {
    const u32 address = align(top_, v.alignment);
    top_ = address + static_cast<u32>(v.size);
    layout_.shared_static = top_ - layout_.shared_begin;
    return address;
  }

  // All extern arrays (dynamic shared memory) begin where the static variables end.
  void place_dynamic() {
    layout_.dynamic_alignment = std::max(layout_.dynamic_alignment, 16u);
    for (u32 variable : dynamic_) layout_.shared[variable] = align(top_, layout_.dynamic_alignment);
  }

  const ptx::Module& module_;
  Layout layout_;
  std::vector<u32> dynamic_;
  u32 top_ = 0;
  bool all_addressed_ = false;
};

}  // namespace

u32 resolve_alias(const ptx::Module& module, u32 function) {
  for (const ptx::Alias& alias : module.aliases) {
    if (alias.name == function) return alias.of;
  }
  return function;
}

Layout lay_out(const ptx::Module& module, u32 kernel) { return Walker(module, kernel).take(); }

KernelAttributes attributes_of(const ptx::Module& module, u32 kernel, const Layout& layout) {
  const ptx::Function& function = module.functions[kernel];
  KernelAttributes attributes;
  attributes.name = std::string(function.name);
  for (const ptx::Parameter& p : function.params) {
    attributes.params.push_back({static_cast<u32>(p.offset), static_cast<u32>(p.size)});
  }
  attributes.param_bytes = static_cast<u32>(function.param_bytes);
  attributes.static_shared_bytes = layout.shared_static;
  attributes.local_bytes = layout.members[0].local_bytes;
  attributes.constant_bytes = layout.constant_bytes;
  const auto& bound = function.required_threads ? function.required_threads : function.max_threads;
  if (bound)
    attributes.max_threads = (*bound)[0] * std::max(1u, (*bound)[1]) * std::max(1u, (*bound)[2]);
  if (function.required_cluster) {
    const auto& of = *function.required_cluster;
    attributes.cluster = {of[0], std::max(1u, of[1]), std::max(1u, of[2])};
  }
  attributes.target = module.target;
  return attributes;
}

}  // namespace vgpu::ptx
