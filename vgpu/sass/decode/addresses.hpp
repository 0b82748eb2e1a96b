// SPDX-License-Identifier: Apache-2.0
// Decoders of address and cache-hint fields that several memory instructions share
// (decode_memory.cpp).
#pragma once
#include "sass/decode/reader.hpp"

namespace vgpu::sass {

// [R + offset]. `scaled`: bits 78 and 79 multiply the register by 4, 8 or 16.
Operand register_address(Reader& r, bool scaled);
// The same for shared and local memory; bit 91 adds a uniform register.
Operand near_address(Reader& r, unsigned uniform_position, bool scaled = false);
// [UR]
Operand uniform_address(Reader& r, unsigned position);
// [R.64 + offset] of global and generic memory. From sm_80 on, a descriptor in a uniform register
// selects the caching and is ignored; before, bit 91 adds a pair of uniform registers.
Operand far_address(Reader& r, unsigned descriptor_position, unsigned descriptor_bit = 76);
void add_far(Reader& r, const Operand& address);
void eviction_at(Reader& r);
// Memory order and scope of the access.
void order_at(Reader& r);

}  // namespace vgpu::sass
