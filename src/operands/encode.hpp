// SPDX-License-Identifier: Apache-2.0
// Elements of 16 bits, to and from binary32: operands as a kernel finds them, results as
// verification reads them.
#pragma once
#include <ladder/problem.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ladder {

// The nearest number of the type, ties to even; infinity beyond its range. NaN stays NaN.
float round_to(Type type, float value);

// Unit roundoff 2^-p of a type of p significant bits, and half the distance of its subnormal
// numbers.
double unit_of(Type type);
double half_subnormal_of(Type type);

// The largest integer up to which the type holds every one.
std::int64_t whole_numbers(Type type);

// Memory with these words as elements. A word is the bits of a binary32 number that the type
// represents, or the poison of input.hpp, which becomes a signalling NaN of the type that no
// arithmetic produces.
std::vector<std::byte> encode(Type type, std::span<const std::uint32_t> words);
std::vector<std::byte> encode(Type type, std::span<const float> values);

// The inverse: decode(type, encode(type, words)) == words.
std::vector<std::uint32_t> decode(Type type, std::span<const std::byte> memory);

}  // namespace ladder
