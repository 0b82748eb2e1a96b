// SPDX-License-Identifier: Apache-2.0
// Bulk copies, tensor maps and clusters: what they do under every schedule, and that each misuse is found.
#include <array>
#include <functional>

#include "engine/tensor/tensor_map.hpp"
#include "engine_fixture.hpp"

namespace {

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

MapBytes encoded(const TensorMap& map) {
  EXPECT_EQ(vgpu::broken_rule(map), "");
  MapBytes result;
  vgpu::encode(map, result.bytes);
  return result;
}

// Of a row-major matrix of words.
TensorMap matrix(const std::uint32_t* data, std::uint64_t rows, std::uint64_t cols, std::uint32_t box_rows,
                 std::uint32_t box_cols, TensorSwizzle swizzle = TensorSwizzle::kNone) {
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

void expect_text(const vgpu::Fault& fault, std::initializer_list<std::string> parts) {
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

TEST_F(Bulk, LinesOfABoxInEverySwizzle) {
  const auto in = numbers(64 * 96);
  auto* const data = array(in);
  const struct {
    TensorSwizzle swizzle;
    std::uint32_t cols, chunks;
  } cases[] = {{TensorSwizzle::kNone, 64, 1},
               {TensorSwizzle::kNone, 8, 1},
               {TensorSwizzle::k32B, 8, 2},
               {TensorSwizzle::k64B, 16, 4},
               {TensorSwizzle::k128B, 32, 8}};
  for_each_schedule([&] {
    for (const auto& c : cases) {
      const auto got = load_box(matrix(data, 64, 96, 32, c.cols, c.swizzle), {{8, 16}});
      for (std::uint32_t y = 0; y < 32; ++y) {
        for (std::uint32_t x = 0; x < c.cols; ++x) {
          // A chunk of 16 bytes: its number in the span, exclusive or the number of the 128 bytes that it lies in.
          const std::uint32_t byte = (y * c.cols + x) * 4;
          const std::uint32_t moved = byte ^ (byte / 128 % c.chunks * 16);
          EXPECT_EQ(got[moved / 4], in[(16 + y) * 96 + 8 + x]) << c.chunks << " chunks, " << y << ", " << x;
        }
      }
    }
  });
}

TEST_F(Bulk, OutsideTheTensor) {
  const auto in = numbers(12 * 20);
  auto* const data = array(in);
  TensorMap map = matrix(data, 12, 20, 8, 16);
  const auto expected = [&](int x, int y) {
    return x < 0 || y < 0 || x >= 20 || y >= 12 ? 0 : in[static_cast<std::size_t>(y * 20 + x)];
  };
  for (const auto& [x, y] : {std::pair(-4, -2), {16, 7}, {-20, 0}, {4, 100}, {12, -7}}) {
    const auto got = load_box(map, {{x, y}});
    for (int j = 0; j < 8; ++j) {
      for (int i = 0; i < 16; ++i)
        EXPECT_EQ(got[static_cast<std::size_t>(j * 16 + i)], expected(x + i, y + j));
    }
  }
  map.type = TensorType::kFloat32;
  map.fill = TensorFill::kNan;
  const auto got = load_box(map, {{-4, 0}});
  EXPECT_EQ(got[0] & 0x7f800000, 0x7f800000u);
  EXPECT_NE(got[0] & 0x7fffff, 0u);
  EXPECT_EQ(got[4], in[0]);
}

TEST_F(Bulk, OneToFiveDimensions) {
  const std::uint64_t sizes[] = {8, 6, 5, 4, 3};
  const auto in = numbers(8 * 6 * 5 * 4 * 3);
  auto* const data = array(in);
  for (std::uint32_t rank = 1; rank <= 5; ++rank) {
    TensorMap map;
    map.type = TensorType::kInt32;
    map.rank = rank;
    map.address = reinterpret_cast<std::uint64_t>(data);
    std::uint64_t stride = 4;
    for (std::uint32_t d = 0; d < rank; ++d) {
      map.sizes[d] = sizes[d];
      map.strides[d] = stride;
      stride *= sizes[d];
      map.box[d] = d == 0 ? 4 : 2;
      map.steps[d] = 1;
    }
    const Coordinates at{{4, 1, 3, 0, 1}};
    const auto got = load_box(map, at);
    std::size_t next = 0;
    std::array<std::uint32_t, 5> i{};
    for (;;) {
      std::uint64_t element = 0, step = 1;
      for (std::uint32_t d = 0; d < rank; ++d) {
        element += (static_cast<std::uint64_t>(at.at[d]) + i[d]) * step;
        step *= sizes[d];
      }
      EXPECT_EQ(got[next++], in[element]) << rank;
      std::uint32_t d = 0;
      while (d < rank && ++i[d] == map.box[d]) i[d++] = 0;
      if (d == rank) break;
    }
    EXPECT_EQ(next, got.size());
  }
}

TEST_F(Bulk, FirstCoordinatesLieOnSixteenBytes) {
  const MapBytes map = encoded(matrix(array<std::uint32_t>(32 * 32), 32, 32, 8, 32));
  for (const int x : {-1, 2, 7}) {
    const vgpu::Fault fault = fault_of("load_box", {1, 1, 1}, {32, 1, 1}, array<std::uint32_t>(256), map, 2,
                                       Coordinates{{x, 0}}, 1024);
    EXPECT_EQ(fault.kind, FaultKind::kBadOperand);
    expect_text(fault, {"first coordinate of a copy by tensor map must be a multiple of 16 bytes"});
    EXPECT_EQ(fault_of("store_box", {1, 1, 1}, {32, 1, 1}, map, x, 0, 1024, 0).kind, FaultKind::kBadOperand);
  }
}

TEST_F(Bulk, Tf32IsRounded) {
  // Values and results of an H200.
  const std::vector<std::uint32_t> in = {0x3f801fff, 0x3f801000, 0x3f803000, 0x00000001,
                                         0x007fffff, 0x80000400, 0x7f801234, 0x7f7fffff};
  const std::vector<std::uint32_t> rounded = {0x3f802000, 0x3f800000, 0x3f804000, 0x00000000,
                                              0x00800000, 0x80000000, 0x7fffe000, 0x7f800000};
  TensorMap map = matrix(array(in), 1, 8, 1, 8);
  map.type = TensorType::kTfloat32;
  EXPECT_EQ(load_box(map, {{0, 0}}), rounded);
  map.type = TensorType::kFloat32;
  EXPECT_EQ(load_box(map, {{0, 0}}), in);
}

TEST_F(Bulk, StepsAlongADimension) {
  const auto in = numbers(64 * 8);
  TensorMap map = matrix(array(in), 64, 8, 7, 8);
  map.steps[1] = 3;  // rows 0, 3, 6
  const auto got = load_box(map, {{0, 5}});
  ASSERT_EQ(got.size(), 3u * 8);
  for (std::size_t j = 0; j < 3; ++j) {
    for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(got[j * 8 + i], in[(5 + 3 * j) * 8 + i]);
  }
}

TEST_F(Bulk, MapsInGlobalMemoryAndWhatIsNone) {
  const auto in = numbers(32 * 32);
  const MapBytes map = encoded(matrix(array(in), 32, 32, 8, 32));
  auto* const there = array(std::vector<MapBytes>{map});
  auto* const out = array<std::uint32_t>(256);
  const auto run = [&](const void* at) {
    launch("load_by_global_map", {1, 1, 1}, {32, 1, 1}, out, at, 0, 4, 1024);
  };
  run(there);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], in[4 * 32 + i]);
  there->bytes[40] ^= std::byte{1};
  const vgpu::Fault changed = fault_of("load_by_global_map", {1, 1, 1}, {32, 1, 1}, out, there, 0, 4, 1024);
  EXPECT_EQ(changed.kind, FaultKind::kBadOperand);
  expect_text(changed, {"no tensor map, or one that was changed", "prefetch.tensormap", "bulk.cu:"});
  const auto* const beside = reinterpret_cast<const std::byte*>(there) + 16;
  expect_text(fault_of("load_by_global_map", {1, 1, 1}, {32, 1, 1}, out, beside, 0, 4, 1024),
              {"multiple of 64 bytes"});
}

TEST_F(Bulk, CopiesOutsideAllocations) {
  auto* const data = array<std::uint32_t>(32 * 32);
  const MapBytes map = encoded(matrix(data, 33, 32, 8, 32));
  const vgpu::Fault beyond = fault_of("load_box", {1, 1, 1}, {32, 1, 1}, array<std::uint32_t>(256), map, 2,
                                      Coordinates{{0, 32}}, 1024);
  EXPECT_EQ(beyond.kind, FaultKind::kOutOfBounds);
  expect_text(beyond, {"read of 128 bytes from global memory", "past the end of the 4096-byte allocation",
                       "cp.async.bulk.tensor.2d"});
  memory.free(data);
  EXPECT_EQ(fault_of("store_box", {1, 1, 1}, {32, 1, 1}, map, 0, 0, 1024, 0).kind, FaultKind::kUseAfterFree);
}

TEST_F(Bulk, StoresDropWhatLiesOutside) {
  for_each_schedule([&] {
    auto* const data = array<std::uint32_t>(12 * 20, 7);
    launch("store_box", {1, 1, 1}, {64, 1, 1}, encoded(matrix(data, 12, 20, 8, 16)), 12, -3, 512, 0);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool inside = x >= 12 && y < 5;
        EXPECT_EQ(data[y * 20 + x], inside ? static_cast<std::uint32_t>((y + 3) * 16 + x - 12 + 1) : 7u)
            << y << ", " << x;
      }
    }
  });
}

TEST_F(Bulk, StoresCutLinesAtSixteenBytes) {
  auto* const data = array<std::uint32_t>(4 * 8, 7);
  launch("store_box", {1, 1, 1}, {32, 1, 1}, encoded(matrix(data, 4, 5, 4, 8)), 0, 0, 128, 0);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x) EXPECT_EQ(data[y * 8 + x], static_cast<std::uint32_t>(y * 8 + x + 1));
  }
}

TEST_F(Bulk, Linear) {
  const auto in = numbers(256);
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(256);
    auto* const sum = array<std::uint32_t>(256, 5);
    launch("linear", {1, 1, 1}, {32, 1, 1}, out, sum, array(in), 1024);
    for (std::size_t i = 0; i < 256; ++i) {
      EXPECT_EQ(out[i], in[i]);
      EXPECT_EQ(sum[i], in[i] + 5);
    }
  });
  const auto fault = [&](int bytes, std::size_t offset) {
    return fault_of("linear", {1, 1, 1}, {32, 1, 1}, array<std::uint32_t>(256), array<std::uint32_t>(256),
                    array(in) + offset, bytes);
  };
  expect_text(fault(1020, 0), {"size of a bulk copy must be a multiple of 16 bytes, not 1020"});
  EXPECT_EQ(fault(1008, 1).kind, FaultKind::kMisaligned);
}

TEST_F(Bulk, FlawsOfStores) {
  const auto fault = [&](int flaw) {
    return fault_of("store_box", {1, 1, 1}, {64, 1, 1},
                    encoded(matrix(array<std::uint32_t>(1024), 32, 32, 8, 32)), 0, 0, 1024, flaw);
  };
  for_each_schedule([&] {
    const vgpu::Fault fence = fault(1);
    EXPECT_EQ(fence.kind, FaultKind::kRace);
    expect_text(fence,
                {"no fence.proxy.async between", "the write is st.shared", "cp.async.bulk.tensor.2d.global"});
    const vgpu::Fault again = fault(2);
    EXPECT_EQ(again.kind, FaultKind::kRace);
    expect_text(again, {"a bulk store of warp 0 reads", "wait_group.read",
                        "the other access is cp.async.bulk.tensor", "at st.shared"});
    const vgpu::Fault ends = fault(3);
    EXPECT_EQ(ends.kind, FaultKind::kRace);
    expect_text(ends, {"the block ends while a bulk store may still read"});
  });
}

class Transpose : public Bulk {
 protected:
  static constexpr int kTiles = 7, kBlocks = 3;
  void SetUp() override {
    Bulk::SetUp();
    config.dynamic_shared_bytes = 0;
    in = numbers(32 * kBlocks * 32 * kTiles);
    from = array(in);
    to = array<std::uint32_t>(in.size());
  }
  MapBytes map_in() const {
    return encoded(matrix(from, 32 * kBlocks, 32 * kTiles, 32, 32, TensorSwizzle::k128B));
  }
  MapBytes map_out() const {
    return encoded(matrix(to, 32 * kTiles, 32 * kBlocks, 32, 32, TensorSwizzle::k128B));
  }
  vgpu::Fault fault(int flaw) {
    return fault_of("transpose", {kBlocks, 1, 1}, {160, 1, 1}, map_in(), map_out(), kTiles, flaw);
  }
  std::vector<std::uint32_t> in;
  std::uint32_t *from = nullptr, *to = nullptr;
};

TEST_F(Transpose, IsRightAndSilent) {
  for_each_schedule([&] {
    std::fill(to, to + in.size(), 0u);
    const vgpu::LaunchReport report =
        launch("transpose", {kBlocks, 1, 1}, {160, 1, 1}, map_in(), map_out(), kTiles, 0);
    for (std::size_t y = 0; y < 32 * kBlocks; ++y) {
      for (std::size_t x = 0; x < 32 * kTiles; ++x)
        ASSERT_EQ(to[x * 32 * kBlocks + y], in[y * 32 * kTiles + x]);
    }
    EXPECT_EQ(report.exact.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"), in.size() * 4);
    EXPECT_EQ(report.exact.at("vgpu__bulk_bytes_loaded.sum"), in.size() * 4);
    EXPECT_EQ(report.exact.at("vgpu__bulk_bytes_stored.sum"), in.size() * 4);
  });
}

TEST_F(Transpose, FlawsAreFound) {
  for_each_schedule([&] {
    const vgpu::Fault early = fault(1);
    EXPECT_EQ(early.kind, FaultKind::kRace) << early.what();
    expect_text(early, {"a bulk copy writes and warp", "nothing has waited for the mbarrier", "bulk.cu:"});
    const vgpu::Fault over = fault(2);
    EXPECT_TRUE(over.kind == FaultKind::kMbarrier || over.kind == FaultKind::kRace) << over.what();
    const vgpu::Fault fence = fault(3);
    EXPECT_EQ(fence.kind, FaultKind::kRace) << fence.what();
    expect_text(fence, {"no fence.proxy.async between"});
    const vgpu::Fault unread = fault(4);
    EXPECT_EQ(unread.kind, FaultKind::kRace) << unread.what();
    const vgpu::Fault bytes = fault(5);
    EXPECT_EQ(bytes.kind, FaultKind::kDeadlock) << bytes.what();
    expect_text(bytes, {"wait for the mbarrier at shared address", "lacks 0 of 1 arrivals and 16 bytes"});
    const vgpu::Fault arrivals = fault(6);
    EXPECT_TRUE(arrivals.kind == FaultKind::kMbarrier || arrivals.kind == FaultKind::kRace)
        << arrivals.what();
  });
}

class Clusters : public Bulk {
 protected:
  void SetUp() override {
    Bulk::SetUp();
    config.dynamic_shared_bytes = 0;
  }
};

TEST_F(Clusters, Places) {
  config.cluster = {2, 2, 1};
  int* const out = array<int>(8 * 14);
  launch("places", {4, 2, 1}, {1, 1, 1}, out);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 4; ++x) {
      const int rank = y % 2 * 2 + x % 2;
      const int expected[14] = {x / 2, y / 2, 2, 1, x % 2, y % 2, 2, 2, rank, 4, 3, rank, 1, x + 100 * y};
      for (int i = 0; i < 14; ++i)
        EXPECT_EQ(out[(y * 4 + x) * 14 + i], expected[i]) << x << ", " << y << ": " << i;
    }
  }
  EXPECT_EQ(vgpu::attributes(*module->find_kernel("places")).cluster, (vgpu::Dim3{2, 2, 1}));
  config.cluster = {3, 1, 1};
  EXPECT_THROW(launch("places", {4, 2, 1}, {1, 1, 1}, out), std::invalid_argument);
}

TEST_F(Clusters, Sums) {
  constexpr int kCount = 1000, kGroups = 3;
  std::vector<int> in(kCount * kGroups);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1009);
  for (const unsigned size : {1u, 2u, 4u, 16u}) {
    config.cluster = {size, 1, 1};
    for (int how = 0; how < 4; ++how) {
      int* const out = array<int>(kGroups);
      launch("cluster_sum", {size * kGroups, 1, 1}, {96, 1, 1}, out, array(in), kCount, how, 0);
      for (int g = 0; g < kGroups; ++g) {
        int sum = 0;
        for (int i = 0; i < kCount; ++i) sum += in[static_cast<std::size_t>(g * kCount + i)];
        EXPECT_EQ(out[g], sum) << size << " blocks, way " << how;
      }
    }
  }
}

TEST_F(Clusters, FlawsOfSums) {
  config.cluster = {4, 1, 1};
  const auto fault = [&](int how, int flaw) {
    return fault_of("cluster_sum", {4, 1, 1}, {96, 1, 1}, array<int>(1), array<int>(1000), 1000, how, flaw);
  };
  const vgpu::Fault leaves = fault(0, 1);
  EXPECT_TRUE(leaves.kind == FaultKind::kClusterExit || leaves.kind == FaultKind::kRace) << leaves.what();
  const vgpu::Fault waits = fault(0, 2);
  EXPECT_EQ(waits.kind, FaultKind::kRace) << waits.what();
  expect_text(waits, {"of the cluster's rank", "bulk.cu:"});
}

TEST_F(Clusters, Multicast) {
  constexpr int kRounds = 5;
  const auto in = numbers(32 * kRounds * 32);
  config.cluster = {2, 1, 1};
  const MapBytes map = encoded(matrix(array(in), 32 * kRounds, 32, 16, 32));
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(4 * 64);
    const vgpu::LaunchReport report = launch("multicast", {4, 1, 1}, {64, 1, 1}, out, map, kRounds, 0);
    for (std::uint32_t t = 0; t < 64; ++t) {
      std::uint32_t sum = 0;
      for (std::uint32_t i = 0; i < kRounds; ++i) {
        for (std::uint32_t k = t; k < 1024; k += 64) sum += in[i * 1024 + k] * (k + 1);
      }
      for (std::uint32_t block = 0; block < 4; ++block) EXPECT_EQ(out[block * 64 + t], sum);
    }
    EXPECT_EQ(report.exact.at("vgpu__bulk_multicasts.sum"), 4u * kRounds);
    EXPECT_EQ(report.exact.at("vgpu__bulk_deliveries.sum"), 8u * kRounds);
    EXPECT_EQ(report.exact.at("vgpu__bulk_bytes_loaded.sum"), 4u * kRounds * 4096);
    EXPECT_EQ(report.exact.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"),
              4u * kRounds * 2048);
    const vgpu::Fault early =
        fault_of("multicast", {2, 1, 1}, {64, 1, 1}, array<std::uint32_t>(128), map, kRounds, 1);
    EXPECT_TRUE(early.kind == FaultKind::kRace || early.kind == FaultKind::kMbarrier) << early.what();
  });
}

TEST_F(Clusters, Send) {
  config.cluster = {2, 1, 1};
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(128);
    launch("send", {2, 1, 1}, {64, 1, 1}, out);
    for (std::uint32_t t = 0; t < 64; ++t) {
      EXPECT_EQ(out[t], 1000 + t);
      EXPECT_EQ(out[64 + t], t);
    }
  });
}

TEST_F(Clusters, WhatNeverEnds) {
  config.cluster = {2, 1, 1};
  const vgpu::Fault waits = fault_of("never", {2, 1, 1}, {32, 1, 1}, 0);
  EXPECT_EQ(waits.kind, FaultKind::kDeadlock);
  expect_text(waits, {"rank 0 of the cluster", "wait for the mbarrier",
                      "wait at the cluster's barrier, which lacks 32"});
  expect_text(fault_of("never", {2, 1, 1}, {32, 1, 1}, 1), {"arrives at the cluster's barrier again"});
  expect_text(fault_of("never", {2, 1, 1}, {32, 1, 1}, 2), {"without having arrived"});
}

TEST(TensorMaps, Rules) {
  alignas(64) static std::uint32_t data[64];
  const auto broken = [&](const std::function<void(TensorMap&)>& change) {
    TensorMap map = matrix(data, 8, 8, 8, 8);
    change(map);
    return vgpu::broken_rule(map);
  };
  EXPECT_EQ(broken([](TensorMap&) {}), "");
  const struct {
    std::function<void(TensorMap&)> change;
    const char* rule;
  } cases[] = {
      {[](TensorMap& m) { m.rank = 0; }, "tensorRank must be 1 to 5, not 0"},
      {[](TensorMap& m) { m.rank = 6; }, "tensorRank must be 1 to 5, not 6"},
      {[](TensorMap& m) { m.address += 8; }, "globalAddress must be a multiple of 16 bytes"},
      {[](TensorMap& m) { m.sizes[1] = 0; }, "globalDim[1] must be 1 to 2^32, not 0"},
      {[](TensorMap& m) { m.sizes[0] = (1ULL << 32) + 1; }, "globalDim[0] must be 1 to 2^32"},
      {[](TensorMap& m) { m.strides[1] = 40; }, "globalStrides[0] must be a multiple of 16 bytes, not 40"},
      {[](TensorMap& m) { m.strides[1] = 1ULL << 40; }, "globalStrides[0] must be less than 2^40"},
      {[](TensorMap& m) { m.box[1] = 0; }, "boxDim[1] must be 1 to 256, not 0"},
      {[](TensorMap& m) { m.box[0] = 257; }, "boxDim[0] must be 1 to 256, not 257"},
      {[](TensorMap& m) { m.box[0] = 6; },
       "boxDim[0] must be a multiple of 16 bytes without interleave, not 24"},
      {[](TensorMap& m) { m.steps[1] = 9; }, "elementStrides[1] must be 1 to 8, not 9"},
      {[](TensorMap& m) { m.steps[0] = 0; }, "elementStrides[0] must be 1 to 8, not 0"},
      {[](TensorMap& m) { m.box[0] = 16, m.swizzle = TensorSwizzle::k32B; },
       "boxDim[0] must be at most the swizzle's 32 bytes, not 64"},
      {[](TensorMap& m) { m.fill = TensorFill::kNan; }, "oobFill NaN needs a floating-point tensorDataType"},
      {[](TensorMap& m) { m.interleave = vgpu::TensorInterleave::k16B; },
       "tensorRank must be at least 3 with interleave"},
      {[](TensorMap& m) { m.type = static_cast<TensorType>(16); },
       "tensorDataType is no CUtensorMapDataType"},
      {[](TensorMap& m) { m.swizzle = static_cast<TensorSwizzle>(7); }, "swizzle is no CUtensorMapSwizzle"},
  };
  for (const auto& c : cases) {
    const std::string found = broken(c.change);
    EXPECT_EQ(found.substr(0, std::string(c.rule).size()), c.rule);
  }
}

TEST(TensorMaps, ComeBackAsTheyWere) {
  alignas(64) static std::uint32_t data[64];
  TensorMap map = matrix(data, (1ULL << 32), 64, 256, 32, TensorSwizzle::k128B);
  map.strides[1] = (1ULL << 40) - 16;
  map.steps[1] = 8;
  const MapBytes bytes = encoded(map);
  const auto back = vgpu::decode(bytes.bytes);
  ASSERT_TRUE(back);
  EXPECT_EQ(back->sizes, map.sizes);
  EXPECT_EQ(back->strides, map.strides);
  EXPECT_EQ(back->box, map.box);
  EXPECT_EQ(back->steps, map.steps);
  EXPECT_EQ(back->swizzle, map.swizzle);
  for (std::size_t i = 0; i < 96; ++i) {
    MapBytes other = bytes;
    other.bytes[i] ^= std::byte{16};
    EXPECT_FALSE(vgpu::decode(other.bytes)) << i;
  }
}

}  // namespace
