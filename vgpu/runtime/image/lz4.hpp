// SPDX-License-Identifier: Apache-2.0
// Decompresses the LZ4 block format, which `nvcc --compress-mode=speed` uses.
#pragma once
#include <cstddef>
#include <span>
#include <string>

namespace vgpu::image {

// Throws Damaged unless the block decompresses to exactly `plain_bytes` bytes.
std::string lz4_decompress(std::span<const std::byte> block, std::size_t plain_bytes);

}  // namespace vgpu::image
