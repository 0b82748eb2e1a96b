// SPDX-License-Identifier: Apache-2.0
// The element-wise reduction of cp.reduce.async.bulk. PTX ISA, "cp.reduce.async.bulk".
#pragma once
#include "engine/execute/bulk.hpp"
#include "engine/tensor/tensor_map.hpp"

namespace vgpu::execute {

class Reducer {
 public:
  Reducer(BulkReduction what, TensorType type) : what_(what), type_(type) {}
  // Whether PTX allows this reduction for elements of this type.
  static bool takes(BulkReduction what, TensorType type);
  // `atomic`: other host threads may update the same destination concurrently.
  void apply(std::byte* to, const std::byte* from, u32 bytes, bool atomic) const;

 private:
  BulkReduction what_;
  TensorType type_;
};

}  // namespace vgpu::execute
