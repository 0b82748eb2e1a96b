// SPDX-License-Identifier: Apache-2.0
// The types of a tensor map's elements.
#pragma once
#include <cstdint>

namespace vgpu {

// With the driver API's values.
enum class TensorType : std::uint32_t {
  kUint8,
  kUint16,
  kUint32,
  kInt32,
  kUint64,
  kInt64,
  kFloat16,
  kFloat32,
  kFloat64,
  kBfloat16,
  kFloat32Ftz,
  kTfloat32,
  kTfloat32Ftz,
  k16U4Align8,
  k16U4Align16,
  k16U6Align16,
};
constexpr bool is_floating(TensorType type) {
  switch (type) {
    case TensorType::kFloat16:
    case TensorType::kFloat32:
    case TensorType::kFloat64:
    case TensorType::kBfloat16:
    case TensorType::kFloat32Ftz:
    case TensorType::kTfloat32:
    case TensorType::kTfloat32Ftz: return true;
    default: return false;
  }
}

}  // namespace vgpu
