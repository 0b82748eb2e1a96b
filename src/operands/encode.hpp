// SPDX-License-Identifier: Apache-2.0
// Conversion of 16-bit and 8-bit elements from and to binary32: operands for kernels, results for
// verification.
#pragma once
#include <ladder/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ladder {

// Rounds to the nearest number of the type, ties to even; beyond its range infinity, for 8-bit
// types the largest number. NaN stays NaN.
float round_to(Type type, float value);

// Unit roundoff 2^-p of a type with p significant bits, and half the spacing of its subnormal
// numbers.
double unit_of(Type type);
double half_subnormal_of(Type type);

// The largest n such that the type represents every integer from 0 to n.
std::int64_t whole_numbers(Type type);

// Returns the elements in memory format. Each word is the bit pattern of a binary32 number that the
// type represents, or the poison of input.hpp. The poison becomes a signalling NaN of the type,
// which no arithmetic produces.
std::vector<std::byte> encode(Type type, std::span<const std::uint32_t> words);
std::vector<std::byte> encode(Type type, std::span<const float> values);

// Inverse of encode(): decode(type, encode(type, words)) == words.
std::vector<std::uint32_t> decode(Type type, std::span<const std::byte> memory);

}  // namespace ladder
