// SPDX-License-Identifier: Apache-2.0
// A module that a fat binary has as machine code and as PTX: each kernel runs from its machine code
// where all of its instructions are known, else from PTX. Both forms share their variables.
#pragma once
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "engine/engine.hpp"

namespace vgpu::sass {

// `ptx` gives the text when it is first needed; null if there is none. Throws std::invalid_argument
// if the cubin is damaged, and what Module::from_ptx throws where the PTX is needed (by
// find_kernel, find_symbol).
std::unique_ptr<Module> from_images(std::span<const std::byte> cubin,
                                    std::function<std::string()> ptx, Memory& memory);

// Why a kernel of such a module runs from PTX: the instruction that is not known. "" if it does
// not.
const std::string& fallback(const Kernel& kernel);

}  // namespace vgpu::sass
