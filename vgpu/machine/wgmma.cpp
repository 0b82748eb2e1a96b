// SPDX-License-Identifier: Apache-2.0
#include "machine/wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "machine/async.hpp"
#include "machine/bulk_check.hpp"
#include "machine/fault.hpp"
#include "machine/sparse.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {
namespace {

// The value of an operand that must be equal in all threads.
u64 common(const Warp& warp, const Insn& insn, u32 slot, const char* what) {
  const u64* const values = reinterpret_cast<const u64*>(warp.window + slot);
  for (u32 lane = 1; lane < kLanes; ++lane) {
    if (values[lane] != values[0]) {
      fault({warp, insn, lane}, FaultKind::kBadOperand,
            fmt::format("the threads of a warpgroup give wgmma different {}", what),
            fmt::format("0x{:x} here, 0x{:x} in the first thread of the warp", values[lane],
                        values[0]));
    }
  }
  return values[0];
}

// Ranges of shared addresses, ascending and disjoint.
using Ranges = std::vector<std::pair<u32, u32>>;

// The shared memory that a matrix of `rows` rows of m or n with `along_k` bytes each occupies.
Ranges ranges_of(const MatrixDescriptor& matrix, WgmmaType type, u32 rows, u32 along_k,
                 bool along_mn) {
  const u32 bytes = wgmma_bytes(type), depth = along_k / bytes;
  std::vector<u32> pieces;
  if (along_mn) {
    for (u32 k = 0; k < depth; ++k) {
      for (u32 piece = 0; piece < rows * bytes / MatrixDescriptor::kPiece; ++piece) {
        pieces.push_back(matrix.along_mn(k, piece));
      }
    }
  } else {
    for (u32 row = 0; row < rows; ++row) {
      for (u32 piece = 0; piece < along_k / MatrixDescriptor::kPiece; ++piece)
        pieces.push_back(matrix.along_k(row, piece));
    }
  }
  std::sort(pieces.begin(), pieces.end());
  Ranges ranges;
  for (const u32 piece : pieces) {
    if (ranges.empty() || piece > ranges.back().second)
      ranges.emplace_back(piece, piece + MatrixDescriptor::kPiece);
    else
      ranges.back().second = std::max(ranges.back().second, piece + MatrixDescriptor::kPiece);
  }
  return ranges;
}

// Returns the shared memory that the matrix occupies. Faults if a piece is outside shared memory,
// or if the descriptor violates the format.
Ranges check_matrix(const Warp& warp, const Insn& insn, u64 bits, const char* name, WgmmaType type,
                    u32 rows, u32 along_k, bool along_mn) {
  const MatrixDescriptor matrix = MatrixDescriptor::decode(bits);
  const auto bad = [&](const std::string& what) {
    fault(
        {warp, insn, 0}, FaultKind::kBadOperand,
        fmt::format("the descriptor of {}: {}", name, what),
        fmt::format(
            "descriptor 0x{:016x}: start 0x{:x}, leading dimension {} bytes, stride {} bytes, base "
            "offset {}, {}",
            bits, matrix.start, matrix.leading, matrix.stride, matrix.base_offset,
            matrix.span == MatrixDescriptor::kPiece ? "no swizzle"
                                                    : fmt::format("{}-byte swizzle", matrix.span)));
  };
  if ((bits & MatrixDescriptor::kReserved) != 0) bad("bits are set that no field has");
  if (matrix.span == MatrixDescriptor::kPiece && matrix.base_offset != 0) {
    bad("a base offset has no meaning without a swizzle");
  }
  if (!along_mn && matrix.span != MatrixDescriptor::kPiece && matrix.span < along_k) {
    bad(fmt::format("it takes {} bytes along k, more than a line of its swizzle", along_k));
  }
  Ranges ranges = ranges_of(matrix, type, rows, along_k, along_mn);
  const u32 low = ranges.front().first, high = ranges.back().second;
  if (low < warp.shared_begin || high > warp.shared_end) {
    bad(
        fmt::format("the matrix lies at shared addresses 0x{:x} to 0x{:x}, the block's memory at "
                    "0x{:x} to 0x{:x}",
                    low, high, warp.shared_begin, warp.shared_end));
  }
  return ranges;
}

bool common_register(const std::vector<u32>& a, const std::vector<u32>& b) {
  return std::any_of(a.begin(), a.end(),
                     [&](u32 reg) { return std::find(b.begin(), b.end(), reg) != b.end(); });
}

}  // namespace

Warpgroups::Warpgroups(Block& block)
    : block_(block),
      groups_((block.warp_count + Block::kWarpsOfGroup - 1) / Block::kWarpsOfGroup) {}

// The race check treats the reads of all four warps as one agent, because one warp's wait covers
// the products of all.
observer::Agent Warpgroups::agent_of(const Warp& warp) const {
  const u32 first = warp.id / Block::kWarpsOfGroup * Block::kWarpsOfGroup;
  return warp.race->agent(observer::AgentKind::kMatrix, block_.warps[first], 0);
}

void Warpgroups::start_block() {
  for (Group& group : groups_) group = {};
}

u64 Warpgroups::Group::complete() const {
  return *std::min_element(std::begin(begun), std::end(begun));
}

bool Warpgroups::delays(Group& group, u32 number) const {
  return schedule_delays(block_.launch.config.schedule, block_.linear * 64 + 32 + number,
                         ++group.draws);
}

const Warpgroups::Covered& Warpgroups::covered(const Warp& warp, const Insn& insn, u64 a, u64 b) {
  const auto [known, added] = covered_.try_emplace({static_cast<u32>(&insn - warp.code), a, b});
  if (!added) return known->second;
  const u32 n = static_cast<u32>(insn.imm), rows = 64;
  const auto type_a = static_cast<WgmmaType>(insn.bytes),
             type_b = static_cast<WgmmaType>(insn.width);
  if ((insn.sub & kWgmmaRegisters) == 0) {
    known->second = check_matrix(warp, insn, a, "A", type_a, rows, kWgmmaBytesOfA,
                                 (insn.sub & kWgmmaTransposeA) != 0);
  }
  const Ranges of_b = check_matrix(warp, insn, b, "B", type_b, n, wgmma_bytes_of_b(insn.sub),
                                   (insn.sub & kWgmmaTransposeB) != 0);
  known->second.insert(known->second.end(), of_b.begin(), of_b.end());
  return known->second;
}

void Warpgroups::begin(Warp& warp, const Insn& insn, WgmmaKernel kernel) {
  if ((warp.id / Block::kWarpsOfGroup + 1) * Block::kWarpsOfGroup > block_.warp_count) {
    fault({warp, insn, 0}, FaultKind::kBarrierDivergence,
          "wgmma is for four warps, and the block's last warpgroup has fewer", "");
  }
  Group& group = of(warp);
  const u32 member = warp.id % Block::kWarpsOfGroup;
  const u64 number = group.begun[member]++;
  u64 descriptors[2] = {};
  if ((insn.sub & kWgmmaRegisters) == 0)
    descriptors[0] = common(warp, insn, insn.s[0], "descriptors of A");
  descriptors[1] = common(warp, insn, insn.s[1], "descriptors of B");
  const u32 scale = *reinterpret_cast<const u32*>(warp.window + insn.s[2]);
  if (scale != 0 && scale != kAllLanes) {
    fault({warp, insn, 0}, FaultKind::kBadOperand,
          "the threads of a warpgroup give wgmma different scale-d", "");
  }
  if ((insn.sub & kWgmmaSparse) != 0) {
    const auto type = static_cast<WgmmaType>(insn.bytes);
    const u32 slot = warp.lists[insn.list + wgmma_register_of_metadata(insn)];
    check_metadata(warp, insn, reinterpret_cast<const u32*>(warp.window + slot),
                   wgmma_metadata(type), (insn.sub & kWgmmaSecondPair) != 0 ? 1 : 0,
                   wgmma_metadata_rule(type));
  }
  if (number == group.done + group.products.size()) {
    Product& made = group.products.emplace_back();
    made.kernel = kernel;
    made.step.insn = &insn;
    made.step.lists = warp.lists;
    made.step.shared = warp.shared;
    made.step.adds = scale != 0;
    made.step.hopper = block_.launch.config.numerics == Numerics::kHopper;
    std::copy_n(descriptors, 2, made.descriptors);
    made.step.a = MatrixDescriptor::decode(descriptors[0]);
    made.step.b = MatrixDescriptor::decode(descriptors[1]);
  }
  Product& product = group.products[number - group.done];
  const char* differs = product.step.insn != &insn ? "come to different instructions"
                        : !std::equal(descriptors, descriptors + 2, product.descriptors)
                            ? "give it different descriptors"
                        : product.step.adds != (scale != 0) ? "give it different scale-d"
                                                            : nullptr;
  if (differs != nullptr) {
    fault({warp, insn, 0}, FaultKind::kBarrierDivergence,
          fmt::format("the warps of a warpgroup begin wgmma together, but {}", differs),
          "another warp of it is at " +
              place(block_.launch.program, static_cast<u32>(product.step.insn - warp.code)));
  }
  const Covered& operands = covered(warp, insn, descriptors[0], descriptors[1]);
  for (const auto& [first, end] : operands)
    watch_bulk_shared({warp, insn, 0}, {&block_, first}, end - first, false);
  if (warp.race != nullptr) {
    const observer::Agent agent = agent_of(warp);
    for (const auto& [first, end] : operands) {
      warp.race->async_read(warp, insn, 0, {&block_, first, end - first}, agent,
                            static_cast<u32>(number) + 1);
    }
  }
  product.step.windows[member] = warp.window;
  if (!block_.launch.program.watches.empty()) {
    use(warp, insn, group.registers[member]);
    group.registers[member].under_way.emplace_back(number, static_cast<u32>(&insn - warp.code));
  }
  ++warp.progress;
  if (group.complete() > number && !delays(group, warp.id / Block::kWarpsOfGroup))
    run_until(group, number + 1);
}

void Warpgroups::run_until(Group& group, u64 end) {
  while (group.done < end) {
    const Product& product = group.products.front();
    product.kernel(product.step);
    group.products.pop_front();
    ++group.done;
  }
}

void Warpgroups::commit(const Warp& warp) {
  Group& group = of(warp);
  const u32 member = warp.id % Block::kWarpsOfGroup;
  group.committed[member].push_back(group.begun[member]);
}

bool Warpgroups::wait(Warp& warp, u64 pending) {
  Group& group = of(warp);
  std::deque<u64>& committed = group.committed[warp.id % Block::kWarpsOfGroup];
  if (committed.size() <= pending) return true;
  const auto left = committed.end() - static_cast<std::ptrdiff_t>(pending);
  const u64 end = *(left - 1);
  if (group.complete() < end) return false;
  run_until(group, end);
  if (warp.race != nullptr) warp.race->knows(warp, agent_of(warp), static_cast<u32>(end));
  committed.erase(committed.begin(), left);
  auto& under_way = group.registers[warp.id % Block::kWarpsOfGroup].under_way;
  while (!under_way.empty() && under_way.front().first < end) under_way.pop_front();
  ++warp.progress;
  return true;
}

void Warpgroups::fence(const Warp& warp) {
  Registers& registers = of(warp).registers[warp.id % Block::kWarpsOfGroup];
  registers.fenced = true;
  registers.written.clear();
}

// Checks the registers that a product itself uses.
void Warpgroups::use(const Warp& warp, const Insn& insn, Registers& registers) const {
  const Program& program = block_.launch.program;
  const RegisterWatch& own = program.watches.at(static_cast<u32>(&insn - warp.code));
  if (own.follows_writes && !registers.fenced) {
    observer::find({warp, insn, 0}, FaultKind::kRace, kNone, []() -> observer::Description {
      return {"wgmma without a wgmma.fence before it",
              "its registers may still be written by instructions before"};
    });
  }
  for (const auto* list : {&own.writes, &own.reads}) {
    for (const u32 reg : *list) {
      const auto written = registers.written.find(reg);
      if (written == registers.written.end()) continue;
      const u32 by = written->second;
      observer::find({warp, insn, 0}, FaultKind::kRace, by, [&]() -> observer::Description {
        return {fmt::format("wgmma {} a register that was written behind the last wgmma.fence",
                            list == &own.writes ? "adds to" : "reads"),
                "written at " + place(program, by)};
      });
    }
  }
  for (const auto& [number, pc] : registers.under_way) {
    const RegisterWatch& other = program.watches.at(pc);
    if (common_register(own.writes, other.reads) || common_register(own.reads, other.writes)) {
      observer::find({warp, insn, 0}, FaultKind::kRace, pc,
                     [&, by = pc]() -> observer::Description {
                       return {"wgmma uses A's registers as sums while another wgmma is under way",
                               "the other is " + place(program, by)};
                     });
    }
  }
}

void Warpgroups::look(const Warp& warp, const Insn& insn) {
  const Program& program = block_.launch.program;
  const u32 pc = static_cast<u32>(&insn - warp.code);
  const RegisterWatch& watch = program.watches.at(pc);
  Registers& registers = of(warp).registers[warp.id % Block::kWarpsOfGroup];
  for (const auto& [number, product] : registers.under_way) {
    const RegisterWatch& other = program.watches.at(product);
    const char* const what = common_register(watch.reads, other.writes)    ? "reads a sum"
                             : common_register(watch.writes, other.writes) ? "writes a sum"
                             : common_register(watch.writes, other.reads) ? "writes a register of A"
                                                                          : nullptr;
    if (what == nullptr) continue;
    const Lane at{warp, insn, static_cast<u32>(__builtin_ctz(warp.mask))};
    observer::find(at, FaultKind::kRace, product, [&, by = product]() -> observer::Description {
      return {fmt::format("an instruction {} of wgmma that is under way: no wgmma.wait_group has "
                          "waited for it",
                          what),
              "the wgmma is " + place(program, by)};
    });
  }
  if (!watch.follows_writes || watch.writes.empty()) return;
  const auto source =
      watch.reads.empty() ? registers.written.end() : registers.written.find(watch.reads[0]);
  for (const u32 reg : watch.writes) {
    if (!watch.copies)
      registers.written[reg] = pc;
    else if (source != registers.written.end())
      registers.written[reg] = source->second;
    else
      registers.written.erase(reg);
  }
}

std::string Warpgroups::describe(const Warp& warp) const {
  const Group& group = groups_[warp.id / Block::kWarpsOfGroup];
  const u32 first = warp.id / Block::kWarpsOfGroup * Block::kWarpsOfGroup;
  const auto last = std::min_element(std::begin(group.begun), std::end(group.begun));
  return fmt::format("wait for wgmma that warp {} has not begun",
                     first + (last - std::begin(group.begun)));
}

}  // namespace vgpu::machine
