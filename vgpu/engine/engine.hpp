// SPDX-License-Identifier: Apache-2.0
// Interface of the virtual GPU's engine: load PTX or machine code, launch kernels, and receive
// counters and faults. The engine knows nothing of the CUDA runtime's API, of files or of the
// command line.
#pragma once
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "count/launch_report.hpp"
#include "ir/fault.hpp"
#include "ir/launch.hpp"

namespace vgpu {

class Memory;  // memory/memory.hpp: device memory and its allocations

struct Symbol {
  void* address = nullptr;
  std::size_t bytes = 0;
  bool constant = false;
};

class Kernel;  // engine/kernel.hpp

// One module, parsed and lowered. Its global and constant variables are allocated in `memory`.
class Module {
 public:
  // Throws Unsupported, or std::invalid_argument with line and reason if the text is not PTX. A
  // kernel that contains an unsupported instruction does not fail the module: launching it throws.
  static std::unique_ptr<Module> from_ptx(std::string_view ptx, Memory& memory);
  // The machine code of one architecture (sm_80, sm_90a), an ELF file. Throws std::invalid_argument
  // if the file is damaged. As above, a kernel with unknown instructions fails only when it is
  // launched; refusal() returns the reason beforehand.
  static std::unique_ptr<Module> from_cubin(std::span<const std::byte> cubin, Memory& memory);
  virtual ~Module() = default;
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual const Kernel* find_kernel(std::string_view name) const = 0;  // null if absent
  virtual std::optional<Symbol> find_symbol(std::string_view name) const = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
};

const KernelAttributes& attributes(const Kernel& kernel);

// Why a kernel cannot be launched: the unknown instruction and its place. "" if it can be launched.
const std::string& refusal(const Kernel& kernel);

// Throws Unsupported or std::invalid_argument where launch() would, before anything runs.
void check_launch(const Kernel& kernel, const LaunchConfig& config,
                  std::span<const std::byte> params);

// Runs the kernel to completion. `params` is the packed parameter block of
// attributes(kernel).param_bytes bytes. Throws Fault (memory then holds everything written so far)
// or Unsupported (before anything runs).
LaunchReport launch(const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, Memory& memory);

}  // namespace vgpu
