// SPDX-License-Identifier: Apache-2.0
// Shared memory that a block reads and did not write. A pipeline reads a stage ahead of its last
// one, and a tile at the edge multiplies lines that nobody stores: such values are dropped, and no
// fault. So reads are noted as the kernel runs, and where there were any, it runs again with other
// values in what it did not write. If it then does the same - memory, output, faults - with all of
// them, nothing depends on them; if not, that is the proof that something does, whatever way the
// value took: through registers, tensor cores, memory, a branch or an address. Where all that comes
// of it is bytes of device memory, those are in doubt (Memory::doubt) until somebody reads them:
// padding of scratch is nobody's result.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "engine/execute/machine.hpp"
#include "engine/memory/image.hpp"

namespace vgpu::check {

// What shared memory holds before a block writes to it.
struct SharedFill {
  static constexpr execute::u8 kUsual = 0xcd;
  execute::u8 byte = kUsual;
  const std::vector<bool>* words =
      nullptr;  // ... in these words, kUsual in the others; null: in all
  void apply(std::byte* shared, std::size_t bytes) const;
};

// The reads of one launch. Thread-safe.
class UnwrittenReads {
 public:
  // `word` of the block's shared memory is in what the lane reads, `bytes` bytes from shared
  // address `offset`.
  void note(const execute::Warp& warp, const execute::Insn& insn, execute::u32 lane,
            execute::u32 offset, execute::u32 bytes);
  bool any() const { return !sites_.empty(); }

  struct Site {  // an instruction that reads so
    execute::u64 block = 0;
    execute::u32 pc = 0;
    Fault fault{FaultKind::kUninitialized, ""};  // of the lowest block that does
    std::vector<bool> words;                     // that any block reads so
  };
  // In an order that does not depend on the number of host threads.
  std::vector<const Site*> sites() const;

 private:
  std::mutex mutex_;
  std::map<execute::u32, Site> sites_;  // by instruction
};

// How a run of the kernel ended.
struct Ending {
  std::string fault;  // "" if it came to its end
  std::string output;
};

// Throws Fault (kUninitialized) where what the kernel does depends on what `reads` says, but for
// bytes that can be in doubt if `defer`. `first` is how it ended, after it has begun with `before`
// in memory; `run` executes it again. Memory is in the end as it was after the first run.
void require_no_effect(const UnwrittenReads& reads, Memory& memory, const MemoryImage& before,
                       const Ending& first, bool defer,
                       const std::function<Ending(const SharedFill&)>& run);

}  // namespace vgpu::check
