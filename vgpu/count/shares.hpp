// SPDX-License-Identifier: Apache-2.0
// What an instruction adds to a metric.
#pragma once
#include <algorithm>
#include <cstdint>

#include "count/instruction.hpp"

namespace vgpu::count::shares {

template <auto kField>
std::uint64_t of_count(const Instruction& i) {
  return i.count.*kField;
}
inline constexpr auto executions = &of_count<&InstructionCount::executions>;
inline constexpr auto active_lanes = &of_count<&InstructionCount::active_lanes>;
inline constexpr auto divergent = &of_count<&InstructionCount::divergent>;
inline constexpr auto global_requests = &of_count<&InstructionCount::global_requests>;
inline constexpr auto global_sectors = &of_count<&InstructionCount::global_sectors>;
inline constexpr auto global_bytes = &of_count<&InstructionCount::global_bytes>;
inline constexpr auto local_sectors = &of_count<&InstructionCount::local_sectors>;
inline constexpr auto bulk_bytes = &of_count<&InstructionCount::bulk_bytes>;
inline constexpr auto bulk_reads = &of_count<&InstructionCount::bulk_reads>;
inline constexpr auto bulk_multicast_reads = &of_count<&InstructionCount::bulk_multicast_reads>;
inline constexpr auto bulk_deliveries = &of_count<&InstructionCount::bulk_deliveries>;
inline constexpr auto bulk_multicasts = &of_count<&InstructionCount::bulk_multicasts>;
inline constexpr auto wavefronts = &of_count<&InstructionCount::shared_wavefronts>;
inline constexpr auto remote_requests = &of_count<&InstructionCount::remote_requests>;
inline constexpr auto failed_waits = &of_count<&InstructionCount::failed_waits>;

inline std::uint64_t lanes(const Instruction& i) { return i.count.lanes - i.count.refused_lanes; }
inline std::uint64_t lanes_once(const Instruction& i) {
  return i.count.lanes - i.count.repeated_lanes;
}

// Measured: every 4 bytes per lane are a separate request.
inline std::uint64_t local_requests(const Instruction& i) {
  return i.count.local_requests * static_cast<std::uint64_t>(std::max(1, i.what.bytes / 4));
}

// Measured: bytes of a generic access count for both global and shared memory, wherever the address
// points, also to local memory. The instruction counts as neither a global nor a shared one.
inline std::uint64_t generic_data(const Instruction& i) {
  return i.count.global_bytes + i.count.shared_bytes + i.count.local_bytes;
}
inline std::uint64_t global_data(const Instruction& i) {
  return i.what.space == Space::kGeneric ? generic_data(i) : i.count.global_bytes;
}
inline std::uint64_t shared_data(const Instruction& i) {
  return i.what.space == Space::kGeneric ? generic_data(i) : i.count.shared_bytes;
}

// Wavefronts beyond the minimum for the width of the accesses.
inline std::uint64_t conflicts(const Instruction& i) {
  const std::uint64_t needed = i.count.shared_requests * std::max(1, i.what.bytes / 4);
  return i.count.shared_wavefronts - std::min(needed, i.count.shared_wavefronts);
}

// Executions in a pipe.
template <ir::Pipe kPipe>
std::uint64_t in_pipe(const Instruction& i) {
  return (i.what.pipes & kPipe) != 0 ? i.count.executions : 0;
}
inline std::uint64_t in_lighter_half(const Instruction& i) {
  return i.lighter ? i.count.executions : in_pipe<ir::kPipeFmaLite>(i);
}
inline std::uint64_t in_heavier_half(const Instruction& i) {
  const bool either = is_for_either_half(i.what) && !i.lighter;
  return either ? i.count.executions : in_pipe<ir::kPipeFmaHeavy>(i);
}

template <TensorPath kPath>
std::uint64_t tensor_operations(const Instruction& i) {
  return i.tensor.path == kPath ? i.count.executions * i.tensor.operations : 0;
}
inline std::uint64_t operand_bytes(const Instruction& i) {
  return i.count.executions * i.tensor.shared_bytes;
}
// Measured: 128 bytes each, also of several warps together.
inline std::uint64_t operand_wavefronts(const Instruction& i) { return operand_bytes(i) / 128; }

// Measured: the data, and per lane 8 bytes more (2 for loads of 16 bytes). Atomics: the data in
// both directions.
inline std::uint64_t remote_loads(const Instruction& i) {
  return i.count.remote_bytes + (i.what.bytes == 16 ? 2 : 8) * i.count.remote_lanes;
}
// Measured: data, and 32 bytes per asynchronous store.
inline std::uint64_t remote_stores(const Instruction& i) {
  const bool async = i.what.operation == ir::Counted::kAsyncStore;
  return i.count.remote_bytes + (async ? 32 * i.count.remote_requests : 0);
}
inline std::uint64_t remote_atomics(const Instruction& i) { return 2 * i.count.remote_bytes; }

// Measured: whole sectors, without what a box has outside its tensor.
inline std::uint64_t bulk_writes(const Instruction& i) { return 32 * i.count.global_sectors; }

inline std::uint64_t passed_waits(const Instruction& i) {
  return i.count.executions - std::min(i.count.executions, i.count.failed_waits);
}

}  // namespace vgpu::count::shares
