// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of bulk copies and clusters: tensor maps of plain matrices, kernels/bulk.cu
// loaded, every schedule.
#pragma once
#include <array>

#include "engine_fixture.hpp"
#include "machine/tensor/tensor_map.hpp"

namespace bulk_test {

using vgpu::CopySchedule;
using vgpu::FaultKind;
using vgpu::TensorFill;
using vgpu::TensorMap;
using vgpu::TensorSwizzle;
using vgpu::TensorType;

struct MapBytes {
  std::array<std::byte, TensorMap::kBytes> bytes;
};
struct Coordinates {
  int at[5];
};

inline MapBytes encoded(const TensorMap& map) {
  EXPECT_EQ(vgpu::broken_rule(map), "");
  MapBytes result;
  vgpu::encode(map, result.bytes);
  return result;
}

// Tensor map of a row-major matrix of 32-bit elements.
inline TensorMap matrix(const std::uint32_t* data, std::uint64_t rows, std::uint64_t cols,
                        std::uint32_t box_rows, std::uint32_t box_cols,
                        TensorSwizzle swizzle = TensorSwizzle::kNone) {
  TensorMap map;
  map.type = TensorType::kUint32;
  map.rank = 2;
  map.address = reinterpret_cast<std::uint64_t>(data);
  map.sizes = {cols, rows};
  map.strides = {4, (cols * 4 + 15) / 16 * 16};
  map.box = {box_cols, box_rows};
  map.steps = {1, 1};
  map.swizzle = swizzle;
  return map;
}

class Bulk : public EngineTest {
 protected:
  void SetUp() override {
    load("bulk", VGPU_TEST_PTX_90A);
    config.check_race = true;
    config.dynamic_shared_bytes = 65536;
  }
  static std::vector<std::uint32_t> numbers(std::size_t count) {
    std::vector<std::uint32_t> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(1 + i);
    return values;
  }
  std::vector<std::uint32_t> load_box(const TensorMap& map, Coordinates at,
                                      vgpu::LaunchReport* report = nullptr) {
    const std::uint32_t bytes = map.box_bytes();
    auto* const out = array<std::uint32_t>(bytes / 4);
    const auto launched = launch("load_box", {1}, {64}, out, encoded(map),
                                 static_cast<int>(map.rank), at, static_cast<int>(bytes));
    if (report != nullptr) *report = launched;
    return {out, out + bytes / 4};
  }
};

}  // namespace bulk_test
