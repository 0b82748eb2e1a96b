// SPDX-License-Identifier: Apache-2.0
// Problems that nobody chose: a measure of kernels to which they cannot be tuned.
#pragma once
#include <ladder/problem.hpp>

#include <cstdint>
#include <string_view>
#include <vector>

namespace ladder {

// The distribution, which docs/measurement.md states. Sizes are log-uniform, then rounded to the
// nearest multiple of an alignment that is drawn per problem; a size below its least is the least.
namespace random_suite {
constexpr std::int64_t kLeastMn = 1, kLeastK = 8, kMost = 16384;
constexpr std::int64_t kAlignments[] = {1, 4, 32, 128};  // elements
// Maximum size of A, B and C together in FP32. It also bounds the operations, by
// 2 (bytes / 12)^1.5 = 1.7e12.
constexpr std::int64_t kMostBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMostProblems = 4096;

constexpr std::string_view kForm = "random:SEED:N";
constexpr std::string_view kWhat =
    "N problems drawn with SEED: sizes log-uniform up to 16384, alignments and transpositions "
    "mixed";
}  // namespace random_suite

// True if a suite's name is that of random problems, in the right form or not.
bool is_random_suite(std::string_view name);

// Draws the problems of random:SEED:N: FP32, row-major, alpha = 1, beta = 0, no problem twice, in
// ascending order of their operations. The same text gives the same problems on every platform, and
// a larger N adds problems. Errors (kInvalidArgument): the message
// quotes the text and the rule.
Result<std::vector<Problem>> find_random_suite(std::string_view name);

}  // namespace ladder
