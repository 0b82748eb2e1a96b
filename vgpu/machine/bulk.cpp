// SPDX-License-Identifier: Apache-2.0
#include "machine/bulk.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <utility>

#include "machine/async.hpp"
#include "machine/bulk_check.hpp"
#include "machine/cluster.hpp"
#include "machine/fault.hpp"
#include "machine/mbarrier.hpp"
#include "machine/reduce.hpp"
#include "machine/tensor/box.hpp"
#include "observer/findings.hpp"

namespace vgpu::machine {
namespace {

constexpr u32 kTensorAlignment = 128, kPlainAlignment = 16;

// One lane's operands.
struct Operands {
  u64 shared = 0, other = 0, barrier = 0;
  u32 bytes = 0;
  u32 blocks = 0;  // 0: no multicast
  BoxPlace place;
};

template <class T>
T value(const Warp& warp, const Insn& insn, u32 operand, u32 lane) {
  const u32 slot = warp.lists[insn.list + operand];
  return slot == kNone ? T{} : reinterpret_cast<const T*>(warp.window + slot)[lane];
}

Operands operands_of(const Warp& warp, const Insn& insn, u32 lane) {
  Operands o;
  o.shared = value<u64>(warp, insn, kBulkShared, lane);
  o.other = value<u64>(warp, insn, kBulkOther, lane);
  o.barrier = value<u64>(warp, insn, kBulkBarrier, lane);
  if ((insn.flags & kFlagMachine) != 0) {  // size in units of 16 bytes; the mask in the upper half
    o.bytes = (value<u32>(warp, insn, kBulkSize, lane) & 0xffff) * kPlainAlignment;
    o.blocks = value<u32>(warp, insn, kBulkBlocks, lane) >> 16;
  } else {
    o.bytes = value<u32>(warp, insn, kBulkSize, lane);
    o.blocks = value<u16>(warp, insn, kBulkBlocks, lane);
  }
  for (u32 d = 0; d < insn.vector; ++d) o.place.at[d] = value<i32>(warp, insn, kBulkAt + d, lane);
  const u32 dimensions = insn.vector < 3 ? 0 : insn.vector - 2u;  // of an image
  if ((insn.flags & kFlagMachine) != 0) {  // in the lower half of a register: 16, 8 or 5 bits each
    const u32 packed = value<u32>(warp, insn, kBulkOffsets, lane),
              bits = 16 / std::max(dimensions, 1u);
    for (u32 d = 0; d < dimensions; ++d)
      o.place.offsets[d] = static_cast<i32>(packed >> bits * d & ((1u << bits) - 1));
  } else {
    for (u32 d = 0; d < dimensions; ++d)
      o.place.offsets[d] = value<u16>(warp, insn, kBulkOffsets + d, lane);
  }
  return o;
}

// The tensor map at a generic address.
TensorMap read_map(const Lane& lane, u64 address) {
  if (address % TensorMap::kAlignment != 0) {
    fault(lane, FaultKind::kMisaligned,
          fmt::format("a tensor map must lie at a multiple of {} bytes", TensorMap::kAlignment),
          fmt::format("address 0x{:x}", address));
  }
  const Warp& warp = lane.warp;
  const std::byte* from = reinterpret_cast<const std::byte*>(address);
  switch (space_of(address, warp.shared_window)) {
    case AddressSpace::kParam: {
      const u64 offset = address - windows().param;
      if (offset + TensorMap::kBytes > warp.param_bytes) {
        fault_access(lane, AddressSpace::kParam, offset, static_cast<u32>(TensorMap::kBytes));
      }
      from = warp.params + offset;
      break;
    }
    case AddressSpace::kGlobal: check_bulk_global(lane, address, TensorMap::kBytes, false); break;
    default:
      fault(lane, FaultKind::kBadOperand,
            "a tensor map must lie in global, constant or parameter memory",
            fmt::format("address 0x{:x}", address));
  }
  const auto map = decode(std::span<const std::byte, TensorMap::kBytes>(from, TensorMap::kBytes));
  if (!map) {
    fault(lane, FaultKind::kBadOperand,
          "there is no tensor map, or one that was changed after it was encoded",
          fmt::format("address 0x{:x}", address));
  }
  return *map;
}

// A copy with all that it needs to execute later, possibly long after the instruction.
struct Transfer {
  TensorMap map;
  Operands to;
  bool tensor = false;

  // Bytes that an mbarrier counts.
  u32 bytes() const { return tensor ? map.box_bytes() : to.bytes; }
  // Extent in shared memory, in bytes.
  u32 shared_bytes() const { return tensor ? map.shared_bytes() : to.bytes; }

  void load(std::byte* shared, u32 address) const {
    if (!tensor) {
      std::memcpy(shared + address, reinterpret_cast<const void*>(to.other), to.bytes);
      return;
    }
    alignas(16) std::byte bytes[kMostLineBytes];
    for_each_line(map, to.place, false, [&](const BoxLine& line) {
      fill_outside(map, line, bytes);
      if (line.inside != 0) {
        std::memcpy(bytes + line.skipped, reinterpret_cast<const void*>(line.global), line.inside);
        convert_inside(map, line, bytes);
      }
      put_line(map, line, bytes, shared, address);
    });
  }

  // The box's bytes without swizzle, with the lines' pitch in shared memory.
  std::vector<std::byte> take(const std::byte* shared, u32 address) const {
    std::vector<std::byte> data(shared_bytes());
    if (!tensor) {
      std::memcpy(data.data(), shared + address, data.size());
      return data;
    }
    for_each_line(map, to.place, true, [&](const BoxLine& line) {
      get_line(map, line, data.data() + line.shared, shared, address);
    });
    return data;
  }

  void store(const std::vector<std::byte>& data, const Reducer* reducer) const {
    const auto put = [&](u64 global, const std::byte* from, u32 bytes) {
      if (reducer != nullptr)
        reducer->apply(reinterpret_cast<std::byte*>(global), from, bytes, true);
      else
        std::memcpy(reinterpret_cast<void*>(global), from, bytes);
    };
    if (!tensor) {
      put(to.other, data.data(), to.bytes);
      return;
    }
    for_each_line(map, to.place, true, [&](const BoxLine& line) {
      if (line.inside != 0) put(line.global, data.data() + line.shared + line.skipped, line.inside);
    });
  }
};

Transfer transfer_of(const Lane& lane) {
  const Insn& insn = lane.insn;
  Transfer transfer;
  transfer.to = operands_of(lane.warp, insn, lane.lane);
  transfer.tensor = insn.vector != 0;
  if (!transfer.tensor) {
    const u32 bytes = transfer.to.bytes;
    if (bytes % kPlainAlignment != 0) {
      bad_operand(
          lane,
          fmt::format("the size of a bulk copy must be a multiple of 16 bytes, not {}", bytes));
    }
    const bool global = static_cast<BulkKind>(insn.sub) != BulkKind::kSend;
    if (global && transfer.to.other % kPlainAlignment != 0) {
      fault(lane, FaultKind::kMisaligned,
            "the global address of a bulk copy must be a multiple of 16 bytes",
            fmt::format("address 0x{:x}", transfer.to.other));
    }
    return transfer;
  }
  transfer.map = read_map(lane, transfer.to.other);
  if (transfer.map.rank != insn.vector) {
    bad_operand(lane, fmt::format("a copy of {} dimensions by a tensor map of {}", insn.vector,
                                  transfer.map.rank));
  }
  const bool im2col = insn.imm == kBulkIm2col;
  if (transfer.map.im2col != im2col) {
    bad_operand(lane, fmt::format("a copy in {} mode by a tensor map of {} mode",
                                  im2col ? "im2col" : "tiled", im2col ? "tiled" : "im2col"));
  }
  const bool stores = static_cast<BulkKind>(insn.sub) == BulkKind::kStore;
  if (const std::string why = broken_place(transfer.map, transfer.to.place, stores); !why.empty())
    illegal(lane, why);
  return transfer;
}

// Checks bounds, updates marks and counters for the transfer's accesses to global memory. Returns
// the bytes that a load brings to one block: whole sectors, of a tensor map the whole box, and a
// sector more for each row that begins, or ends at the tensor's edge, within a sector (an H200's
// bytes of r16 and r20; a multicast reads more, by a rule that was not found).
u64 check_global_side(Warp& warp, const Lane& lane, const Transfer& transfer, BulkAccess access) {
  constexpr u64 kSector = 32;
  const bool writes = access != BulkAccess::kRead;
  observer::SiteCount& count = warp.site_counts[lane.insn.site];
  ++count.global_requests;
  const auto touch = [&](u64 address, u32 bytes) {
    check_bulk_global(lane, address, bytes, writes);
    watch_bulk_global(warp, lane, address, bytes, access);
    const u64 sectors = (address + bytes + kSector - 1) / kSector - address / kSector;
    count.global_sectors += sectors;
    count.global_bytes += writes ? bytes : sectors * kSector;
    return sectors * kSector;
  };
  if (!transfer.tensor) {
    count.uneven_boxes += writes && transfer.to.other % kSector != 0 ? 1 : 0;
    return transfer.to.bytes != 0 ? touch(transfer.to.other, transfer.to.bytes) : 0;
  }
  u64 more = 0;
  for_each_line(transfer.map, transfer.to.place, writes, [&](const BoxLine& line) {
    if (line.inside == 0) return;
    touch(line.global, line.inside);
    const bool begins_inside = (line.global - line.skipped) % kSector != 0,
               is_cut_inside = line.skipped + line.inside < line.bytes &&
                               (line.global + line.inside) % kSector != 0;
    if (begins_inside || is_cut_inside) more += kSector;
  });
  count.uneven_boxes += more != 0 && !writes ? 1 : 0;
  return transfer.bytes() + more;
}

u32 alignment_of(const Transfer& transfer) {
  return transfer.tensor ? kTensorAlignment : kPlainAlignment;
}

// The mbarrier that a copy to `to` completes on.
SharedPlace barrier_of(const Lane& lane, const SharedPlace& to, u64 address) {
  const SharedPlace barrier = shared_place(lane, address, Mbarriers::kBytes, Mbarriers::kBytes);
  if (to.block != barrier.block) {
    bad_operand(lane,
                "an asynchronous copy to one block's shared memory completes on an mbarrier of "
                "another block");
  }
  return barrier;
}

void load(Warp& warp, const Lane& lane) {
  warp.roles |= observer::kCopies;
  const Transfer transfer = transfer_of(lane);
  const u64 reads = check_global_side(warp, lane, transfer, BulkAccess::kRead);
  const u32 bytes = transfer.bytes(), reach = transfer.shared_bytes();
  observer::SiteCount& count = warp.site_counts[lane.insn.site];
  const auto land = [&](u64 to, u64 at_barrier) {
    const SharedPlace place = shared_place(lane, to, reach, alignment_of(transfer));
    const SharedPlace barrier = barrier_of(lane, place, at_barrier);
    ++count.bulk_deliveries;
    count.bulk_bytes += bytes;
    count.bulk_reads += reads;
    watch_bulk_shared(lane, place, reach, true);
    barrier.block->mbarriers->bulk_lands(
        warp, lane, barrier.offset, {place.block, place.offset, reach}, bytes,
        [transfer, place] { transfer.load(place.block->warps[0].shared, place.offset); });
  };
  if (warp.lists[lane.insn.list + kBulkBlocks] == kNone) {
    land(transfer.to.shared, transfer.to.barrier);
    return;
  }
  const Cluster& cluster = warp.block->cluster;
  if (transfer.to.blocks == 0 || transfer.to.blocks >> cluster.size() != 0) {
    bad_operand(lane, fmt::format("a multicast to blocks 0x{:x} of a cluster of {}",
                                  transfer.to.blocks, cluster.size()));
  }
  ++count.bulk_multicasts;
  count.bulk_multicast_reads += reads * static_cast<u64>(__builtin_popcount(transfer.to.blocks));
  for (const u32 rank : SetBits(transfer.to.blocks)) {
    land(cluster_address(warp, rank, transfer.to.shared % kWindowBytes),
         cluster_address(warp, rank, transfer.to.barrier % kWindowBytes));
  }
}

void store(Warp& warp, const Lane& lane) {
  const auto transfer = std::make_shared<const Transfer>(transfer_of(lane));
  const auto reduction = static_cast<Reduction>(lane.insn.width);
  if (transfer->tensor && reduction != Reduction::kCopy &&
      !can_reduce_tensor(reduction, transfer->map.type))
    illegal(lane, "there is no such reduction of elements of the tensor map's type");
  check_global_side(warp, lane, *transfer,
                    reduction == Reduction::kCopy ? BulkAccess::kWrite : BulkAccess::kUpdate);
  const u32 bytes = transfer->bytes(), reach = transfer->shared_bytes();
  const SharedPlace place = shared_place(lane, transfer->to.shared, reach, alignment_of(*transfer));
  if (place.block != warp.block) bad_operand(lane, "a bulk store of another block's shared memory");
  warp.site_counts[lane.insn.site].bulk_bytes += bytes;
  watch_bulk_shared(lane, place, reach, false);
  const Insn& insn = lane.insn;
  if (warp.race != nullptr && bytes != 0) {
    warp.race->async_read(warp, insn, lane.lane, {place.block, place.offset, reach},
                          warp.race->agent(observer::AgentKind::kGroups, warp, lane.lane),
                          warp.bulk->epoch(lane.lane));
  }
  warp.bulk->begin(
      insn, lane.lane,
      [transfer, place] { return transfer->take(place.block->warps[0].shared, place.offset); },
      [transfer, &insn, reduction](const std::vector<std::byte>& data) {
        if (reduction == Reduction::kCopy) {
          transfer->store(data, nullptr);
          return;
        }
        const Reducer reducer(
            reduction, transfer->tensor ? transfer->map.type : static_cast<TensorType>(insn.bytes));
        transfer->store(data, &reducer);
      });
}

// Asynchronous stores, reductions and copies from registers or shared memory to shared memory of a
// cluster are illegal without a cluster dimension. With one of 1 they execute (seen on an H200).
void require_cluster(const Lane& lane) {
  if (!lane.warp.block->launch.config.in_clusters)
    illegal(lane,
            "an asynchronous store to shared memory of a cluster, in a kernel that was launched "
            "without a cluster dimension");
}

void send(Warp& warp, const Lane& lane) {
  require_cluster(lane);
  const Transfer transfer = transfer_of(lane);
  const u32 bytes = transfer.to.bytes;
  const SharedPlace from = shared_place(lane, transfer.to.other, bytes, kPlainAlignment);
  if (from.block != warp.block)
    bad_operand(lane, "the source of a bulk copy is another block's shared memory");
  const SharedPlace to = shared_place(lane, transfer.to.shared, bytes, kPlainAlignment);
  const SharedPlace barrier = barrier_of(lane, to, transfer.to.barrier);
  warp.site_counts[lane.insn.site].bulk_bytes += bytes;
  watch_bulk_shared(lane, from, bytes, false);
  watch_bulk_shared(lane, to, bytes, true);
  const Insn& insn = lane.insn;
  if (warp.race != nullptr && bytes != 0) {
    barrier.block->mbarriers->bulk_reads(warp, lane, barrier.offset, from, bytes);
  }
  barrier.block->mbarriers->bulk_lands(warp, lane, barrier.offset, {to.block, to.offset, bytes},
                                       bytes, [&insn, from, to, bytes] {
                                         const auto reduction = static_cast<Reduction>(insn.width);
                                         if (reduction == Reduction::kCopy)
                                           std::memmove(to.host(), from.host(), bytes);
                                         else
                                           Reducer(reduction, static_cast<TensorType>(insn.bytes))
                                               .apply(to.host(), from.host(), bytes, false);
                                       });
}

void send_words(Warp& warp, const Lane& lane) {
  require_cluster(lane);
  const Insn& insn = lane.insn;
  const u32 bytes = u32{insn.bytes} * insn.width;
  const SharedPlace to =
      shared_place(lane, value<u64>(warp, insn, kBulkShared, lane.lane), bytes, bytes);
  const SharedPlace barrier = barrier_of(lane, to, value<u64>(warp, insn, kBulkBarrier, lane.lane));
  std::array<std::byte, 16> data{};
  for (u32 i = 0; i < insn.width; ++i) {
    const u64 word = insn.bytes == 4 ? value<u32>(warp, insn, kBulkAt + i, lane.lane)
                                     : value<u64>(warp, insn, kBulkAt + i, lane.lane);
    std::memcpy(data.data() + i * insn.bytes, &word, insn.bytes);
  }
  watch_bulk_shared(lane, to, bytes, true);
  barrier.block->mbarriers->bulk_lands(
      warp, lane, barrier.offset, {to.block, to.offset, bytes}, bytes,
      [data, to, bytes, reduction = WordReduction::of(insn.imm)] {
        if (reduction.what == Reduction::kCopy)
          std::memcpy(to.host(), data.data(), bytes);
        else
          Reducer(reduction.what, reduction.type).apply(to.host(), data.data(), bytes, false);
      });
}

// Counts an asynchronous store. Only copies of 16 bytes per lane were measured (H200).
void count_sent(Warp& warp, const Insn& insn, u32 mask) {
  const u32 bytes = insn.width * u32{insn.bytes};
  const bool copies = WordReduction::of(insn.imm).what == Reduction::kCopy;
  warp.site_counts[insn.site].add_remote(static_cast<u32>(std::popcount(mask)), bytes,
                                         copies && bytes == 16);
}

}  // namespace

void bulk_copy(Warp& warp, const Insn& insn, u32 mask) {
  ++warp.progress;
  if ((insn.flags & kFlagMachine) != 0) mask &= 0u - mask;  // executed once per warp
  if (static_cast<BulkKind>(insn.sub) == BulkKind::kSendWords) count_sent(warp, insn, mask);
  for (const u32 index : SetBits(mask)) {
    const Lane lane{warp, insn, index};
    switch (static_cast<BulkKind>(insn.sub)) {
      case BulkKind::kLoad: load(warp, lane); break;
      case BulkKind::kStore: store(warp, lane); break;
      case BulkKind::kSend: send(warp, lane); break;
      case BulkKind::kSendWords: send_words(warp, lane); break;
    }
  }
}

void check_tensor_map(Warp& warp, const Insn& insn, u32 mask) {
  const u64* const address = reinterpret_cast<const u64*>(warp.window + insn.s[0]);
  for (const u32 lane : SetBits(mask))
    read_map({warp, insn, lane}, address[lane] + static_cast<u64>(insn.imm));
}

void BulkGroups::start_block() {
  std::fill(std::begin(epoch_), std::end(epoch_), 1u);
  std::fill(std::begin(waited_), std::end(waited_), 0u);
  for (auto* groups : {unread_, unwritten_}) {
    for (u32 lane = 0; lane < kLanes; ++lane) groups[lane].clear();
  }
  copies_.clear();
}

void BulkGroups::advance(Copy& copy, bool writes) {
  if (!copy.is_read) {
    copy.data = copy.read();
    copy.is_read = true;
  }
  if (writes && !copy.is_written) {
    copy.write(copy.data);
    copy.is_written = true;
    copy.data = {};
  }
}

void BulkGroups::advance(u32 lane, u32 epoch, bool writes) {
  for (Copy& copy : copies_) {
    if (copy.lane == lane && copy.epoch <= epoch) advance(copy, writes);
  }
}

void BulkGroups::begin(const Insn& insn, u32 lane, std::function<std::vector<std::byte>()> read,
                       std::function<void(const std::vector<std::byte>&)> write) {
  Copy& copy = copies_.emplace_back();
  copy.insn = &insn;
  copy.lane = lane;
  copy.epoch = epoch_[lane];
  copy.read = std::move(read);
  copy.write = std::move(write);
  if (!warp_->copies->delays()) advance(copy, !warp_->copies->delays());
}

void BulkGroups::commit(u32 mask) {
  for (const u32 lane : SetBits(mask)) {
    unread_[lane].push_back(epoch_[lane]);
    unwritten_[lane].push_back(epoch_[lane]++);
  }
}

void BulkGroups::wait(u32 mask, u64 pending, bool reads) {
  for (const u32 lane : SetBits(mask)) {
    std::vector<u32>& groups = reads ? unread_[lane] : unwritten_[lane];
    if (groups.size() <= pending) continue;
    const auto end = groups.end() - static_cast<std::ptrdiff_t>(pending);
    const u32 epoch = *(end - 1);
    groups.erase(groups.begin(), end);
    if (!reads) std::erase_if(unread_[lane], [&](u32 e) { return e <= epoch; });
    advance(lane, epoch, !reads);
    waited_[lane] = std::max(waited_[lane], epoch);
    if (warp_->race != nullptr)
      warp_->race->knows(*warp_, warp_->race->agent(observer::AgentKind::kGroups, *warp_, lane),
                         epoch);
  }
  std::erase_if(copies_, [&](const Copy& copy) {
    return copy.is_written && copy.epoch <= waited_[copy.lane];
  });
}

void BulkGroups::finish() {
  for (Copy& copy : copies_) {
    if (warp_->race != nullptr && copy.epoch > waited_[copy.lane]) {
      const Lane at{*warp_, *copy.insn, copy.lane};
      observer::find(at, FaultKind::kRace, kNone, []() -> observer::Description {
        return {"the block ends while a bulk store may still read its shared memory",
                "cp.async.bulk.wait_group.read must come before the end"};
      });
    }
    advance(copy, true);
  }
  copies_.clear();
}

}  // namespace vgpu::machine
