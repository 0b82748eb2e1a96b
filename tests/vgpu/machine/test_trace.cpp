// SPDX-License-Identifier: Apache-2.0
// Traced launches: every executed instruction with its counts, memory instructions with their
// lanes' addresses.
#include <algorithm>

#include "engine_fixture.hpp"

namespace {

constexpr const char* kCopy = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry copy(.param .u64 in, .param .u64 out)
{
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  .reg .f32 %f<4>;
  .reg .pred %p;
  .shared .align 4 .b8 tile[256];
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd1, %rd3;
  ld.global.f32 %f1, [%rd4];
  mov.u32 %r2, tile;
  shl.b32 %r3, %r1, 3;
  add.s32 %r4, %r2, %r3;
  st.shared.f32 [%r4], %f1;
  setp.ge.u32 %p, %r1, 32;
  @%p bra DONE;
  add.s64 %rd5, %rd2, %rd3;
  st.global.f32 [%rd5], %f1;
DONE:
  ret;
}
)";

// Lanes 5 to 20 and every third of them load one element, the others keep what they have.
constexpr const char* kSomeLanes = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry some(.param .u64 in, .param .u64 out)
{
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [in];
  ld.param.u64 %rd2, [out];
  mov.u32 %r1, %tid.x;
  sub.u32 %r2, %r1, 5;
  setp.lt.u32 %p1, %r2, 16;
  rem.u32 %r3, %r2, 3;
  setp.eq.and.u32 %p2, %r3, 0, %p1;
  mov.u32 %r4, %r1;
  mov.u32 %r5, %r1;
  @%p1 ld.global.u32 %r4, [%rd1 + 8];
  @%p2 ld.global.v2.u32 {%r4, %r5}, [%rd1 + 16];
  mul.wide.u32 %rd3, %r1, 8;
  add.s64 %rd4, %rd2, %rd3;
  st.global.v2.u32 [%rd4], {%r4, %r5};
  ret;
}
)";

class Trace : public EngineTest {};

TEST_F(Trace, keeps_counts_and_the_first_addresses) {
  load_text(kCopy);
  float* const in = array<float>(256);
  float* const out = array<float>(256);
  config.trace = true;
  config.host_threads = 3;
  const vgpu::LaunchReport report = launch("copy", {7}, {32}, in, out);
  const auto find = [&](const std::string& start) {
    const auto at = std::ranges::find_if(report.instructions,
                                         [&](const auto& i) { return i.text.starts_with(start); });
    if (at == report.instructions.end()) throw std::runtime_error("no " + start);
    return *at;
  };
  const vgpu::InstructionReport load = find("ld.global");
  EXPECT_EQ(load.executions, 7U);
  EXPECT_EQ(load.global_requests, 7U);
  EXPECT_EQ(load.global_sectors, 7U * 8);
  EXPECT_EQ(load.operation, "load");
  EXPECT_GT(load.place, 1U);
  EXPECT_EQ(load.sample.block, 0U);
  EXPECT_EQ(load.sample.mask, 0xffffffffU);
  EXPECT_EQ(load.sample.bytes, 4U);
  EXPECT_FALSE(load.sample.shared);
  for (std::uint64_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(load.sample.addresses[lane], reinterpret_cast<std::uint64_t>(in) + 8 * lane);
  const vgpu::InstructionReport store = find("st.shared");
  EXPECT_TRUE(store.sample.shared);
  EXPECT_EQ(store.sample.addresses[3] - store.sample.addresses[0], 24U);
  EXPECT_EQ(store.shared_wavefronts, 7U * 2);
}

TEST_F(Trace, SomeLanesLoadOneElement) {
  load_text(kSomeLanes);
  int* const in = array(std::vector<int>{100, 101, 102, 103, 104, 105});
  int* const out = array<int>(64);
  config.trace = true;
  const vgpu::LaunchReport report = launch("some", {1}, {32}, in, out);
  for (int lane = 0; lane < 32; ++lane) {
    const bool one = lane >= 5 && lane < 21, two = one && (lane - 5) % 3 == 0;
    EXPECT_EQ(out[2 * lane], two ? 104 : one ? 102 : lane) << lane;
    EXPECT_EQ(out[2 * lane + 1], two ? 105 : lane) << lane;
  }
  unsigned loads = 0;
  for (const vgpu::InstructionReport& i : report.instructions) {
    if (i.text.find("ld.global") == std::string::npos) continue;
    ++loads;
    EXPECT_EQ(i.global_requests, 1U);
    EXPECT_EQ(i.global_sectors, 1U);
  }
  EXPECT_EQ(loads, 2U);
}

TEST_F(Trace, is_empty_unless_asked_for) {
  load_text(kCopy);
  float* const data = array<float>(256);
  EXPECT_TRUE(launch("copy", {1}, {32}, data, data).instructions.empty());
}

}  // namespace
