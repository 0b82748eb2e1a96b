// SPDX-License-Identifier: Apache-2.0
// The LZ4 block format, which `nvcc --compress-mode=speed` uses: small enough to need no library.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace vgpu::image {

// Throws Damaged unless the block decompresses to exactly `plain_bytes` bytes.
std::string lz4_decompress(std::span<const std::byte> block, std::size_t plain_bytes);

}  // namespace vgpu::image
