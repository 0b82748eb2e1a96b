// SPDX-License-Identifier: Apache-2.0
// Texture and surface instructions of a warp.
#pragma once
#include "machine/machine.hpp"

namespace vgpu::machine {

// Reads of a fetch: up to kMost texels of each lane.
struct TexelReads {
  static constexpr u32 kMost = 16;
  u32 count = 0;  // of used rows
  u32 bytes = 0;  // of a texel
  u32 lanes[kMost] = {};
  alignas(64) u64 addresses[kMost][kLanes] = {};
};

// tex and tld4: writes the lanes' results, and to `reads` what the checks of memory need.
void fetch_texels(Warp& warp, std::byte* window, const Insn& insn, u32 mask, TexelReads& reads);
void gather_texels(Warp& warp, std::byte* window, const Insn& insn, u32 mask, TexelReads& reads);
// txq and suq.
void query_texture(Warp& warp, std::byte* window, const Insn& insn, u32 mask);

// suld, sust and sured: the addresses of the lanes' elements. Returns the lanes inside the surface.
u32 locate_elements(Warp& warp, const std::byte* window, const Insn& insn, u32 mask,
                    u64* addresses);
// `inside`: the lanes of `mask` that locate_elements returned. The others read zeros.
void load_elements(const Warp& warp, std::byte* window, const Insn& insn, u32 mask, u32 inside,
                   const u64* addresses);
void store_elements(const Warp& warp, const std::byte* window, const Insn& insn, u32 inside,
                    const u64* addresses);
void reduce_elements(const Warp& warp, const std::byte* window, const Insn& insn, u32 inside,
                     const u64* addresses);
u32 element_bytes(const Warp& warp, const std::byte* window, const Insn& insn, u32 mask);

}  // namespace vgpu::machine
