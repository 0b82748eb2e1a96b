// SPDX-License-Identifier: Apache-2.0
#include "runtime/image/image.hpp"

namespace vgpu::image {
namespace {

// A block is a series of sequences. A sequence consists of a token (4 bits of literal length, 4
// bits of match length), the literals and a 16-bit distance back. If a length is 15, more bytes
// follow that are added to it, and each byte of 255 is followed by another one.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> block) : rest_(block) {}
  bool empty() const { return rest_.empty(); }

  std::size_t byte() {
    if (rest_.empty()) throw Damaged("LZ4: block ends inside a sequence");
    const auto value = std::to_integer<std::size_t>(rest_.front());
    rest_ = rest_.subspan(1);
    return value;
  }

  std::size_t length(std::size_t nibble) {
    std::size_t total = nibble;
    if (nibble == 15) {
      for (std::size_t more = 255; more == 255; total += more) more = byte();
    }
    return total;
  }

  std::span<const std::byte> take(std::size_t n) {
    if (n > rest_.size()) throw Damaged("LZ4: literals run past the block's end");
    const auto taken = rest_.first(n);
    rest_ = rest_.subspan(n);
    return taken;
  }

 private:
  std::span<const std::byte> rest_;
};

constexpr std::size_t kShortestMatch = 4;
constexpr std::size_t kBestRatio = 255;  // the format cannot compress better

}  // namespace

std::string lz4_decompress(std::span<const std::byte> block, std::size_t plain_bytes) {
  if (plain_bytes / kBestRatio > block.size())
    throw Damaged("LZ4: block too short for the size it claims");
  std::string plain;
  plain.reserve(plain_bytes);
  Reader in(block);
  while (!in.empty()) {
    const std::size_t token = in.byte();
    const auto literals = in.take(in.length(token >> 4));
    if (literals.size() > plain_bytes - plain.size())
      throw Damaged("LZ4: more bytes than promised");
    plain.append(reinterpret_cast<const char*>(literals.data()), literals.size());
    if (in.empty()) break;  // the last sequence has literals only

    const std::size_t low = in.byte();
    const std::size_t distance = low | in.byte() << 8;
    const std::size_t match = in.length(token & 15) + kShortestMatch;
    if (distance == 0 || distance > plain.size()) throw Damaged("LZ4: match before the beginning");
    if (match > plain_bytes - plain.size()) throw Damaged("LZ4: more bytes than promised");
    // Copied byte by byte, because a match may overlap its own output.
    for (std::size_t i = 0; i < match; ++i) plain.push_back(plain[plain.size() - distance]);
  }
  if (plain.size() != plain_bytes) throw Damaged("LZ4: fewer bytes than promised");
  return plain;
}

}  // namespace vgpu::image
