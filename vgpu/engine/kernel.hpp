// SPDX-License-Identifier: Apache-2.0
// A kernel of the engine's interface. Its attributes are known at once; its program is lowered on
// first use.
#pragma once
#include <atomic>
#include <functional>
#include <mutex>

#include "engine/engine.hpp"
#include "ir/program.hpp"

namespace vgpu {

class Kernel {
 public:
  Kernel(KernelAttributes attributes, std::function<ir::Program()> lower)
      : attributes_(std::move(attributes)), lower_(std::move(lower)) {}

  const KernelAttributes& attributes() const { return attributes_; }
  // Unique in the process, kernels of unloaded modules included.
  std::uint64_t number() const { return number_; }
  // Why this PTX form runs instead of the kernel's machine code; "" if it does not.
  const std::string& fallback() const { return fallback_; }
  void set_fallback(std::string why) const { fallback_ = std::move(why); }
  // Whether a speculative launch of the kernel has failed (memory/trial.hpp).
  bool needs_order() const { return needs_order_; }
  void set_needs_order() const { needs_order_ = true; }
  const ir::Program& program() const {
    std::call_once(once_, [this] { program_ = lower_(); });
    return program_;
  }

 private:
  KernelAttributes attributes_;
  std::function<ir::Program()> lower_;
  mutable std::once_flag once_;
  mutable ir::Program program_;
  mutable std::string fallback_;
  mutable std::atomic<bool> needs_order_ = false;
  inline static std::atomic<std::uint64_t> last_number_ = 0;
  const std::uint64_t number_ = ++last_number_;
};

// As Module::from_ptx. Variables that `others` also defines are shared with it.
std::unique_ptr<Module> module_of_ptx(std::string_view ptx, Memory& memory, const Module* others);

std::string demangle(std::string_view name);  // returns `name` unchanged if it is not mangled

}  // namespace vgpu
