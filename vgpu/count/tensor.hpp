// SPDX-License-Identifier: Apache-2.0
// The work of one warp's execution of a matrix product on the tensor cores, by the path that Nsight
// Compute's sm__ops_path_tensor_* distinguish.
#pragma once
#include <cstdint>

#include "ir/program.hpp"

namespace vgpu::count {

enum class TensorPath : std::uint8_t {
  kNone,
  kHgmmaBf16,
  kHgmmaFp16,
  kHgmmaTf32,
  kIgmmaInt8,
  kFp8,
  kHmmaBf16,
  kHmmaFp16,
  kHmmaTf32,
  kImmaInt8,
  kBmmaInt1,
  kFp64,
};

struct TensorWork {
  TensorPath path = TensorPath::kNone;
  std::uint32_t operations = 0;    // a product and a sum are two
  std::uint32_t shared_bytes = 0;  // of operands that the tensor cores read from shared memory
  bool registers = false;          // wgmma with A in registers
};

TensorWork tensor_work(const ir::Insn& insn);

}  // namespace vgpu::count
