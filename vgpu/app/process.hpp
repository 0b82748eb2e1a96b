// SPDX-License-Identifier: Apache-2.0
// Starts programs, waits for them and forwards signals.
#pragma once
#include <string>
#include <string_view>
#include <vector>

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

}  // namespace vgpu::app
