// SPDX-License-Identifier: Apache-2.0
// Starting programs, waiting for them, passing signals on.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace vgpu::app {

using Environment = std::vector<std::string>;  // "NAME=value"

Environment current_environment();
void set(Environment& environment, std::string_view name, std::string_view value);
std::string get(const Environment& environment, std::string_view name);  // "" if absent

// As a shell finds it: a name with a slash is a path, another is looked for in PATH. `error` is 127
// if there is none, 126 if it cannot be executed, else 0.
struct Found {
  std::string path;
  int error = 0;
};
Found find_program(const std::string& name);

// Runs to the end; signals sent to this process in the meantime go on to the program. Returns its
// exit status, or 128 plus the signal that ended it; throws std::system_error if it cannot be
// started.
int run(const std::string& path, const std::vector<std::string>& arguments,
        const Environment& environment);

// What the program writes to stdout; "" if there is no such program. Throws std::system_error where
// this process may not start any, std::runtime_error where the program fails without writing
// anything.
std::string output_of(const std::string& path, const std::vector<std::string>& arguments,
                      const Environment& environment);

}  // namespace vgpu::app
