// SPDX-License-Identifier: Apache-2.0
// Addresses and hints that the shapes of memory instructions share (decode_memory.cpp).
#pragma once
#include "engine/sass/reader.hpp"

namespace vgpu::sass {

// [R + offset] of shared and local memory; a uniform register is added where bit 91 says so.
Operand near_address(Reader& r, unsigned uniform_position);
// [R.64 + offset] of global and generic memory. The descriptor in a uniform register says how the
// memory is cached, which changes nothing here.
Operand far_address(Reader& r, unsigned descriptor_position, unsigned descriptor_bit = 76);
void add_far(Reader& r, const Operand& address);
void eviction_at(Reader& r);
// How the access is ordered against other threads'.
void order_at(Reader& r);

}  // namespace vgpu::sass
