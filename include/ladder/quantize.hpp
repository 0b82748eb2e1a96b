// SPDX-License-Identifier: Apache-2.0
// Matrices of 8-bit elements and scales, the operands of Precision::kFp8, made on the device.
#pragma once
#include <ladder/kernel.hpp>

#include <cstdint>

namespace ladder {

// Which elements of a row-major matrix share a scale. A's are of kRowBlock; those of a B that is
// stored by columns, as NT has it, of kSquare.
enum class Grain : std::uint8_t {
  kTensor,    // all
  kRowBlock,  // kScaleBlock of a row
  kSquare,    // kScaleBlock of kScaleBlock rows
};

// A row-major matrix of binary32 on the device.
struct Plain {
  const float* x = nullptr;
  std::int64_t rows = 0, cols = 0, ld = 0;
};

// Its 8-bit form: `cols` elements of a row, rows `ld` bytes apart, and the scales in the order of
// extent_scales_a() and extent_scales_b(): [cols / 128][rows] of kRowBlock, and [rows / 128] times
// [cols / 128, rounded up to a multiple of four] of kSquare.
struct Quantized {
  void* x = nullptr;
  std::int64_t ld = 0;
  float* scales = nullptr;
};

// Enqueues x = q scale with q of `type`, rounded to nearest: scale is the largest magnitude over
// the largest number of the type, or 1 where all elements are 0. NaN stays NaN. Where an element is
// infinite, those that share its scale become zeros and NaN. Errors: kInvalidArgument (`type` is
// no 8-bit type, a negative size, a leading dimension below the columns), kLaunchFailed.
Status quantize(const Plain& from, Type type, Grain grain, const Quantized& to, Stream stream);

}  // namespace ladder
