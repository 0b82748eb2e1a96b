// SPDX-License-Identifier: Apache-2.0
// Races on shared memory: two warps touch one word, one of them writes, and no barrier orders them. Every warp has a
// vector clock (how much of each other warp's past it has seen through barriers), every word remembers who wrote and
// read it last and when, so that named barriers and producers that only arrive are judged rightly.
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
  RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes);

  void start_block();
  // Throws Fault (kRace) at the first conflict.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets, u32 bytes,
              bool is_write, Access kind);
  // The warps with arrived lanes have released their past; those of `waited` have seen what all of them did.
  void barrier(const u32* arrived, u32 waited, u32 warps);

 private:
  static constexpr u32 kWarps = 32;
  static constexpr u8 kNobody = 0xff, kMany = 0xfe;

  struct Mark {
    u64 clock = 0;
    u32 pc = 0;
    u8 warp = kNobody;
    u8 bytes = 0;  // of the word, a bit each
    bool strong = false;
  };
  struct Word {
    Mark write, read;
    u32 readers = 0;  // index into readers_ where read.warp is kMany
  };
  struct Attempt {
    const execute::Warp& warp;
    const execute::Insn& insn;
    u32 lane;
    Mark mark;
  };

  bool conflicts(const Mark& earlier, const Mark& now) const;
  void read(Word& word, const Attempt& attempt);
  void write(Word& word, const Attempt& attempt);
  [[noreturn]] void report(const Attempt& attempt, const Mark& earlier, bool earlier_writes, bool now_writes,
                           u64 address) const;
  u64 address_of(const Word& word) const { return begin_ + 4 * static_cast<u64>(&word - words_.data()); }

  const execute::Program& program_;
  u32 begin_;
  std::vector<Word> words_;
  std::vector<std::array<Mark, kWarps>> readers_;
  std::array<std::array<u64, kWarps>, kWarps> clocks_{};  // [warp][of whom]
  u64 past_ = 0;                                          // clocks up to this one are of earlier blocks
};

}  // namespace vgpu::check
