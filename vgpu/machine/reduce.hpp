// SPDX-License-Identifier: Apache-2.0
// The element-wise reductions of cp.reduce.async.bulk, red.async and sured. PTX ISA,
// "cp.reduce.async.bulk".
#pragma once
#include <cstddef>

#include "ir/reduction.hpp"
#include "ir/tensor_type.hpp"
#include "machine/machine.hpp"

namespace vgpu::machine {

class Reducer {
 public:
  Reducer(Reduction what, TensorType type) : what_(what), type_(type) {}
  // `atomic`: other host threads may update the same destination concurrently.
  void apply(std::byte* to, const std::byte* from, u32 bytes, bool atomic) const;

 private:
  Reduction what_;
  TensorType type_;
};

}  // namespace vgpu::machine
