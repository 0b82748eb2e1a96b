// SPDX-License-Identifier: Apache-2.0
// Races on shared memory: two warps touch one word, one of them writes, and no barrier orders them. Every warp has a
// vector clock (how much of each other warp's past it has seen through barriers), every word remembers when each
// warp read it last and who wrote it last, so that named barriers and producers that only arrive are judged rightly.
#pragma once
#include <array>
#include <vector>

#include "engine/execute/machine.hpp"

namespace vgpu::check {

using execute::u32;
using execute::u64;
using execute::u8;

// Strong accesses (atomic, volatile, relaxed, acquire, release) do not race with each other.
enum class Access : u8 { kPlain, kStrong };

class RaceCheck {
 public:
  RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps);

  void start_block();
  // Throws Fault (kRace) at the first conflict.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets, u32 bytes,
              bool is_write, Access kind);
  // The warps with arrived lanes have released their past; those of `waited` have seen what all of them did.
  void barrier(const u32* arrived, u32 waited);

 private:
  static constexpr u32 kWarps = 32;

  // An access: when, and which instruction, with the bytes of the word (a bit each) and whether it was strong.
  struct Mark {
    u32 clock = 0;
    u32 info = 0;
    u32 pc() const { return info >> 5; }
    u32 bytes() const { return info & 15; }
    bool strong() const { return (info & 16) != 0; }
  };
  // An array for each field: an access of neighbouring words is a loop over neighbours.
  struct Marks {
    std::vector<u32> clock, info;
    Mark at(u32 word) const { return {clock[word], info[word]}; }
  };
  struct Attempt {
    const execute::Warp& warp;
    const execute::Insn& insn;
    u32 lane;
    Mark mark;
  };

  void touch(const Attempt& attempt, u32 first, u32 bytes, bool is_write);
  bool is_ordered(u32 warp, u32 first, u32 last, bool is_write) const;
  void check(const Attempt& attempt, u32 word, bool is_write) const;
  bool conflicts(const Attempt& attempt, u32 other_warp, const Mark& other) const;
  [[noreturn]] void report(const Attempt& attempt, u32 other_warp, const Mark& other, bool other_writes,
                           bool writes, u32 word) const;
  void update_oldest(u32 warp);

  const execute::Program& program_;
  u32 begin_, warps_;
  Marks writes_;
  std::vector<u8> writer_;
  std::vector<Marks> reads_;                              // by warp
  std::vector<u32> last_read_;                            // greatest clock of all warps' reads
  std::array<std::array<u32, kWarps>, kWarps> clocks_{};  // [warp][of whom]
  std::array<u32, kWarps> oldest_{};                      // what a warp has seen of every other one, at least
  u32 past_ = 0;                                          // clocks up to this one are of earlier blocks
};

}  // namespace vgpu::check
