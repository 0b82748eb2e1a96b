// SPDX-License-Identifier: Apache-2.0
#include "engine/image_module.hpp"

#include <exception>
#include <utility>

#include "engine/kernel.hpp"

namespace vgpu::sass {
namespace {

class ImageModule final : public Module {
 public:
  ImageModule(std::unique_ptr<Module> machine, std::function<std::string()> ptx, Memory& memory)
      : machine_(std::move(machine)), text_(std::move(ptx)), memory_(memory) {}

  const Kernel* find_kernel(std::string_view name) const override {
    const Kernel* const kernel = machine_->find_kernel(name);
    if (kernel != nullptr && (refusal(*kernel).empty() || text_ == nullptr)) return kernel;
    return ptx_kernel(kernel, name,
                      kernel == nullptr ? "the machine code has no such kernel" : refusal(*kernel));
  }

  std::optional<Symbol> find_symbol(std::string_view name) const override {
    if (const auto found = machine_->find_symbol(name)) return found;
    const Module* const other = ptx();
    return other == nullptr ? std::nullopt : other->find_symbol(name);
  }

  std::vector<std::string> kernel_names() const override { return machine_->kernel_names(); }

 private:
  // The kernel from PTX, or `kernel` if the PTX has none.
  const Kernel* ptx_kernel(const Kernel* kernel, std::string_view name,
                           const std::string& why) const {
    const Module* const other = ptx();
    const Kernel* const found = other == nullptr ? nullptr : other->find_kernel(name);
    if (found == nullptr) return kernel;
    if (found->fallback().empty()) found->set_fallback(why);
    return found;
  }

  const Module* ptx() const {
    if (ptx_ != nullptr || failed_ || text_ == nullptr) return ptx_.get();
    try {
      ptx_ = module_of_ptx(text_(), memory_, machine_.get());
    } catch (const std::exception&) {
      failed_ = true;  // the caller reports why the machine code is not usable
    }
    return ptx_.get();
  }

  std::unique_ptr<Module> machine_;
  std::function<std::string()> text_;
  Memory& memory_;
  mutable std::unique_ptr<Module> ptx_;
  mutable bool failed_ = false;  // the PTX could not be read
};

}  // namespace

std::unique_ptr<Module> from_images(std::span<const std::byte> cubin,
                                    std::function<std::string()> ptx, Memory& memory) {
  return std::make_unique<ImageModule>(Module::from_cubin(cubin, memory), std::move(ptx), memory);
}

const std::string& fallback(const Kernel& kernel) { return kernel.fallback(); }

}  // namespace vgpu::sass
