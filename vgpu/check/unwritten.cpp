// SPDX-License-Identifier: Apache-2.0
#include "check/unwritten.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace vgpu::check {
namespace {

using ir::u32;
using ir::u64;
using ir::u8;
using observer::UnwrittenFill;

// Fills besides kUsual, which is large and negative as an integer and in every floating-point
// format: zero, NaN, and large and positive.
constexpr u8 kFills[] = {0x00, 0xff, 0x7f};
constexpr std::size_t kMostSites = 16;  // limit of the search for the site that matters

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

// How a run differs from the first one.
struct Difference {
  std::string text;                   // "" if there is no difference
  std::vector<Memory::Range> memory;  // the differing bytes, if nothing else differs
};

Difference difference(const Ending& first, const MemoryImage& after, const Memory& memory,
                      const Ending& other) {
  if (other.fault != first.fault) {
    return {other.fault.empty() ? "the kernel has no fault"
                                : "the kernel stops: " + first_line(other.fault),
            {}};
  }
  if (!first.fault.empty()) return {};  // after a fault, memory depends on scheduling
  if (other.output != first.output) return {"the kernel prints something else", {}};
  std::vector<Memory::Range> ranges = after.differences();
  if (ranges.empty()) return {};
  const u64 address = ranges.front().begin;
  return {fmt::format("other values are at address 0x{:x}: {}", address, memory.describe(address)),
          std::move(ranges)};
}

Fault report(const UnwrittenReads::Site& site, u8 byte, const std::string& what) {
  Fault fault = site.fault;
  static_cast<std::runtime_error&>(fault) = std::runtime_error(fmt::format(
      "{}\n  it matters: with 0x{:02x} in every byte that was not written, for 0x{:02x}, {}",
      site.fault.what(), byte, UnwrittenFill::kUsual, what));
  return fault;
}

}  // namespace

template <class Describe>
UnwrittenReads::Site& UnwrittenReads::site_of(const observer::Warp& warp, const ir::Insn& insn,
                                              Describe describe) {
  const u32 pc = static_cast<u32>(&insn - warp.code);
  const u64 block = warp.home->linear;
  const auto [found, is_new] = sites_.try_emplace(pc);
  Site& site = found->second;
  if (is_new || block < site.block) {
    site.block = block;
    site.pc = pc;
    site.fault = describe();
  }
  return site;
}

void UnwrittenReads::note_shared(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                                 u32 offset, u32 bytes) {
  const std::lock_guard lock(mutex_);
  Site& site = site_of(warp, insn, [&] {
    return observer::made_fault(
        {warp, insn, lane}, FaultKind::kUninitialized,
        fmt::format("read of {} bytes of shared memory that the block did not write before", bytes),
        fmt::format("shared address 0x{:x}: {} bytes into the block's {} bytes", offset,
                    offset - warp.shared_begin, warp.shared_end - warp.shared_begin));
  });
  site.words.resize((warp.shared_end - warp.shared_begin + 3) / 4);
  const u32 begin = (offset - warp.shared_begin) / 4,
            end = (offset - warp.shared_begin + bytes + 3) / 4;
  for (u32 word = begin; word < end; ++word) site.words[word] = true;
}

void UnwrittenReads::note_local(const observer::Warp& warp, const ir::Insn& insn, u32 lane,
                                u64 offset, u32 bytes) {
  const std::lock_guard lock(mutex_);
  Site& site = site_of(warp, insn, [&] {
    return observer::made_fault(
        {warp, insn, lane}, FaultKind::kUninitialized,
        fmt::format("read of {} bytes of local memory that the thread never wrote", bytes),
        fmt::format("local address 0x{:x} of the thread's {} bytes", offset, warp.local_bytes));
  });
  site.local = true;
}

std::vector<const UnwrittenReads::Site*> UnwrittenReads::sites() const {
  std::vector<const Site*> sorted;
  std::ranges::transform(sites_, std::back_inserter(sorted),
                         [](const auto& entry) { return &entry.second; });
  std::ranges::stable_sort(sorted,
                           [](const Site* a, const Site* b) { return a->block < b->block; });
  return sorted;
}

std::optional<Fault> effect_of(const UnwrittenReads& reads, Memory& memory,
                               const MemoryImage& before, const Ending& first, bool defer,
                               const std::function<Ending(const UnwrittenFill&)>& run) {
  const MemoryImage after(*memory.map());
  const auto try_with = [&](const UnwrittenFill& fill) {
    before.restore();
    return difference(first, after, memory, run(fill));
  };
  std::optional<Fault> doubt;
  std::vector<Memory::Range> in_doubt;
  for (const u8 byte : kFills) {
    Difference found = try_with({byte});
    if (found.text.empty()) continue;
    const bool only_memory = defer && !found.memory.empty();
    std::move(found.memory.begin(), found.memory.end(), std::back_inserter(in_doubt));
    if (doubt && only_memory) continue;
    // If results differ with the same fill, the kernel is not deterministic: nothing is proved.
    if (!try_with({}).text.empty()) {
      doubt.reset();
      break;
    }
    const std::vector<const UnwrittenReads::Site*> sites = reads.sites();
    const UnwrittenReads::Site* culprit = sites[0];
    for (std::size_t i = 0; sites.size() > 1 && i < std::min(sites.size(), kMostSites); ++i) {
      Difference alone = try_with({byte, &sites[i]->words, sites[i]->local});
      if (alone.text.empty()) continue;
      culprit = sites[i];
      found.text = std::move(alone.text);
      break;
    }
    doubt = report(*culprit, byte, found.text);
    if (only_memory) continue;
    after.restore();
    return doubt;
  }
  after.restore();
  if (doubt && memory.doubt(in_doubt, *doubt)) doubt.reset();
  return doubt;
}

}  // namespace vgpu::check
