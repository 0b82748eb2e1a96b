// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/wgmma.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/execute/async.hpp"
#include "engine/execute/fault.hpp"

namespace vgpu::execute {
namespace {

// The value of an operand that all threads must give alike.
u64 common(const Warp& warp, const Insn& insn, u32 slot, const char* what) {
  const u64* const values = reinterpret_cast<const u64*>(warp.window + slot);
  for (u32 lane = 1; lane < kLanes; ++lane) {
    if (values[lane] != values[0]) {
      fault({warp, insn, lane}, FaultKind::kBadOperand,
            fmt::format("the threads of a warpgroup give wgmma different {}", what),
            fmt::format("0x{:x} here, 0x{:x} in the first thread of the warp", values[lane], values[0]));
    }
  }
  return values[0];
}

// Every piece of the matrix lies in shared memory, and no field says what the format does not have.
void check_matrix(const Warp& warp, const Insn& insn, u64 bits, const char* name, WgmmaType type, u32 rows,
                  bool along_mn) {
  const MatrixDescriptor matrix = MatrixDescriptor::decode(bits);
  const auto bad = [&](const std::string& what) {
    fault({warp, insn, 0}, FaultKind::kBadOperand, fmt::format("the descriptor of {}: {}", name, what),
          fmt::format("descriptor 0x{:016x}: start 0x{:x}, leading dimension {} bytes, stride {} bytes, base "
                      "offset {}, {}",
                      bits, matrix.start, matrix.leading, matrix.stride, matrix.base_offset,
                      matrix.span == MatrixDescriptor::kPiece ? "no swizzle"
                                                              : fmt::format("{}-byte swizzle", matrix.span)));
  };
  if ((bits & MatrixDescriptor::kReserved) != 0) bad("bits are set that no field has");
  const u32 phase = matrix.start % matrix.pattern() / 128;
  if (matrix.span != MatrixDescriptor::kPiece && phase != matrix.base_offset) {
    bad(fmt::format(
        "the swizzle repeats every {} bytes, and the matrix starts {} bytes behind such a multiple",
        matrix.pattern(), matrix.start % matrix.pattern()));
  }
  if (matrix.span == MatrixDescriptor::kPiece && matrix.base_offset != 0) {
    bad("a base offset has no meaning without a swizzle");
  }
  const u32 bytes = wgmma_bytes(type), depth = 32 / bytes;
  u32 low = ~0u, high = 0;
  const auto reach = [&](u32 address) {
    low = std::min(low, address);
    high = std::max(high, address);
  };
  if (along_mn) {
    for (u32 k = 0; k < depth; ++k) {
      for (u32 piece = 0; piece < rows * bytes / MatrixDescriptor::kPiece; ++piece) {
        reach(matrix.along_mn(k, piece));
      }
    }
  } else {
    for (u32 row = 0; row < rows; ++row) {
      reach(matrix.along_k(row, 0));
      reach(matrix.along_k(row, 1));
    }
  }
  if (low < warp.shared_begin || u64{high} + MatrixDescriptor::kPiece > warp.shared_end) {
    bad(fmt::format(
        "the matrix lies at shared addresses 0x{:x} to 0x{:x}, the block's memory at 0x{:x} to 0x{:x}", low,
        high + MatrixDescriptor::kPiece, warp.shared_begin, warp.shared_end));
  }
}

}  // namespace

Warpgroups::Warpgroups(Block& block)
    : block_(block), groups_((block.warp_count + Block::kWarpsOfGroup - 1) / Block::kWarpsOfGroup) {}

void Warpgroups::start_block() {
  for (Group& group : groups_) group = {};
}

u64 Warpgroups::Group::complete() const { return *std::min_element(std::begin(begun), std::end(begun)); }

bool Warpgroups::delays(Group& group, u32 number) const {
  return schedule_delays(block_.launch.config.schedule, block_.linear * 64 + 32 + number, ++group.draws);
}

void Warpgroups::check(const Warp& warp, const Insn& insn, const Product& product) const {
  const u32 n = static_cast<u32>(insn.imm);
  const auto type_a = static_cast<WgmmaType>(insn.bytes), type_b = static_cast<WgmmaType>(insn.width);
  if ((insn.sub & kWgmmaRegisters) == 0) {
    check_matrix(warp, insn, product.descriptors[0], "A", type_a, 64, (insn.sub & kWgmmaTransposeA) != 0);
  }
  check_matrix(warp, insn, product.descriptors[1], "B", type_b, n, (insn.sub & kWgmmaTransposeB) != 0);
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
  if ((insn.sub & kWgmmaRegisters) == 0) descriptors[0] = common(warp, insn, insn.s[0], "descriptors of A");
  descriptors[1] = common(warp, insn, insn.s[1], "descriptors of B");
  const u32 scale = *reinterpret_cast<const u32*>(warp.window + insn.s[2]);
  if (scale != 0 && scale != kAllLanes) {
    fault({warp, insn, 0}, FaultKind::kBadOperand, "the threads of a warpgroup give wgmma different scale-d",
          "");
  }
  if (number == group.done + group.products.size()) {
    Product& made = group.products.emplace_back();
    made.kernel = kernel;
    made.step.insn = &insn;
    made.step.lists = warp.lists;
    made.step.shared = warp.shared;
    made.step.adds = scale != 0;
    std::copy_n(descriptors, 2, made.descriptors);
    made.step.a = MatrixDescriptor::decode(descriptors[0]);
    made.step.b = MatrixDescriptor::decode(descriptors[1]);
    check(warp, insn, made);
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
  product.step.windows[member] = warp.window;
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
  committed.erase(committed.begin(), left);
  ++warp.progress;
  return true;
}

std::string Warpgroups::describe(const Warp& warp) const {
  const Group& group = groups_[warp.id / Block::kWarpsOfGroup];
  const u32 first = warp.id / Block::kWarpsOfGroup * Block::kWarpsOfGroup;
  const auto last = std::min_element(std::begin(group.begun), std::end(group.begun));
  return fmt::format("wait for wgmma that warp {} has not begun", first + (last - std::begin(group.begun)));
}

}  // namespace vgpu::execute
