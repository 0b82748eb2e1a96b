// SPDX-License-Identifier: Apache-2.0
#include "machine/operations.hpp"

#include <algorithm>
#include <atomic>
#include <stdexcept>

namespace vgpu::machine {

#define VGPU_ISA_ROW(isa) \
  namespace isa {         \
  const IsaCode& code();  \
  }
#include "isas.inc"
#undef VGPU_ISA_ROW

OperationSink::OperationSink(std::vector<Handler>& handlers) : handlers_(handlers) {
  handlers_.resize(operations().size());
}

void OperationSink::add(const char* names, const char* suffix, const Shape& shape, Handler handler,
                        bool control) {
  std::string_view rest = names;
  while (!rest.empty()) {
    const std::size_t end = rest.find(' ');
    std::string name(rest.substr(0, end));
    name += suffix;
    const auto index = find_operation(name);
    const bool known = index && operations()[*index].shape == shape &&
                       operations()[*index].control == control && handlers_[*index] == nullptr;
    if (!known) throw std::logic_error("not as in the table of operations: " + name);
    handlers_[*index] = handler;
    rest = end == std::string_view::npos ? "" : rest.substr(end + 1);
  }
}

void OperationSink::require_all() const {
  const auto missing = std::find(handlers_.begin(), handlers_.end(), nullptr);
  if (missing == handlers_.end()) return;
  throw std::logic_error("an operation without a handler: " +
                         operations()[static_cast<std::size_t>(missing - handlers_.begin())].name);
}

void OperationSink::add_joined(const char* first, const char* second, const char* third,
                               const Shape& shape, Handler handler) {
  add((std::string(first) + second).c_str(), third, shape, handler);
}

void OperationSink::add_conversion(const char* rounding, const char* modifiers, const char* to,
                                   const char* from, const Shape& shape, Handler handler) {
  add((std::string(rounding) + modifiers + to + ".").c_str(), from, shape, handler);
}

namespace {

struct Registry {
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
      OperationSink sink(isa.handlers);
      code->define(sink);
      sink.require_all();
      isas.push_back(std::move(isa));
    }
    if (isas.empty()) {
      throw std::runtime_error(
          "this build's instruction sets need a newer CPU (configure with -DLADDER_HOST_ISAS=all)");
    }
    current = &isas.back();
  }
};

Registry& registry() {
  static auto* const instance = new Registry;
  return *instance;
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
