// SPDX-License-Identifier: Apache-2.0
// Processors and memory that this process may use, read from the kernel's files: limits by control
// groups, affinity and ulimit. Files may be absent or malformed; unknown values are empty.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ladder::host {

// `root`: the folder that contains proc and sys; tests pass other folders than "/".
struct Processors {
  std::optional<int> online;    // in the machine
  std::optional<int> allowed;   // by affinity and cpusets
  std::optional<double> quota;  // CPU time limit of the control group, in processors
};
Processors processors(const std::filesystem::path& root = "/");

// The operating system's name of the processor; empty if unknown.
std::optional<std::string> processor_name(const std::filesystem::path& root = "/");

// Bytes still available: the minimum over the machine, control groups and address space.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

// How many numbers a kernel list such as "0-1,7" contains (here 3); empty if it is malformed.
std::optional<int> count_of_list(const std::string& list);

}  // namespace ladder::host
