// SPDX-License-Identifier: Apache-2.0
// Limits for a process that runs a learner's code: it writes only below given folders, opens no
// TCP connection, sends no signals to other processes, and has bounded memory, files and processor
// time.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ladder::learn {

struct Limits {
  double seconds = 60;
  std::uint64_t memory_bytes = std::uint64_t{8} << 30;  // address space
  std::string devices = "/dev/null";                    // may be written; a GPU's driver needs /dev
};

// Whether the system can confine writes (Landlock, whole since Linux 6.2). "" or what is missing.
std::string why_not_confined();

// Applies the limits to this process and its children for good. Writes are confined where the
// system can. Errors (kIo): a limit is refused.
Status confine(const std::vector<std::filesystem::path>& writable, const Limits& limits);

}  // namespace ladder::learn
