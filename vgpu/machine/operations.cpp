// SPDX-License-Identifier: Apache-2.0
#include "machine/operations.hpp"

#include <atomic>
#include <stdexcept>
#include <unordered_map>

namespace vgpu::machine {

#define VGPU_ISA_ROW(isa) \
  namespace isa {         \
  const IsaCode& code();  \
  }
#include "isas.inc"
#undef VGPU_ISA_ROW

void OperationSink::add(const char* names, const char* suffix, Shape shape, Handler handler,
                        bool control) {
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    std::string name(rest.substr(0, end));
    if (operations_ != nullptr) operations_->push_back({name.append(suffix), shape, control});
    handlers_->push_back(handler);
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
}

void OperationSink::add_joined(const char* first, const char* second, const char* third,
                               Shape shape, Handler handler) {
  add((std::string(first) + second).c_str(), third, shape, handler);
}

void OperationSink::add_conversion(const char* prefix, const char* to, const char* from,
                                   Shape shape, Handler handler) {
  add((std::string(prefix) + to + ".").c_str(), from, shape, handler);
}

namespace {

struct Registry {
  std::vector<Operation> operations;
  std::unordered_map<std::string_view, u16> by_name;
  std::vector<Isa> isas;
  std::atomic<const Isa*> current = nullptr;

  Registry() {
    static constexpr auto kCompiled = {
#define VGPU_ISA_ROW(isa) &isa::code,
#include "isas.inc"
#undef VGPU_ISA_ROW
    };
    for (const auto& code_of : kCompiled) {
      const IsaCode* code = &code_of();
      if (!code->available()) continue;
      Isa isa{*code, {}};
      OperationSink sink(operations.empty() ? &operations : nullptr, &isa.handlers);
      code->define(sink);
      isas.push_back(std::move(isa));
    }
    if (isas.empty()) {
      throw std::runtime_error(
          "this build's instruction sets need a newer CPU (configure with -DLADDER_HOST_ISAS=all)");
    }
    for (std::size_t i = 0; i < operations.size(); ++i) {
      if (!by_name.emplace(operations[i].name, static_cast<u16>(i)).second) {
        throw std::logic_error("operation defined twice: " + operations[i].name);
      }
    }
    current = &isas.back();
  }
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

std::span<const Isa> isas() { return registry().isas; }

const Isa& current_isa() { return *registry().current; }

bool use_isa(std::string_view name) {
  if (name.empty()) name = registry().isas.back().code.name;
  for (const Isa& isa : registry().isas) {
    if (isa.code.name == name) {
      registry().current = &isa;
      return true;
    }
  }
  return false;
}

}  // namespace vgpu::machine

namespace vgpu::ir {

const std::vector<Operation>& operations() { return machine::registry().operations; }

std::optional<u16> find_operation(std::string_view name) {
  const auto& names = machine::registry().by_name;
  const auto found = names.find(name);
  return found == names.end() ? std::nullopt : std::optional<u16>(found->second);
}

}  // namespace vgpu::ir
