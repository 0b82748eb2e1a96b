// SPDX-License-Identifier: Apache-2.0
#include "machine/async.hpp"

#include <algorithm>
#include <cstring>

#include "machine/fault.hpp"

namespace vgpu::machine {
namespace {

u64 mixed(u64 x) {  // splitmix64's finaliser
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

}  // namespace

void verify_parts(Warp& warp, const Insn& insn, u32 mask, const u64* from, const u32* sizes) {
  for (const u32 i : SetBits(mask)) {
    if (sizes[i] > insn.bytes) {
      fault({warp, insn, i}, FaultKind::kBadOperand, "src-size of cp.async is greater than cp-size",
            "");
    }
    if (from[i] % insn.bytes != 0) {
      fault_access({warp, insn, i}, AddressSpace::kGlobal, from[i], insn.bytes);
    }
    u64 bytes[kLanes];
    for (u32 byte = 0; byte < sizes[i]; ++byte) {
      bytes[i] = from[i] + byte;
      verify_global(warp, insn, 1u << i, bytes, 1);
    }
  }
}

void CopyQueue::start_block() {
  std::fill(std::begin(epoch_), std::end(epoch_), 1u);
  for (std::vector<u32>& groups : groups_) groups.clear();
  under_way_.clear();
  draws_ = 0;
}

bool schedule_delays(const CopySchedule& schedule, u64 place, u64 draw) {
  switch (schedule.kind) {
    case CopySchedule::Kind::kEager: return false;
    case CopySchedule::Kind::kLazy: return true;
    case CopySchedule::Kind::kRandom: break;
  }
  return (schedule_bits(schedule, place, draw) & 1) != 0;
}

u64 schedule_bits(const CopySchedule& schedule, u64 place, u64 draw) {
  return mixed(mixed(schedule.seed + mixed(place)) + draw);
}

bool CopyQueue::delays() {
  const Block& block = *warp_->block;
  return schedule_delays(block.launch.config.schedule, block.linear * 64 + warp_->id, ++draws_);
}

void CopyQueue::write(u32 bytes, u32 to, u64 from, u32 size) const {
  constexpr u32 kUsual = 16;
  std::byte* const at = warp_->shared + to;
  const void* const source = reinterpret_cast<const void*>(from);
  if (bytes == kUsual && size == kUsual) {  // of constant size: no call
    std::memcpy(at, source, kUsual);
    return;
  }
  if (size != 0) std::memcpy(at, source, size);
  std::memset(at + size, 0, bytes - size);
}

void CopyQueue::begin(const Insn& insn, u32 mask, const u32* to, const u64* from,
                      const u32* sizes) {
  ++warp_->progress;
  if (warp_->race != nullptr) warp_->race->copy(*warp_, insn, mask, to, insn.bytes, epoch_);
  if (!delays()) {
    for (const u32 lane : SetBits(mask)) write(insn.bytes, to[lane], from[lane], sizes[lane]);
    return;
  }
  Copy& copy = under_way_.emplace_back();
  copy.insn = &insn;
  copy.mask = mask;
  std::copy_n(to, kLanes, copy.to);
  std::copy_n(from, kLanes, copy.from);
  std::copy_n(sizes, kLanes, copy.sizes);
  std::copy_n(epoch_, kLanes, copy.epochs);
}

void CopyQueue::land(u32 mask, const u32* epochs) {
  for (Copy& copy : under_way_) {
    for (const u32 lane : SetBits(copy.mask & mask)) {
      if (copy.epochs[lane] > epochs[lane]) continue;
      write(copy.insn->bytes, copy.to[lane], copy.from[lane], copy.sizes[lane]);
      copy.mask &= ~(1u << lane);
    }
  }
  std::erase_if(under_way_, [](const Copy& copy) { return copy.mask == 0; });
}

void CopyQueue::end_epoch(u32 mask, u32* ended) {
  for (const u32 lane : SetBits(mask)) ended[lane] = epoch_[lane]++;
  if (!under_way_.empty() && !delays()) land(mask, ended);
}

void CopyQueue::commit(u32 mask) {
  u32 ended[kLanes];
  end_epoch(mask, ended);
  for (const u32 lane : SetBits(mask)) groups_[lane].push_back(ended[lane]);
}

void CopyQueue::wait(u32 mask, u64 pending) {
  u32 waited = 0;
  u32 epochs[kLanes];
  for (const u32 lane : SetBits(mask)) {
    std::vector<u32>& groups = groups_[lane];
    if (groups.size() <= pending) continue;
    const auto end = groups.end() - static_cast<std::ptrdiff_t>(pending);
    epochs[lane] = *(end - 1);
    groups.erase(groups.begin(), end);
    waited |= 1u << lane;
  }
  if (waited == 0) return;
  land(waited, epochs);
  if (warp_->race != nullptr) warp_->race->copies_landed(*warp_, waited, epochs);
}

}  // namespace vgpu::machine
