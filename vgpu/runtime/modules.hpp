// SPDX-License-Identifier: Apache-2.0
// What a program registers at its start: fat binaries with their kernels and variables.
// Registration only notes them; a fat binary is read, and its PTX parsed, when one of its kernels
// or variables is first used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "runtime/image/cubin.hpp"
#include "runtime/image/fatbin.hpp"
#include "runtime/settings.hpp"

namespace vgpu::runtime {

class FatBinary {
 public:
  explicit FatBinary(const void* wrapper) : wrapper_(wrapper) {}
  explicit FatBinary(std::string ptx);  // that one text, for the target that it names

  // The module for this device, loaded on the first call: of the machine code, with the PTX for
  // what that does not do, or of one of them. Throws Failure (with the reason, again on every call)
  // if there is none; `user` is the kernel or variable that it is needed for.
  Module& module(const Device& device, Memory& memory, EngineChoice engine,
                 const std::string& user);

  // The machine code for this device, decompressed; empty if there is none.
  std::span<const std::byte> cubin(const Device& device);

  // As ptxas assigned them; nothing if there is no machine code for this device.
  std::optional<image::Resources> resources(const Device& device, const std::string& kernel);
  std::optional<std::uint32_t> registers(const Device& device, const std::string& kernel);

  void unload() { unloaded_ = true; }  // its bytes go away
  bool unloaded() const { return unloaded_; }

 private:
  const std::vector<image::Entry>& entries();
  std::unique_ptr<Module> load(const Device& device, Memory& memory, EngineChoice engine,
                               const std::string& user);
  std::string present();
  [[noreturn]] void refuse_without_ptx(const std::string& user);

  const void* wrapper_ = nullptr;
  bool unloaded_ = false;
  std::string ptx_;
  std::optional<std::vector<image::Entry>> entries_;
  std::map<const Device*, std::unique_ptr<Module>>
      modules_;                        // each device has variables of its own
  std::map<int, std::string> cubins_;  // by target
  std::map<int, std::map<std::string, image::Resources>> resources_;
  std::string damage_;  // what is wrong with the machine code; "" if nothing is known to be
};

// A __global__ function. Its address is the cudaKernel_t.
struct Function {
  FatBinary* binary = nullptr;
  const void* host_function = nullptr;  // the stub that stands for it in the program
  std::string name;                     // mangled
  std::string shown;                    // demangled
  int max_dynamic_shared = -1;        // cudaFuncAttributeMaxDynamicSharedMemorySize, if it was set
  int shared_carveout = -1;           // a preference, noted only
  bool non_portable_cluster = false;  // cudaFuncAttributeNonPortableClusterSizeAllowed
  bool refusal_said = false;          // why it cannot be launched was printed
  bool lost_prints_said = false;      // that printf's buffer was too small
  bool sampling_said = false;         // that only some of its blocks are executed, or why all are
};

struct Variable {
  FatBinary* binary = nullptr;
  std::string name;
  std::size_t bytes = 0;
  void** managed_pointer = nullptr;  // of a __managed__ variable: where the host keeps its address
};

class Modules {
 public:
  FatBinary* add(const void* wrapper);
  FatBinary* add_ptx(std::string ptx);
  void unload(FatBinary* binary);

  // `host_function` is null for a kernel that no stub stands for.
  Function* add_function(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(const void* host_variable, Variable variable);
  const std::vector<Variable>& managed_variables() const { return managed_; }

  // By the address of the host's stub or by handle. Null if unknown.
  Function* function(const void* host_function_or_handle);
  Variable* variable(const void* host_variable);

 private:
  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unordered_map<const void*, Function*> by_address_;  // stubs and handles
  std::unordered_map<const void*, Variable> variables_;
  std::vector<Variable> managed_;
};

std::string demangle(const std::string& name);

}  // namespace vgpu::runtime
