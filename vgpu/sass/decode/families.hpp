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

}  // namespace vgpu::sass
