// SPDX-License-Identifier: Apache-2.0
// wgmma: asynchronous products that the four warps of a warpgroup issue together. PTX ISA,
// "Asynchronous Warpgroup Level Matrix Multiply-Accumulate Instructions". The launch's CopySchedule
// decides when a product reads its operands and writes its accumulators: as soon as all four warps
// have issued it, or only when one of them waits for it. Products always execute in order of issue.
#pragma once
#include <deque>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/wgmma.hpp"
#include "machine/machine.hpp"
#include "machine/matrix_descriptor.hpp"

namespace vgpu::machine {

// One product that all four warps have issued.
struct WgmmaStep {
  const Insn* insn = nullptr;
  const u32* lists = nullptr;
  const std::byte* shared = nullptr;
  std::byte* windows[Block::kWarpsOfGroup] = {};
  MatrixDescriptor a, b;
  bool adds = false;    // accumulates to D; otherwise overwrites it
  bool hopper = false;  // Numerics::kHopper
};
using WgmmaKernel = void (*)(const WgmmaStep& step);

class Warpgroups {
 public:
  explicit Warpgroups(Block& block);

  void start_block();
  // A warp issues a product. `kernel` computes it when the schedule says so.
  void begin(Warp& warp, const Insn& insn, WgmmaKernel kernel);
  void commit(const Warp& warp);
  // Returns true if at most `pending` of the warp's groups are incomplete. False: the other warps
  // have not issued all of them, and the warp must call again.
  bool wait(Warp& warp, u64 pending);
  void fence(const Warp& warp);
  // Call before an instruction of Program::watches. Faults if it accesses registers of an
  // incomplete wgmma.
  void look(const Warp& warp, const Insn& insn);
  // Describes what a warp waits for after wait() returned false.
  std::string describe(const Warp& warp) const;

 private:
  struct Product {
    WgmmaStep step;
    WgmmaKernel kernel = nullptr;
    u64 descriptors[2] = {};
  };
  // State of a warp's registers, kept if Program::watches is not empty.
  struct Registers {
    // (number, instruction) of each product not yet waited for.
    std::deque<std::pair<u64, u32>> under_way;
    std::map<u32, u32> written;  // register -> instruction, since the last fence
    bool fenced = false;
  };
  struct Group {
    std::deque<Product> products;  // not yet executed, oldest first
    u64 done = 0;                  // products executed
    u64 begun[Block::kWarpsOfGroup] = {};
    // Per warp: end of each committed group (number of products issued) not yet waited for.
    std::deque<u64> committed[Block::kWarpsOfGroup];
    u64 draws = 0;
    Registers registers[Block::kWarpsOfGroup];
    u64 complete() const;  // products that all four warps have issued
  };
  Group& of(const Warp& warp) { return groups_[warp.id / Block::kWarpsOfGroup]; }
  void use(const Warp& warp, const Insn& insn, Registers& registers) const;
  using Covered = std::vector<std::pair<u32, u32>>;  // shared address ranges (first, end)
  const Covered& covered(const Warp& warp, const Insn& insn, u64 a, u64 b);
  observer::Agent agent_of(const Warp& warp) const;
  static void run_until(Group& group, u64 end);
  bool delays(Group& group, u32 number) const;

  Block& block_;
  std::vector<Group> groups_;
  std::map<std::tuple<u32, u64, u64>, Covered> covered_;  // by instruction and descriptors
};

}  // namespace vgpu::machine
