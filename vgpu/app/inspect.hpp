// SPDX-License-Identifier: Apache-2.0
// Determines whether the virtual GPU's libraries can take the place of those that a program uses.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "app/process.hpp"
#include "redirect/cuda_file.hpp"

namespace vgpu::app {

struct Inspection {
  std::string error;            // why it cannot run on the virtual GPU; "" if it can
  std::string warning;          // why it may not use the virtual GPU; "" if there is no doubt
  std::uint64_t tls_bytes = 0;  // of thread-local variables of the program's libraries
};

Inspection inspect(const std::string& program, const Environment& environment);

// The part that neither reads files nor runs the loader: interprets what the program has and what
// the loader lists.
struct Library {
  std::string name, path;  // "libcudart.so.13" and where the loader found it; path is "" if nowhere
  CudaFile file;
};
std::vector<Library> parse_loader_list(const std::string& text);
Inspection judge(const std::string& program, const CudaFile& file,
                 const std::vector<Library>& libraries);

}  // namespace vgpu::app
