// SPDX-License-Identifier: Apache-2.0
// The element-wise reduction of cp.reduce.async.bulk. PTX ISA, "cp.reduce.async.bulk".
#pragma once
#include "machine/bulk.hpp"
#include "machine/tensor/tensor_map.hpp"

namespace vgpu::machine {

class Reducer {
 public:
  Reducer(BulkReduction what, TensorType type) : what_(what), type_(type) {}
  // `atomic`: other host threads may update the same destination concurrently.
  void apply(std::byte* to, const std::byte* from, u32 bytes, bool atomic) const;

 private:
  BulkReduction what_;
  TensorType type_;
};

}  // namespace vgpu::machine
