// SPDX-License-Identifier: Apache-2.0
// Video instructions: arithmetic on words, or on their halves or bytes, with saturation and a
// second operation. PTX ISA, "Scalar Video Instructions" and "SIMD Video Instructions".
#pragma once
#include "ir/program.hpp"

namespace vgpu::ir {

enum class VideoKind : u8 { kAdd, kSub, kAbsDiff, kMin, kMax, kAverage, kShl, kShr, kMad, kSet };
enum class VideoSecond : u8 { kNothing, kAdd, kMin, kMax, kMerge };  // with c
enum class VideoTest : u8 { kEq, kNe, kLt, kLe, kGt, kGe };
enum VideoFlag : u16 {
  kVideoSignedD = 1,
  kVideoSignedA = 2,
  kVideoSignedB = 4,
  kVideoSaturates = 8,
  kVideoWraps = 16,    // shifts by the lower five bits
  kVideoNegated = 32,  // the product
  kVideoNegatedC = 64,
  kVideoPlusOne = 128,
};

struct Video {
  VideoKind kind = VideoKind::kAdd;
  VideoSecond second = VideoSecond::kNothing;
  VideoTest test = VideoTest::kEq;
  u8 parts = 1;                                 // of a word: 1, 2 or 4
  u8 scale = 0;                                 // bits by which a product is shifted
  u8 select_d = 0, select_a = 0, select_b = 0;  // 0: the word, 1 to 4: a byte, 5 or 6: a half
  u16 flags = 0;

  bool has(VideoFlag flag) const { return (flags & flag) != 0; }
  // Insn::imm of the operation "video".
  i64 packed() const {
    return static_cast<i64>(static_cast<u64>(kind) | static_cast<u64>(second) << 4 |
                            static_cast<u64>(test) << 8 | u64{parts} << 12 | u64{scale} << 16 |
                            u64{select_d} << 20 | u64{select_a} << 24 | u64{select_b} << 28 |
                            u64{flags} << 32);
  }
  static Video from(i64 packed) {
    const auto field = [&](u32 at) { return static_cast<u8>(packed >> at & 15); };
    return {static_cast<VideoKind>(field(0)),
            static_cast<VideoSecond>(field(4)),
            static_cast<VideoTest>(field(8)),
            field(12),
            field(16),
            field(20),
            field(24),
            field(28),
            static_cast<u16>(packed >> 32)};
  }
};

}  // namespace vgpu::ir
