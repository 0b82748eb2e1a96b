// SPDX-License-Identifier: Apache-2.0
// What this process may use of the machine, as the kernel's files say: processors and memory, under
// the limits of control groups, affinity and ulimit. Files may be absent or say anything: what is
// not known is none.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace ladder::host {

// `root`: the folder that holds proc and sys; another than "/" for tests.
struct Processors {
  std::optional<int> online;    // of the machine
  std::optional<int> allowed;   // by affinity and cpusets
  std::optional<double> quota;  // processors' worth of time, by the control group
};
Processors processors(const std::filesystem::path& root = "/");

// As the operating system names it; none where it does not.
std::optional<std::string> processor_name(const std::filesystem::path& root = "/");

// Bytes that may still be used: of the machine, of the control groups, of the address space.
std::optional<std::uint64_t> available_memory(const std::filesystem::path& root = "/");

// "3" of "0-1,7": how many numbers a list of the kernel's names. None: it is not such a list.
std::optional<int> count_of_list(const std::string& list);

}  // namespace ladder::host
