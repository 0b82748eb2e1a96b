// SPDX-License-Identifier: Apache-2.0
// What checks found in launches that went on, in a process: each once, however often it recurs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "engine/engine.hpp"

namespace vgpu {

class FoundList {
 public:
  static constexpr std::size_t kMostPrinted = 100;

  enum class Seen { kBefore, kNew, kNewNotPrinted };  // not printed: there were too many before
  Seen note(const Fault& fault, std::uint64_t times);
  void clear() { *this = {}; }
  // How often each was found, and how many were not printed. "" if all were printed and were found
  // once.
  std::string summary() const;

 private:
  struct Entry {
    std::string text;
    std::uint64_t times = 0;
  };
  std::vector<Entry> entries_;
  std::unordered_map<std::string, std::size_t> by_identity_;
};

}  // namespace vgpu
