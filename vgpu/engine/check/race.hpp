// SPDX-License-Identifier: Apache-2.0
// Races on shared memory: two agents touch one word, one of them writes, and nothing orders them. Agents are the warps,
// and the asynchronous copies of each thread, which belong to nobody until somebody has waited for them. Every warp
// has a vector clock (how much of each agent's past it has seen through barriers, mbarriers and waits), every word
// remembers when each warp read it last and who wrote it last, so that named barriers and producers that only arrive
// are judged rightly. What happens before what: PTX ISA, "Memory Consistency Model", and for copies "Data Movement and
// Conversion Instructions: Asynchronous copy".
#pragma once
#include <array>
#include <vector>

#include "engine/execute/machine.hpp"

namespace vgpu::check {

using execute::u16;
using execute::u32;
using execute::u64;
using execute::u8;

// Strong accesses (atomic, volatile, relaxed, acquire, release) do not race with each other.
enum class Access : u8 { kPlain, kStrong };

// What an mbarrier hands from those that arrive to those that wait: clocks of all agents.
struct PhaseClock {
  std::vector<u32> arriving;   // of the current phase
  std::vector<u32> completed;  // of all phases before it
};

class RaceCheck {
 public:
  // `copies`: the kernel copies asynchronously.
  RaceCheck(const execute::Program& program, u32 shared_begin, u64 shared_bytes, u32 warps, bool copies);

  void start_block();
  // Throws Fault (kRace) at the first conflict, as all that touch memory do.
  void access(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets, u32 bytes,
              bool is_write, Access kind);
  // The warps with arrived lanes have released their past; those of `waited` have seen what all of them did.
  void barrier(const u32* arrived, u32 waited);

  // Copies that the lanes begin, in the given epochs of theirs (CopyQueue): they write whenever they like, until
  // somebody knows that the epoch's copies have landed.
  void copy(const execute::Warp& warp, const execute::Insn& insn, u32 mask, const u32* offsets, u32 bytes,
            const u32* epochs);
  void copies_landed(const execute::Warp& warp, u32 mask, const u32* epochs);  // the warp knows

  void arrive(const execute::Warp& warp, PhaseClock& clock);  // release
  // Copies up to these epochs arrive. They hand on what the warp knew of others, not what it did itself.
  void copies_arrive(const execute::Warp& warp, u32 mask, const u32* epochs, PhaseClock& clock);
  void complete(PhaseClock& clock);
  void wait(const execute::Warp& warp, const PhaseClock& clock);  // acquire

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
    bool is_write;
    bool is_copy;
  };
  enum class Other : u8 { kRead, kWrite, kCopy };

  void touch(const Attempt& attempt, u32 first, u32 bytes);
  bool is_ordered(u32 warp, u32 first, u32 last, bool is_write) const;
  bool reads_are_ordered(u32 warp, u32 first, u32 last) const;
  void check(const Attempt& attempt, u32 word) const;
  bool conflicts(const Attempt& attempt, u32 agent, const Mark& other) const;
  [[noreturn]] void report(const Attempt& attempt, u32 agent, const Mark& other, Other what, u32 word) const;
  void update_oldest(u32 warp);
  void join(u32 warp, const std::vector<u32>& clocks);
  u32* known(u32 warp) { return known_.data() + u64{warp} * agents_; }
  const u32* known(u32 warp) const { return known_.data() + u64{warp} * agents_; }
  u32 copier(u32 warp, u32 lane) const { return warps_ + warp * execute::kLanes + lane; }

  const execute::Program& program_;
  u32 begin_, warps_;
  u32 agents_;  // the warps; the copies of each thread, if the kernel copies
  Marks writes_, copies_;
  std::vector<u8> writer_;
  std::vector<u16> copier_;                // agent
  std::vector<Marks> reads_;               // by warp
  std::vector<u32> last_read_;             // greatest clock of all warps' reads
  std::vector<u32> known_;                 // [warp][agent]
  std::vector<u32> idle_;                  // by agent: all bits where it has not copied in this block
  std::array<u32, kWarps> oldest_{};       // what a warp has seen of every other one, at least
  std::array<u32, kWarps> oldest_copy_{};  // ... and of every thread's copies
  std::vector<u32> joined_;                // of barrier()
  u32 past_ = 0;                           // clocks up to this one are of earlier blocks
  u32 last_epoch_ = 0;                     // of a copy in this block
};

}  // namespace vgpu::check
