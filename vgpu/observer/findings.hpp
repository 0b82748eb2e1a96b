// SPDX-License-Identifier: Apache-2.0
// What a check reports and hardware does not stop for. A kernel may do the same thing millions of
// times: the report is written once, the others are counted.
#pragma once
#include <string>
#include <unordered_map>
#include <utility>

#include "ir/fault.hpp"
#include "observer/fault.hpp"

namespace vgpu::observer {

// The findings of blocks that one host thread runs one after the other, in ascending order. Passes
// them to those of the launch.
class FindingLog {
 public:
  explicit FindingLog(Findings& all) : all_(all) {}
  ~FindingLog() {
    for (const auto& [key, times] : times_) all_.count(key, times);
  }
  FindingLog(const FindingLog&) = delete;
  FindingLog& operator=(const FindingLog&) = delete;

  // Counts a finding so many times. `describe` returns the fault that reports it.
  template <class Describe>
  void note(const FindingKey& key, u64 block, u64 more, Describe describe) {
    if (last_ == nullptr || !(last_->first == key)) last_ = &*times_.try_emplace(key).first;
    u64& times = last_->second;
    if (times == 0 && all_.wants(key, block)) all_.add(key, block, describe());
    times += more;
  }

 private:
  struct Hash {
    std::size_t operator()(const FindingKey& key) const {
      constexpr u64 kOdd = 0x9e3779b97f4a7c15;
      return (key.instructions ^ static_cast<u64>(key.kind) << 58) * kOdd >> 16;
    }
  };
  Findings& all_;
  std::unordered_map<FindingKey, u64, Hash> times_;
  std::pair<const FindingKey, u64>* last_ = nullptr;  // in times_
};

struct Description {
  std::string what, details{};
};

// Reports a finding: throws it as a Fault, or, where the launch goes on, notes it and returns.
// `other`: index of the other instruction that it is about, or ir::kNone. `times`: how often it was
// found. `describe` returns the Description.
template <class Describe>
void find(const Lane& at, FaultKind kind, u32 other, u64 times, Describe describe) {
  const auto made = [&] {
    const Description text = describe();
    return made_fault(at, kind, text.what, text.details, other);
  };
  const Block& block = *at.warp.home;
  if (block.findings == nullptr) throw made();
  block.findings->note({kind, static_cast<u32>(&at.insn - at.warp.code), other}, block.linear,
                       times, made);
}
template <class Describe>
void find(const Lane& at, FaultKind kind, u32 other, Describe describe) {
  find(at, kind, other, 1, describe);
}

}  // namespace vgpu::observer
