// SPDX-License-Identifier: Apache-2.0
// A module that a fat binary contains as machine code and as PTX. A kernel runs from its machine
// code if all its instructions are known, otherwise from PTX. Both forms share their variables.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/engine.hpp"

namespace vgpu::sass {

// `ptx` returns the PTX text and is called when the text is first needed; null if there is none.
// Throws std::invalid_argument if the cubin is damaged. If the PTX cannot be parsed, the module
// behaves as if there were none.
std::unique_ptr<Module> from_images(std::span<const std::byte> cubin,
                                    std::function<std::string()> ptx, Memory& memory);

// Why a kernel of such a module runs from PTX: the unknown instruction. "" if it runs from machine
// code.
const std::string& fallback(const Kernel& kernel);

}  // namespace vgpu::sass
