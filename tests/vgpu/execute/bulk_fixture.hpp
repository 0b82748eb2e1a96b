// SPDX-License-Identifier: Apache-2.0
// What the tests of bulk copies and clusters share: tensor maps of plain matrices, kernels/bulk.cu loaded, every schedule.
#pragma once
#include <array>
#include <functional>

#include "engine/tensor/tensor_map.hpp"
#include "engine_fixture.hpp"

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

// Of a row-major matrix of words.
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

inline void expect_text(const vgpu::Fault& fault, std::initializer_list<std::string> parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(std::string(fault.what()).find(part), std::string::npos) << part << " is not in\n"
                                                                       << fault.what();
  }
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
  void for_each_schedule(const std::function<void()>& test) {
    std::vector<CopySchedule> all = {{CopySchedule::Kind::kEager, 0}, {CopySchedule::Kind::kLazy, 0}};
    for (std::uint64_t seed = 0; seed < 6; ++seed) all.push_back({CopySchedule::Kind::kRandom, seed});
    for (const CopySchedule& schedule : all) {
      SCOPED_TRACE("schedule " + std::to_string(static_cast<int>(schedule.kind)) + ", seed " +
                   std::to_string(schedule.seed));
      config.schedule = schedule;
      test();
    }
  }
  std::vector<std::uint32_t> load_box(const TensorMap& map, Coordinates at) {
    const std::uint32_t bytes = map.box_bytes();
    auto* const out = array<std::uint32_t>(bytes / 4);
    launch("load_box", {1, 1, 1}, {64, 1, 1}, out, encoded(map), static_cast<int>(map.rank), at,
           static_cast<int>(bytes));
    return {out, out + bytes / 4};
  }
};

}  // namespace bulk_test
