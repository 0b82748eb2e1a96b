// SPDX-License-Identifier: Apache-2.0
#include "runtime/modules.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "engine/image_module.hpp"
#include "engine/kernel.hpp"
#include "ptx/parse/linker.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

std::string target_name(const image::Entry& entry) {
  const char* suffix = entry.arch_specific ? "a" : "";
  return entry.kind == image::Kind::kPtx ? fmt::format("PTX for compute_{}{}", entry.target, suffix)
                                         : fmt::format("sm_{}{} SASS", entry.target, suffix);
}

}  // namespace

FatBinary::FatBinary(image::Kind kind, std::string code) : code_(std::move(code)) {
  image::Entry entry;
  entry.kind = kind;
  entry.stored = std::as_bytes(std::span(code_));
  entry.plain_bytes = code_.size();
  constexpr std::string_view kTarget = ".target sm_";
  if (kind == image::Kind::kCubin) {
    entry.target = image::cubin_target(entry.stored);
  } else if (const auto at = code_.find(kTarget); at != code_.npos) {
    const char* const number = code_.data() + at + kTarget.size();
    const auto [end, error] = std::from_chars(number, code_.data() + code_.size(), entry.target);
    entry.arch_specific = error == std::errc() && end != code_.data() + code_.size() && *end == 'a';
  }
  entries_ = {entry};
}

const std::vector<image::Entry>& FatBinary::entries() {
  if (unloaded()) refuse(cudaErrorCudartUnloading);
  if (!entries_) {
    try {
      entries_ = image::read_entries(image::fat_binary_of(wrapper_));
    } catch (const image::Damaged& error) {
      refuse(cudaErrorInvalidKernelImage, fmt::format("damaged fat binary: {}", error.what()));
    }
  }
  return *entries_;
}

std::string FatBinary::present() {
  std::string list;
  for (const image::Entry& entry : entries()) {
    if (entry.kind != image::Kind::kPtx && entry.kind != image::Kind::kCubin) continue;
    if (!list.empty()) list += ", ";
    list += target_name(entry);
  }
  return list.empty() ? "nothing" : list;
}

std::function<std::string()> FatBinary::ptx(const Device& device) {
  const auto target = static_cast<std::uint32_t>(device.target());
  if (const image::Entry* entry = image::choose_ptx(entries(), target); entry != nullptr)
    return [entry] { return image::ptx_text(*entry); };
  if (wrapper_ == nullptr) return nullptr;
  std::vector<image::Entry> units;
  for (const auto fat_binary : image::linked_units(wrapper_)) {
    const auto in_unit = image::read_entries(fat_binary);
    const image::Entry* entry = image::choose_ptx(in_unit, target);
    if (entry != nullptr) units.push_back(*entry);  // the device's runtime has no PTX
  }
  if (units.empty()) return nullptr;
  return [units] {
    std::vector<ptx::PtxUnit> texts;
    for (const image::Entry& unit : units)
      texts.push_back({fmt::format("unit {}", texts.size() + 1), image::ptx_text(unit)});
    return ptx::link_ptx(texts);
  };
}

void FatBinary::refuse_without_ptx(const Device& device, const std::string& user) {
  constexpr int kCommon = 80;  // of all devices but the oldest
  const int target = std::min(device.target(), kCommon);
  refuse(cudaErrorNoKernelImageForDevice,
         fmt::format("no PTX that sm_{} takes in the fat binary for {} (only {}): build with "
                     "-gencode arch=compute_{},code=compute_{}",
                     device.target(), user, present(), target, target));
}

Module& FatBinary::module(const Device& device, Memory& memory, EngineChoice engine,
                          const std::string& user) {
  if (const auto known = modules_.find(&device); known != modules_.end()) return *known->second;
  return *(modules_[&device] = load(device, memory, engine, user));
}

std::unique_ptr<Module> FatBinary::load(const Device& device, Memory& memory, EngineChoice engine,
                                        const std::string& user) {
  try {
    const std::function<std::string()> text = ptx(device);
    const std::span<const std::byte> code =
        engine != EngineChoice::kPtx ? cubin(device) : std::span<const std::byte>();
    if (!code.empty()) {
      try {
        return sass::from_images(code, engine == EngineChoice::kAuto ? text : nullptr, memory);
      } catch (const std::invalid_argument& error) {
        damage_ = error.what();
      }
    }
    if (!damage_.empty() && (!text || engine != EngineChoice::kAuto)) {
      refuse(cudaErrorInvalidKernelImage,
             fmt::format("{}: damaged machine code: {}", user, damage_));
    }
    if (engine == EngineChoice::kSass) {
      refuse(cudaErrorNoKernelImageForDevice,
             fmt::format(
                 "no machine code of sm_{} in the fat binary for {} (only {}): build with -gencode "
                 "arch=compute_{},code=sm_{}, or choose another engine",
                 device.target(), user, present(), device.target(), device.target()));
    }
    if (!text) refuse_without_ptx(device, user);
    auto module = Module::from_ptx(text(), memory);
    if (!damage_.empty()) {
      say(fmt::format("{}: its machine code is damaged, PTX runs instead: {}", user, damage_));
      for (const std::string& name : module->kernel_names())
        module->find_kernel(name)->set_fallback(damage_);
    }
    return module;
  } catch (const image::Damaged& error) {
    refuse(cudaErrorInvalidKernelImage, fmt::format("damaged fat binary: {}", error.what()));
  } catch (const Unsupported& error) {
    refuse(cudaErrorNotSupported, fmt::format("{}: {}", user, error.what()));
  } catch (const std::invalid_argument& error) {
    refuse(cudaErrorInvalidPtx, fmt::format("{}: {}", user, error.what()));
  }
}

std::span<const std::byte> FatBinary::cubin(const Device& device) {
  auto known = cubins_.find(device.target());
  if (known == cubins_.end()) {
    const image::Entry* entry =
        image::choose_cubin(entries(), static_cast<std::uint32_t>(device.target()));
    std::string code;
    try {
      if (entry != nullptr) code = image::contents(*entry);
    } catch (const image::Damaged& error) {
      damage_ = error.what();
    }
    known = cubins_.emplace(device.target(), std::move(code)).first;
  }
  return std::as_bytes(std::span(known->second));
}

std::optional<image::Resources> FatBinary::resources(const Device& device,
                                                     const std::string& kernel) {
  auto known = resources_.find(device.target());
  if (known == resources_.end()) {
    const auto code = cubin(device);
    std::map<std::string, image::Resources> found;
    try {
      if (!code.empty()) found = image::read_resources(code);
    } catch (const image::Damaged&) {  // the resources stay unknown; the kernels may run from PTX
    }
    known = resources_.emplace(device.target(), std::move(found)).first;
  }
  const auto found = known->second.find(kernel);
  if (found == known->second.end()) return std::nullopt;
  return found->second;
}

std::optional<std::uint32_t> FatBinary::registers(const Device& device, const std::string& kernel) {
  const auto known = resources(device, kernel);
  return known ? std::optional(known->registers) : std::nullopt;
}

FatBinary* Modules::add(const void* wrapper) {
  binaries_.push_back(std::make_unique<FatBinary>(wrapper));
  return binaries_.back().get();
}

FatBinary* Modules::add_code(image::Kind kind, std::string code) {
  binaries_.push_back(std::make_unique<FatBinary>(kind, std::move(code)));
  return binaries_.back().get();
}

// The objects are kept, because the program may still hold handles to them. Such handles return
// cudaErrorCudartUnloading.
void Modules::unload(FatBinary* binary) {
  binary->unload();
  const auto registered = registered_.extract(binary);
  if (registered.empty()) return;
  for (const Function* function : registered.mapped().functions) {
    const auto known = by_address_.find(function->host_function);
    if (known != by_address_.end() && known->second == function) by_address_.erase(known);
  }
  for (const void* host_variable : registered.mapped().variables) {
    const auto known = variables_.find(host_variable);
    if (known != variables_.end() && known->second.binary == binary) variables_.erase(known);
  }
}

Function* Modules::add_function(FatBinary* binary, const void* host_function, const char* name) {
  functions_.push_back(std::make_unique<Function>());
  Function* function = functions_.back().get();
  function->binary = binary;
  function->host_function = host_function;
  function->name = name;
  function->shown = demangle(function->name);
  if (host_function != nullptr) by_address_[host_function] = function;
  by_address_[function] = function;
  registered_[binary].functions.push_back(function);
  return function;
}

void Modules::add_variable(const void* host_variable, Variable variable) {
  if (variable.managed_pointer != nullptr) managed_.push_back(variable);
  registered_[variable.binary].variables.push_back(host_variable);
  variables_[host_variable] = std::move(variable);
}

Function& Modules::function_named(FatBinary* binary, const std::string& name) {
  Function* elsewhere = nullptr;
  for (const auto& function : functions_) {
    if (function->name != name) continue;
    if (function->binary == binary) return *function;
    elsewhere = function.get();
  }
  return elsewhere != nullptr ? *elsewhere : *add_function(binary, nullptr, name.c_str());
}

Function* Modules::function(const void* host_function_or_handle) {
  const auto found = by_address_.find(host_function_or_handle);
  return found == by_address_.end() ? nullptr : found->second;
}

Variable* Modules::variable(const void* host_variable) {
  const auto found = variables_.find(host_variable);
  return found == variables_.end() ? nullptr : &found->second;
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

namespace {

FatBinary* binary_of(void** handle) { return reinterpret_cast<FatBinary*>(handle); }

// Exceptions before main cannot be caught. A kernel or variable that could not be recorded is
// missing later, and its use is refused by name.
template <class Result, class Body>
Result note(Body body) noexcept {
  try {
    Runtime& runtime = Runtime::get();
    const std::scoped_lock lock(runtime.mutex);
    return body(runtime);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "vgpu: the program's kernels cannot be registered: %s\n", error.what());
    return {};
  }
}

}  // namespace

// The functions that nvcc's generated code calls before main. They only record fat binaries,
// kernels and variables.

void** __cudaRegisterFatBinary(void* wrapper) {
  return note<void**>(
      [&](Runtime& runtime) { return reinterpret_cast<void**>(runtime.modules.add(wrapper)); });
}

void __cudaRegisterFatBinaryEnd(void**) {}

void __cudaUnregisterFatBinary(void** handle) {
  if (handle == nullptr) return;
  note<bool>([&](Runtime& runtime) { return runtime.modules.unload(binary_of(handle)), true; });
}

void __cudaRegisterFunction(void** handle, const char* host_function, char*,
                            const char* device_name, int, uint3*, uint3*, dim3*, dim3*, int*) {
  if (handle == nullptr) return;
  note<void*>([&](Runtime& runtime) {
    return runtime.modules.add_function(binary_of(handle), host_function, device_name);
  });
}

void __cudaRegisterVar(void** handle, char* host_variable, char*, const char* device_name, int,
                       size_t size, int, int) {
  if (handle == nullptr) return;
  note<bool>([&](Runtime& runtime) {
    runtime.modules.add_variable(host_variable, {binary_of(handle), device_name, size, nullptr});
    return true;
  });
}

void __cudaRegisterManagedVar(void** handle, void** host_pointer, char*, const char* device_name,
                              int, size_t size, int, int) {
  if (handle == nullptr) return;
  note<bool>([&](Runtime& runtime) {
    runtime.modules.add_variable(host_pointer,
                                 {binary_of(handle), device_name, size, host_pointer});
    return true;
  });
}

// Called before the host accesses a __managed__ variable. Its pointer must be valid afterwards.
char __cudaInitModule(void** handle) {
  const auto error = query([&](Runtime& runtime) {
    for (const Variable& variable : runtime.modules.managed_variables()) {
      if (variable.binary != binary_of(handle) || *variable.managed_pointer != nullptr) continue;
      auto& module = variable.binary->module(runtime.device(), runtime.memory,
                                             runtime.settings.engine, "variable " + variable.name);
      const auto symbol = module.find_symbol(variable.name);
      if (!symbol)
        refuse(cudaErrorInvalidSymbol, "no managed variable " + variable.name + " in the PTX");
      *variable.managed_pointer = symbol->address;
    }
  });
  return error == cudaSuccess;
}
