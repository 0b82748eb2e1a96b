// SPDX-License-Identifier: Apache-2.0
// Makes the functions of a runtime that is linked into a loaded file jump to another one's. Each
// gets a jump of five bytes to a trampoline near the file, which says which function it is.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include "redirect/cuda_file.hpp"

namespace vgpu {

struct Redirection {
  std::string error;  // why nothing was changed; "" if all is well
  std::size_t count = 0;
  void* trampolines = nullptr;  // for release()
};

// `base`: where the file is loaded. No other thread may run its code. `enter` is called with the
// index of the function's name in register r11 and everything else as the caller left it.
Redirection redirect(const CudaFile& file, std::uintptr_t base, void (*enter)());

// Gives back a file's trampolines, after the file was unloaded.
void release(void* trampolines);

}  // namespace vgpu
