// SPDX-License-Identifier: Apache-2.0
#include "machine/isa/access.hpp"
#include "memory/access_count.hpp"

namespace vgpu::machine::VGPU_ISA {

using namespace access_count;

AccessCost global_cost(const u64* addresses, u32 mask, u32) {
  return {sectors(addresses, mask), size(firsts(addresses, mask, 0))};
}

AccessCost atomic_cost(const u64* addresses, u32 mask, u32) {
  return {sectors_in_turns(addresses, mask), size(firsts(addresses, mask, 0))};
}

bool is_scattered(const u64* addresses, u32 mask, u32 distinct_addresses) {
  constexpr u32 kLineShift = 7;
  return sectors(addresses, mask) < distinct_addresses &&
         size(firsts(addresses, mask, kLineShift)) > observer::kLinesOfAtomic;
}

AccessCost shared_load_cost(const u32* offsets, u32 mask, u32 bytes) {
  return load_cost(offsets, mask, bytes);
}

AccessCost shared_store_cost(const u32* offsets, u32 mask, u32 bytes) {
  return store_cost(offsets, mask, bytes);
}
AccessCost no_cost(const u32*, u32, u32) { return {}; }

}  // namespace vgpu::machine::VGPU_ISA
