// SPDX-License-Identifier: Apache-2.0
// What cp.reduce.async.bulk does to each element of its destination. PTX ISA,
// "cp.reduce.async.bulk".
#pragma once
#include "engine/execute/bulk.hpp"
#include "engine/tensor/tensor_map.hpp"

namespace vgpu::execute {

class Reducer {
 public:
  Reducer(BulkReduction what, TensorType type) : what_(what), type_(type) {}
  // Whether elements of the type may be reduced so.
  static bool takes(BulkReduction what, TensorType type);
  // `atomic`: other host threads may do the same.
  void apply(std::byte* to, const std::byte* from, u32 bytes, bool atomic) const;

 private:
  BulkReduction what_;
  TensorType type_;
};

}  // namespace vgpu::execute
