// SPDX-License-Identifier: Apache-2.0
// How a program finds its CUDA libraries, and so how the stand-ins get in front of them.
#pragma once
#include <string>
#include <vector>

#include "app/process.hpp"

namespace vgpu::app {

struct Inspection {
  std::string error;    // why it cannot run on the virtual GPU; "" if it can
  std::string warning;  // why it may turn out not to use it
  std::vector<std::string>
      preload;  // stand-ins that must be preloaded: the program has a library path of its own
};

// `environment` is what the program will run in, LD_LIBRARY_PATH with `library_folder` first.
Inspection inspect(const std::string& program, const std::string& library_folder,
                   const Environment& environment);

// The pure part: what the program's file and the loader's list of its libraries mean.
struct Library {
  std::string name, path;  // "libcudart.so.13", where it was found; "" if nowhere
};
std::vector<Library> parse_loader_list(const std::string& text);
Inspection judge(const std::string& program, bool has_device_code,
                 const std::vector<Library>& libraries, const std::string& library_folder);

}  // namespace vgpu::app
