// SPDX-License-Identifier: Apache-2.0
// Determines how a program finds its CUDA libraries, and how to load the virtual GPU's libraries
// instead.
#pragma once
#include <string>
#include <vector>

#include "app/process.hpp"

namespace vgpu::app {

struct Inspection {
  std::string error;    // why it cannot run on the virtual GPU; "" if it can
  std::string warning;  // why it may not use the virtual GPU; "" if there is no doubt
  // libraries to preload, because the program's own library path precedes LD_LIBRARY_PATH
  std::vector<std::string> preload;
};

// `environment` is the program's environment, in which LD_LIBRARY_PATH begins with
// `library_folder`.
Inspection inspect(const std::string& program, const std::string& library_folder,
                   const Environment& environment);

// The part that neither reads the program nor runs the loader: interprets the program's properties
// and the loader's library list.
struct Library {
  std::string name, path;  // "libcudart.so.13" and where the loader found it; path is "" if nowhere
};
std::vector<Library> parse_loader_list(const std::string& text);
Inspection judge(const std::string& program, bool has_device_code,
                 const std::vector<Library>& libraries, const std::string& library_folder);

}  // namespace vgpu::app
