// SPDX-License-Identifier: Apache-2.0
// Bulk copies with and without a tensor map: their effects under every schedule, and a report of
// each misuse.
#include "bulk_fixture.hpp"

#include <algorithm>
#include <map>

#include "ir/bulk.hpp"
#include "machine/reduce.hpp"

namespace bulk_test {
namespace {

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
          // The number of a 16-byte chunk within the span, XOR the number of its 128 bytes.
          const std::uint32_t byte = (y * c.cols + x) * 4;
          const std::uint32_t moved = byte ^ (byte / 128 % c.chunks * 16);
          EXPECT_EQ(got[moved / 4], in[(16 + y) * 96 + 8 + x])
              << c.chunks << " chunks, " << y << ", " << x;
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
  EXPECT_EQ(got[0], 0x7ff77ff7u);  // from an H100
  EXPECT_EQ(got[4], in[0]);
}

TEST_F(Bulk, BytesOfRowsThatBeginOrAreCutWithinASector) {
  const std::string bytes = "l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum";
  const struct {
    std::uint32_t cols;  // of the tensor; the box has 8 rows of 16 columns
    int x;
    std::uint64_t more_sectors;
  } cases[] = {{64, 16, 0}, {40, 32, 0},  // cut at a sector's end
               {72, 16, 0}, {44, 16, 4},  // rows begin at 0 and at 16 bytes
               {72, 60, 8}, {76, 72, 8}};
  for (const auto& c : cases) {
    vgpu::LaunchReport report;
    load_box(matrix(array(numbers(8 * c.cols)), 8, c.cols, 8, 16), {{c.x, 0}}, &report);
    const std::uint64_t expected = 8 * 64 + 32 * c.more_sectors;
    const auto& where = c.more_sectors == 0 ? report.exact : report.estimates;
    ASSERT_TRUE(where.contains(bytes)) << c.cols << ", " << c.x;
    EXPECT_EQ(where.at(bytes), expected) << c.cols << ", " << c.x;
  }
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
    expect_fault(fault_of("load_box", {1}, {32}, array<std::uint32_t>(256), map, 2,
                          Coordinates{{x, 0}}, 1024),
                 FaultKind::kIllegal,
                 {"first coordinate of a copy by tensor map must be a multiple of 16 bytes"});
    EXPECT_EQ(fault_of("store_box", {1}, {32}, map, x, 0, 1024, 0).kind, FaultKind::kIllegal);
  }
}

TEST_F(Bulk, Tf32IsRounded) {
  // Values and results from an H200.
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
    launch("load_by_global_map", {1}, {32}, out, at, 0, 4, 1024);
  };
  run(there);
  for (std::size_t i = 0; i < 256; ++i) EXPECT_EQ(out[i], in[4 * 32 + i]);
  there->bytes[40] ^= std::byte{1};
  expect_fault(fault_of("load_by_global_map", {1}, {32}, out, there, 0, 4, 1024),
               FaultKind::kBadOperand,
               {"no tensor map, or one that was changed",
                named("prefetch.tensormap", "UTMACCTL.PF"), "bulk.cu:"});
  const auto* const beside = reinterpret_cast<const std::byte*>(there) + 16;
  expect_text(fault_of("load_by_global_map", {1}, {32}, out, beside, 0, 4, 1024),
              {"multiple of 64 bytes"});
}

TEST_F(Bulk, CopiesOutsideAllocations) {
  auto* const data = array<std::uint32_t>(32 * 32);
  const MapBytes map = encoded(matrix(data, 33, 32, 8, 32));
  expect_fault(fault_of("load_box", {1}, {32}, array<std::uint32_t>(256), map, 2,
                        Coordinates{{0, 32}}, 1024),
               FaultKind::kOutOfBounds,
               {"read of 128 bytes from global memory", "past the end of the 4096-byte allocation",
                named("cp.async.bulk.tensor.2d", "UTMALDG.2D")});
  memory.free(data);
  EXPECT_EQ(fault_of("store_box", {1}, {32}, map, 0, 0, 1024, 0).kind, FaultKind::kUseAfterFree);
}

TEST_F(Bulk, StoresDropWhatLiesOutside) {
  for_each_schedule([&] {
    auto* const data = array<std::uint32_t>(12 * 20, 7);
    launch("store_box", {1}, {64}, encoded(matrix(data, 12, 20, 8, 16)), 12, 9, 512, 0);
    for (int y = 0; y < 12; ++y) {
      for (int x = 0; x < 20; ++x) {
        const bool inside = x >= 12 && y >= 9;
        EXPECT_EQ(data[y * 20 + x],
                  inside ? static_cast<std::uint32_t>((y - 9) * 16 + x - 12 + 1) : 7u)
            << y << ", " << x;
      }
    }
  });
}

// Loads may begin anywhere, stores not: an H100 reports an illegal instruction.
TEST_F(Bulk, StoresBeginInsideTheTensor) {
  auto* const data = array<std::uint32_t>(12 * 20, 7);
  const auto map = encoded(matrix(data, 12, 20, 8, 16));
  for (const auto& [x, y] : {std::pair(-4, 0), {0, -1}, {-16, -8}}) {
    expect_fault(fault_of("store_box", {1}, {64}, map, x, y, 512, 0), FaultKind::kIllegal,
                 {"of a store by tensor map must not be negative"});
  }
}

// What an H100 does not report as an illegal instruction.
TEST(BulkReductions, OfTensorMaps) {
  using vgpu::ir::Reduction;
  const std::map<TensorType, std::string> has = {
      {TensorType::kUint8, ""},
      {TensorType::kUint16, ""},
      {TensorType::kUint32, "add min max inc dec and or xor "},
      {TensorType::kInt32, "add min max and or xor "},
      {TensorType::kUint64, "add min max and or xor "},
      {TensorType::kInt64, "min max "},
      {TensorType::kFloat16, "add min max "},
      {TensorType::kFloat32, "add "},
      {TensorType::kFloat64, "add "},
      {TensorType::kBfloat16, "add min max "},
      {TensorType::kFloat32Ftz, "add "},
      {TensorType::kTfloat32, "add "},
      {TensorType::kTfloat32Ftz, "add "},
  };
  const char* const names[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
  for (const auto& [type, expected] : has) {
    std::string found;
    for (std::size_t i = 0; i < std::size(names); ++i) {
      const auto what = static_cast<Reduction>(i + 1);
      if (vgpu::ir::can_reduce_tensor(what, type)) found.append(names[i]).append(" ");
    }
    EXPECT_EQ(found, expected) << static_cast<int>(type);
  }
}

// Sums of subnormal numbers: an H100 keeps them, of types with FTZ it does not.
TEST(BulkReductions, FlushWhatTheTypeFlushes) {
  for (const auto& [type, expected] : {std::pair(TensorType::kFloat32, 3u),
                                       {TensorType::kTfloat32, 3u},
                                       {TensorType::kFloat32Ftz, 0u},
                                       {TensorType::kTfloat32Ftz, 0u}}) {
    std::uint32_t to = 1;
    const std::uint32_t from = 2;
    vgpu::machine::Reducer(vgpu::ir::Reduction::kAdd, type)
        .apply(reinterpret_cast<std::byte*>(&to), reinterpret_cast<const std::byte*>(&from), 4,
               false);
    EXPECT_EQ(to, expected) << static_cast<int>(type);
  }
}

TEST_F(Bulk, StoresCutLinesAtSixteenBytes) {
  auto* const data = array<std::uint32_t>(4 * 8, 7);
  launch("store_box", {1}, {32}, encoded(matrix(data, 4, 5, 4, 8)), 0, 0, 128, 0);
  for (int y = 0; y < 4; ++y) {
    for (int x = 0; x < 8; ++x)
      EXPECT_EQ(data[y * 8 + x], static_cast<std::uint32_t>(y * 8 + x + 1));
  }
}

TEST_F(Bulk, Linear) {
  const auto in = numbers(256);
  for_each_schedule([&] {
    auto* const out = array<std::uint32_t>(256);
    auto* const sum = array<std::uint32_t>(256, 5);
    launch("linear", {1}, {32}, out, sum, array(in), 1024);
    for (std::size_t i = 0; i < 256; ++i) {
      EXPECT_EQ(out[i], in[i]);
      EXPECT_EQ(sum[i], in[i] + 5);
    }
  });
  const auto fault = [&](int bytes, std::size_t offset) {
    return fault_of("linear", {1}, {32}, array<std::uint32_t>(256), array<std::uint32_t>(256),
                    array(in) + offset, bytes);
  };
  if (!from_machine_code()) {  // there sizes are in units of 16 bytes
    expect_text(fault(1020, 0), {"size of a bulk copy must be a multiple of 16 bytes, not 1020"});
  }
  EXPECT_EQ(fault(1008, 1).kind, FaultKind::kMisaligned);
}

TEST_F(Bulk, Reductions) {
  struct Operands {
    std::array<std::uint16_t, 8> f16, bf16;
    std::array<float, 4> f32;
    std::array<std::int32_t, 4> words;
  };
  static_assert(sizeof(Operands) == 64);
  // 1, 65504, 2^-24, 1 + 2^-10 and similar values; sums that are exact, overflow, are subnormal, or
  // tie to even.
  const Operands to{{0x3c00, 0x7bff, 0x0001, 0x3c01, 0x7c00, 0x8000, 0xbc00, 0x6400},
                    {0x3f80, 0x7f7f, 0x3f80, 0x3f81, 0x7f80, 0x8000, 0xbf80, 0x4300},
                    {1.0F, 16777216.0F, -1.0F, 0.5F},
                    {1, -5, 7, -2147483647}};
  const Operands from{{0x3c00, 0x7bff, 0x0001, 0x1000, 0x3c00, 0x0000, 0x3c00, 0x3800},
                      {0x3f80, 0x7f7f, 0x3b80, 0x3b80, 0x3f80, 0x0000, 0x3f80, 0x3f00},
                      {2.0F, 1.0F, 1.0F, 0.25F},
                      {2, -6, 7, 3}};
  const Operands expected{{0x4000, 0x7c00, 0x0002, 0x3c02, 0x7c00, 0x0000, 0x0000, 0x6400},
                          {0x4000, 0x7f80, 0x3f80, 0x3f82, 0x7f80, 0x0000, 0x0000, 0x4300},
                          {3.0F, 16777216.0F, 0.0F, 0.75F},
                          {2, -5, 7, 3}};
  for_each_schedule([&] {
    auto* const out = array(std::vector<Operands>{to});
    launch("reduce", {1}, {32}, out, array(std::vector<Operands>{from}));
    EXPECT_EQ(out->f16, expected.f16);
    EXPECT_EQ(out->bf16, expected.bf16);
    EXPECT_EQ(out->f32, expected.f32);
    EXPECT_EQ(out->words, expected.words);
  });
}

TEST_F(Bulk, FlawsOfStores) {
  const auto fault = [&](int flaw) {
    return fault_of("store_box", {1}, {64},
                    encoded(matrix(array<std::uint32_t>(1024), 32, 32, 8, 32)), 0, 0, 1024, flaw);
  };
  for_each_schedule([&] {
    expect_fault(
        fault(1), FaultKind::kRace,
        {"no fence.proxy.async between", named("the write is st.shared", "the write is STS"),
         named("cp.async.bulk.tensor.2d.global", "UTMASTG.2D")});
    expect_fault(fault(2), FaultKind::kRace,
                 {"a bulk store of warp 0 reads", "wait_group.read",
                  named("the other access is cp.async.bulk.tensor", "the other access is UTMASTG"),
                  named("at st.shared", "at STS")});
    expect_fault(fault(3), FaultKind::kRace, {"the block ends while a bulk store may still read"});
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
  vgpu::LaunchReport transposed(int flaw) {
    std::fill(to, to + in.size(), 0u);
    vgpu::LaunchReport report =
        launch("transpose", {kBlocks}, {160}, map_in(), map_out(), kTiles, flaw);
    for (std::size_t y = 0; y < 32 * kBlocks; ++y) {
      for (std::size_t x = 0; x < 32 * kTiles; ++x)
        EXPECT_EQ(to[x * 32 * kBlocks + y], in[y * 32 * kTiles + x]);
    }
    return report;
  }
  vgpu::Fault fault(int flaw) {
    return fault_of("transpose", {kBlocks}, {160}, map_in(), map_out(), kTiles, flaw);
  }
  std::vector<std::uint32_t> in;
  std::uint32_t *from = nullptr, *to = nullptr;
};

TEST_F(Transpose, IsRightAndSilent) {
  std::uint64_t passed = 0;  // by each wait once, whatever the order of warps and copies
  for_each_schedule([&] {
    const vgpu::LaunchReport report = transposed(0);
    const auto waits = [&](const char* how) {
      return report.estimates.at(std::string("vgpu__mbarrier_waits_") + how + ".sum");
    };
    EXPECT_EQ(waits("executed"), waits("passed") + waits("failed"));
    if (passed == 0) passed = waits("passed");
    EXPECT_EQ(waits("passed"), passed);
    EXPECT_EQ(report.exact.at("vgpu__warps_producer.sum"), kBlocks);
    EXPECT_EQ(report.exact.at("vgpu__warps_other.sum"), 4 * kBlocks);
    EXPECT_EQ(report.exact.at("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum"),
              in.size() * 4);
    EXPECT_EQ(report.exact.at("vgpu__bulk_bytes_loaded.sum"), in.size() * 4);
    EXPECT_EQ(report.exact.at("vgpu__bulk_bytes_stored.sum"), in.size() * 4);
  });
}

// A proxy fence orders everything that precedes it in causality order, also other threads' writes.
TEST_F(Transpose, OneThreadFencesForAll) {
  for_each_schedule([&] { transposed(8); });
}

TEST_F(Transpose, FlawsAreFound) {
  for_each_schedule([&] {
    expect_fault(
        fault(1), FaultKind::kRace,
        {"a bulk copy writes and warp", "nothing has waited for the mbarrier", "bulk.cu:"});
    const vgpu::Fault over = fault(2);
    EXPECT_TRUE(over.kind == FaultKind::kMbarrier || over.kind == FaultKind::kRace) << over.what();
    const vgpu::Fault fence = fault(3);
    EXPECT_EQ(fence.kind, FaultKind::kRace) << fence.what();
    expect_text(fence, {"no fence.proxy.async between"});
    expect_fault(fault(7), FaultKind::kRace, {"no fence.proxy.async between"});
    expect_fault(fault(4), FaultKind::kRace);
    expect_fault(fault(5), FaultKind::kDeadlock,
                 {"wait for the mbarrier at shared address", "lacks 0 of 1 arrivals and 16 bytes"});
    const vgpu::Fault arrivals = fault(6);
    EXPECT_TRUE(arrivals.kind == FaultKind::kMbarrier || arrivals.kind == FaultKind::kRace)
        << arrivals.what();
  });
}

}  // namespace
}  // namespace bulk_test
