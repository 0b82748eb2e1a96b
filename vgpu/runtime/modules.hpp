// SPDX-License-Identifier: Apache-2.0
// The fat binaries that a program registers at its start, with their kernels and variables.
// Registration only records them. A fat binary is read, and its PTX parsed, when one of its kernels
// or variables is first used.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "devices/devices.hpp"
#include "engine/engine.hpp"
#include "runtime/image/image.hpp"
#include "runtime/settings.hpp"

namespace vgpu::runtime {

class FatBinary {
 public:
  explicit FatBinary(const void* wrapper) : wrapper_(wrapper) {}
  // PTX text or machine code (an ELF file), for the target that it names. Throws image::Damaged.
  FatBinary(image::Kind kind, std::string code);

  // Returns the module for this device, which the first call loads. The module consists of the
  // machine code, with the PTX for kernels whose machine code the engine cannot execute, or of one
  // of the two. Throws Failure if there is none, with the reason on every call. `user` names the
  // kernel or variable that needs the module.
  Module& module(const Device& device, Memory& memory, EngineChoice engine,
                 const std::string& user);

  // The machine code for this device, decompressed; empty if there is none.
  std::span<const std::byte> cubin(const Device& device);

  // The resources that ptxas assigned; nothing if there is no machine code for this device.
  std::optional<image::Resources> resources(const Device& device, const std::string& kernel);
  std::optional<std::uint32_t> registers(const Device& device, const std::string& kernel);

  void unload() { unloaded_ = true; }  // the program may free its bytes afterwards
  bool unloaded() const { return unloaded_; }

 private:
  const std::vector<image::Entry>& entries();
  std::unique_ptr<Module> load(const Device& device, Memory& memory, EngineChoice engine,
                               const std::string& user);
  // Gives the PTX for this device, of linked code that of all units, linked; null if there is none.
  std::function<std::string()> ptx(const Device& device);
  std::string present();
  [[noreturn]] void refuse_without_ptx(const Device& device, const std::string& user);

  const void* wrapper_ = nullptr;
  bool unloaded_ = false;
  std::string code_;
  std::optional<std::vector<image::Entry>> entries_;
  // one module per device, because each device has its own variables
  std::map<const Device*, std::unique_ptr<Module>> modules_;
  std::map<int, std::string> cubins_;  // by target (90 for sm_90)
  std::map<int, std::map<std::string, image::Resources>> resources_;
  std::string damage_;  // why the machine code is damaged; "" if no damage is known
};

// A __global__ function. Its address is the cudaKernel_t.
struct Function {
  FatBinary* binary = nullptr;
  const void* host_function = nullptr;  // the host stub of the kernel in the program
  std::string name;                     // mangled
  std::string shown;                    // demangled
  int max_dynamic_shared = -1;          // cudaFuncAttributeMaxDynamicSharedMemorySize; -1: not set
  int shared_carveout = -1;             // a preference, without effect
  bool non_portable_cluster = false;    // cudaFuncAttributeNonPortableClusterSizeAllowed
  std::string refused;                  // the last message that a launch breaks a rule
  bool registers_said = false;          // the message that registers are not known was printed
  bool refusal_said = false;            // the message why it cannot be launched was printed
  bool lost_prints_said = false;        // the message that printf's buffer overflowed was printed
  bool sampling_said = false;           // the message about sampling was printed
  bool unwritten_said = false;          // the remark about unwritten local memory was printed
};

struct Variable {
  FatBinary* binary = nullptr;
  std::string name;
  std::size_t bytes = 0;
  // for a __managed__ variable: the host variable that holds its address
  void** managed_pointer = nullptr;
};

class Modules {
 public:
  FatBinary* add(const void* wrapper);
  FatBinary* add_code(image::Kind kind, std::string code);
  void unload(FatBinary* binary);

  // `host_function` is null for a kernel without a host stub.
  Function* add_function(FatBinary* binary, const void* host_function, const char* name);
  void add_variable(const void* host_variable, Variable variable);
  const std::vector<Variable>& managed_variables() const { return managed_; }

  // Finds by name, in this binary if it has such a kernel; otherwise adds it to this binary.
  Function& function_named(FatBinary* binary, const std::string& name);
  // Finds by the address of the host stub or by handle. Returns null if unknown.
  Function* function(const void* host_function_or_handle);
  Variable* variable(const void* host_variable);

 private:
  // What a fat binary added to the tables below.
  struct Registered {
    std::vector<Function*> functions;
    std::vector<const void*> variables;
  };

  std::vector<std::unique_ptr<FatBinary>> binaries_;
  std::unordered_map<const FatBinary*, Registered> registered_;
  std::vector<std::unique_ptr<Function>> functions_;
  std::unordered_map<const void*, Function*> by_address_;  // stubs and handles
  std::unordered_map<const void*, Variable> variables_;
  std::vector<Variable> managed_;
};

}  // namespace vgpu::runtime
