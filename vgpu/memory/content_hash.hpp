// SPDX-License-Identifier: Apache-2.0
// A hash of memory's contents, at about the speed at which memory is read. Different contents have
// equal hashes with a probability of about 2^-64; it does not resist an adversary.
#pragma once
#include <cstddef>
#include <cstdint>

namespace vgpu {

std::uint64_t content_hash(const void* data, std::size_t bytes, std::uint64_t seed = 0);

}  // namespace vgpu
