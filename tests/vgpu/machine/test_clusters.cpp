// SPDX-License-Identifier: Apache-2.0
// Clusters: special registers, distributed shared memory, barriers, multicast, under every
// schedule; and rules of tensor maps.
#include "bulk_fixture.hpp"

namespace bulk_test {
namespace {

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
  launch("places", {4, 2, 1}, {1}, out);
  for (int y = 0; y < 2; ++y) {
    for (int x = 0; x < 4; ++x) {
      const int rank = y % 2 * 2 + x % 2;
      const int expected[14] = {x / 2, y / 2, 2, 1, x % 2, y % 2, 2,
                                2,     rank,  4, 3, rank,  1,     x + 100 * y};
      for (int i = 0; i < 14; ++i)
        EXPECT_EQ(out[(y * 4 + x) * 14 + i], expected[i]) << x << ", " << y << ": " << i;
    }
  }
  EXPECT_EQ(vgpu::attributes(*module->find_kernel("places")).cluster, (vgpu::Dim3{2, 2, 1}));
  config.cluster = {3};
  EXPECT_THROW(launch("places", {4, 2, 1}, {1}, out), std::invalid_argument);
}

TEST_F(Clusters, Sums) {
  constexpr int kCount = 1000, kGroups = 3;
  std::vector<int> in(kCount * kGroups);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1009);
  for (const unsigned size : {1u, 2u, 4u, 16u}) {
    config.cluster = {size};
    for (int how = 0; how < 4; ++how) {
      int* const out = array<int>(kGroups);
      launch("cluster_sum", {size * kGroups}, {96}, out, array(in), kCount, how, 0);
      for (int g = 0; g < kGroups; ++g) {
        int sum = 0;
        for (int i = 0; i < kCount; ++i) sum += in[static_cast<std::size_t>(g * kCount + i)];
        EXPECT_EQ(out[g], sum) << size << " blocks, way " << how;
      }
    }
  }
}

TEST_F(Clusters, FlawsOfSums) {
  config.cluster = {4};
  const auto fault = [&](int how, int flaw) {
    return fault_of("cluster_sum", {4}, {96}, array<int>(1), array<int>(1000), 1000, how, flaw);
  };
  const vgpu::Fault leaves = fault(0, 1);
  EXPECT_TRUE(leaves.kind == FaultKind::kClusterExit || leaves.kind == FaultKind::kRace)
      << leaves.what();
  config.check_race = false;
  EXPECT_EQ(fault(0, 1).kind, FaultKind::kClusterExit);
  config.check_sync = false;  // hardware may still have that memory
  launch("cluster_sum", {4}, {96}, array<int>(1), array<int>(1000), 1000, 0, 1);
  config.check_race = config.check_sync = true;
  expect_fault(fault(0, 2), FaultKind::kRace, {"of the cluster's rank", "bulk.cu:"});
}

TEST_F(Clusters, Multicast) {
  constexpr int kRounds = 5;
  const auto in = numbers(32 * kRounds * 32);
  config.cluster = {2};
  const MapBytes map = encoded(matrix(array(in), 32 * kRounds, 32, 16, 32));
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(4 * 64);
    const vgpu::LaunchReport report = launch("multicast", {4}, {64}, out, map, kRounds, 0);
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
    // each of two blocks gets the bytes
    EXPECT_EQ(report.exact.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"),
              8u * kRounds * 2048);
    EXPECT_EQ(
        report.exact.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum"),
        8u * kRounds * 2048);
    const vgpu::Fault early =
        fault_of("multicast", {2}, {64}, array<std::uint32_t>(128), map, kRounds, 1);
    EXPECT_TRUE(early.kind == FaultKind::kRace || early.kind == FaultKind::kMbarrier)
        << early.what();
  });
}

TEST_F(Clusters, Send) {
  config.cluster = {2};
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(128);
    launch("send", {2}, {64}, out);
    for (std::uint32_t t = 0; t < 64; ++t) {
      EXPECT_EQ(out[t], 1000 + t);
      EXPECT_EQ(out[64 + t], t);
    }
  });
}

TEST_F(Clusters, SendWords) {
  config.cluster = {2};
  for_each_schedule([&] {
    for (const int how : {0, 1, 2}) {
      auto* const out = array<std::uint32_t>(512);
      launch("send_words", {2}, {64}, out, how, 0);
      for (std::uint32_t i = 0; i < (how == 2 ? 64 : 256); ++i) {
        EXPECT_EQ(out[i], 1000 + i) << how;
        EXPECT_EQ(out[256 + i], i) << how;
      }
    }
  });
  const auto fault = [&](int flaw) {
    return fault_of("send_words", {2}, {64}, array<std::uint32_t>(512), 0, flaw);
  };
  expect_text(fault(1), {"completes on an mbarrier of another block", "bulk.cu:"});
  EXPECT_EQ(fault(2).kind, FaultKind::kMisaligned);
  EXPECT_EQ(fault(3).kind, FaultKind::kRace);
  config.in_clusters = false;
  expect_fault(fault(0), FaultKind::kIllegal, {"without a cluster dimension"});
  expect_fault(fault_of("send", {2}, {64}, array<std::uint32_t>(128)), FaultKind::kIllegal,
               {"without a cluster dimension"});
  expect_fault(fault_of("reduce_words", {2}, {64}, array<std::uint64_t>(24), 0),
               FaultKind::kIllegal, {"without a cluster dimension"});
}

TEST_F(Clusters, ReduceWords) {
  config.cluster = {2};
  std::uint32_t odd = 0xabc;
  for (std::uint32_t t = 0; t < 64; ++t) odd ^= 3 * t;
  const std::uint64_t expected[] = {4,
                                    6,
                                    20,
                                    83,
                                    0xffffffd8,
                                    0xffffffe5,
                                    2017,
                                    static_cast<std::uint32_t>(1 - 2016),
                                    (std::uint64_t{2016} << 33) + 1,
                                    0xffff0000,
                                    0x10ffff,
                                    odd};
  for_each_schedule([&] {
    for (const bool race : {false, true}) {
      config.check_race = race;
      auto* const out = array<std::uint64_t>(24);
      launch("reduce_words", {2}, {64}, out, 0);
      for (int i = 0; i < 24; ++i) EXPECT_EQ(out[i], expected[i % 12]) << i;
    }
  });
  expect_fault(fault_of("reduce_words", {2}, {64}, array<std::uint64_t>(24), 1), FaultKind::kRace);
}

TEST_F(Clusters, RelaxedArrival) {
  config.cluster = {2};
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(128);
    launch("relaxed", {2}, {64}, out, 0);
    for (std::uint32_t i = 0; i < 128; ++i) EXPECT_EQ(out[i], i % 64);
  });
  // Machine code has no instruction for fence.mbarrier_init, whose lack are flaws 1 and 2.
  for (int flaw = from_machine_code() ? 3 : 1; flaw <= 3; ++flaw) {
    expect_fault(fault_of("relaxed", {2}, {64}, array<std::uint32_t>(128), flaw), FaultKind::kRace,
                 {flaw == 3 ? "bulk.cu:" : "mbarrier.init", "bulk.cu:"});
  }
}

TEST_F(Clusters, WhatNeverEnds) {
  config.cluster = {2};
  expect_fault(fault_of("never", {2}, {32}, 0), FaultKind::kDeadlock,
               {"rank 0 of the cluster", "wait for the mbarrier",
                "wait at the cluster's barrier, which lacks 32"});
  expect_text(fault_of("never", {2}, {32}, 1), {"arrives at the cluster's barrier again"});
  expect_text(fault_of("never", {2}, {32}, 2), {"without having arrived"});
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
      {[](TensorMap& m) { m.strides[1] = 40; },
       "globalStrides[0] must be a multiple of 16 bytes, not 40"},
      {[](TensorMap& m) { m.strides[1] = 1ULL << 40; }, "globalStrides[0] must be less than 2^40"},
      {[](TensorMap& m) { m.box[1] = 0; }, "boxDim[1] must be 1 to 256, not 0"},
      {[](TensorMap& m) { m.box[0] = 257; }, "boxDim[0] must be 1 to 256, not 257"},
      {[](TensorMap& m) { m.box[0] = 6; },
       "boxDim[0] must be a multiple of 16 bytes without interleave, not 24"},
      {[](TensorMap& m) { m.steps[1] = 9; }, "elementStrides[1] must be 1 to 8, not 9"},
      {[](TensorMap& m) { m.steps[0] = 0; }, "elementStrides[0] must be 1 to 8, not 0"},
      {[](TensorMap& m) { m.box[0] = 16, m.swizzle = TensorSwizzle::k32B; },
       "boxDim[0] must be at most the swizzle's 32 bytes, not 64"},
      {[](TensorMap& m) { m.fill = TensorFill::kNan; },
       "oobFill NaN needs a floating-point tensorDataType"},
      {[](TensorMap& m) { m.interleave = vgpu::TensorInterleave::k16B; },
       "tensorRank must be at least 3 with interleave"},
      {[](TensorMap& m) { m.type = static_cast<TensorType>(16); },
       "tensorDataType is no CUtensorMapDataType"},
      {[](TensorMap& m) { m.swizzle = static_cast<TensorSwizzle>(7); },
       "swizzle is no CUtensorMapSwizzle"},
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
}  // namespace bulk_test
