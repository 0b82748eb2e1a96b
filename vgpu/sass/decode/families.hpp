// SPDX-License-Identifier: Apache-2.0
// One decoder per instruction format. The Reader's insn.op and insn.guard are set before the call.
#pragma once
#include "sass/decode/reader.hpp"

namespace vgpu::sass {

#define ENCODING(opcode, forms, mnemonic, operation, decoder, ...) void decode_##decoder(Reader& r);
#include "sass/opcodes.def"

// FMNMX, HMNMX2. `high`: NaN if an operand is NaN. `wrap`: the sign of the operands' product.
void extremes_at(Reader& r);
// The comparison of floating-point numbers.
void float_compare_at(Reader& r);

// Prints `count` predicates that are not written.
void add_absent(Reader& r, unsigned count);
// The registers and immediates of the instruction have 64 bits.
void make_pairs(Reader& r);

// Decoders of address and cache-hint fields that several memory instructions share
// (memory.cpp).

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
