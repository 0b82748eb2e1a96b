// SPDX-License-Identifier: Apache-2.0
// Texture and surface instructions: the checks of memory around what machine/texture.cpp does.
#include "machine/texture.hpp"

#include "machine/isa/watch.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

using Fetch = void (*)(Warp& warp, std::byte* window, const Insn& insn, u32 mask,
                       TexelReads& reads);

template <Fetch kFetch>
void fetch_lanes(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  TexelReads reads;
  kFetch(warp, window, insn, mask, reads);
  for (u32 i = 0; i < reads.count; ++i) {
    watch_global(warp, insn, reads.lanes[i], reads.addresses[i], reads.bytes, Pattern::kScattered,
                 Touch::kLoad, false);
  }
}

void query(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  query_texture(warp, window, insn, mask);
}

void load(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  const u32 inside = locate_elements(warp, window, insn, mask, addresses);
  if (inside != 0) {
    watch_global(warp, insn, inside, addresses, element_bytes(warp, window, insn, inside),
                 Pattern::kScattered, Touch::kLoad, false);
  }
  load_elements(warp, window, insn, mask, inside, addresses);
}

using Change = void (*)(const Warp& warp, const std::byte* window, const Insn& insn, u32 inside,
                        const u64* addresses);

template <Change kChange, Touch kTouch>
void change(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  alignas(64) u64 addresses[kLanes];
  const u32 inside = locate_elements(warp, window, insn, mask, addresses);
  if (inside == 0) return;
  watch_global(warp, insn, inside, addresses, element_bytes(warp, window, insn, inside),
               Pattern::kScattered, kTouch, kTouch == Touch::kUpdate);
  ++warp.progress;
  kChange(warp, window, insn, inside, addresses);
}

}  // namespace

void define_texture(OperationSink& sink) {
  op_special(sink, "tex", &fetch_lanes<&fetch_texels>);
  op_special(sink, "tld4", &fetch_lanes<&gather_texels>);
  op_special(sink, "txq", &query);
  op_special(sink, "suld", &load);
  op_special(sink, "sust", &change<&store_elements, Touch::kStore>);
  op_special(sink, "sured", &change<&reduce_elements, Touch::kUpdate>);
}

}  // namespace vgpu::machine::VGPU_ISA
