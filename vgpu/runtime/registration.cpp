// SPDX-License-Identifier: Apache-2.0
// The functions that nvcc's generated code calls before main. They only record fat binaries,
// kernels and variables.
#include <cstdio>
#include <exception>

#include "runtime/runtime.hpp"

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
