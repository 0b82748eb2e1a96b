// SPDX-License-Identifier: Apache-2.0
// Starts programs, waits for them and forwards signals.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "redirect/cuda_file.hpp"

namespace vgpu::app {

using Environment = std::vector<std::string>;  // "NAME=value"

Environment current_environment();
void set(Environment& environment, std::string_view name, std::string_view value);
std::string get(const Environment& environment, std::string_view name);  // "" if absent

// Finds a program as a shell does: a name with a slash is a path, any other name is looked up in
// PATH. `error` is 127 if there is none, 126 if it cannot be executed, otherwise 0.
struct Found {
  std::string path;
  int error = 0;
};
Found find_program(const std::string& name);

// Runs the program until it ends and forwards to it the signals that this process receives. Returns
// its exit status, or 128 plus the number of the signal that ended it. Throws std::system_error if
// it cannot be started.
int run(const std::string& path, const std::vector<std::string>& arguments,
        const Environment& environment);

// Returns what the program prints, without newlines at the end; "" if there is no such program.
// Throws std::system_error if this process cannot start programs, and std::runtime_error with what
// it printed if the program fails.
std::string output_of(const std::string& path, const std::vector<std::string>& arguments,
                      const Environment& environment);

// Determines whether the virtual GPU's libraries can take the place of those that a program uses.
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
