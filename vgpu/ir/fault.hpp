// SPDX-License-Identifier: Apache-2.0
// Errors: what the engine does not implement, and what kernels do wrong.
#pragma once
#include <cstdint>
#include <map>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "ir/kernel.hpp"

namespace vgpu {

// An instruction, modifier or directive that the engine does not implement. what() names it, with
// its line in the PTX and in the source. The engine never guesses.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FaultKind {
#define FAULT(kind, name) kind,
#include "ir/fault.def"
};
const char* to_string(FaultKind kind);  // "out of bounds", ...

// Puts the text of an instruction on one line, with single blanks.
std::string one_line(std::string_view text);

// An error in the kernel. what() is the full report, several lines: what happened, kernel, block,
// thread, address, the PTX instruction with its line, and the source file and line if the PTX has
// them (.loc).
struct Fault : std::runtime_error {
  Fault(FaultKind what_kind, const std::string& report)
      : std::runtime_error(report), kind(what_kind) {}
  FaultKind kind;
  std::string kernel;       // demangled where possible
  Dim3 block, thread;       // indices, not extents
  std::string instruction;  // the PTX text
  std::string file;         // "" where unknown
  int line = 0;
  // What, in which kernel, where, and where the other access is: equal for reports that differ only
  // in blocks, threads and addresses, or in the copies that a compiler made of one source line.
  std::string identity;
};

// What the checks find in a launch that goes on: what hardware would not stop for (races, reads of
// unwritten memory, misuse of barriers). Equal findings count as one: of one kind, by the same
// instruction, against the same other one.
struct FindingKey {
  FindingKey(FaultKind of, std::uint32_t pc, std::uint32_t other)
      : kind(of), instructions(std::uint64_t{pc} << 32 | other) {}
  FaultKind kind;
  std::uint64_t instructions;  // index of the reporting one, index of the other
  auto operator<=>(const FindingKey&) const = default;
};

struct Found {
  Fault fault;  // in the block with the lowest index
  std::uint64_t block = 0;
  std::uint64_t times = 0;
};

// The findings of one launch. Thread-safe.
class Findings {
 public:
  // Whether add() would keep the report: the first, or the first of a lower block.
  bool wants(const FindingKey& key, std::uint64_t block) const;
  void add(const FindingKey& key, std::uint64_t block, const Fault& fault);
  void count(const FindingKey& key, std::uint64_t times);  // after add()
  bool any(FaultKind kind) const;
  bool any() const;
  // Sorted by block, then by instruction, so that the order does not depend on host threads.
  std::vector<Found> sorted() const;

 private:
  mutable std::mutex mutex_;
  std::map<FindingKey, Found> found_;
};

}  // namespace vgpu
