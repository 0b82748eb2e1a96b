// SPDX-License-Identifier: Apache-2.0
// CPU rungs: objdump's text, its hot loop, and a prediction from figures computed by hand.
#include <gtest/gtest.h>

#include "analyse/host_explanation.hpp"

namespace ladder::analyse {
namespace {

// A loop over k of fused multiply-adds, followed by a scalar loop, and code that was moved away and
// jumps back into the first loop.
constexpr const char* kText = R"(
program:     file format elf64-x86-64

0000000000001000 <ladder::a_rung::launch(ladder::Problem const&)>:
    1000:	mov    rax,QWORD PTR [rdi]
    1003:	vmovups zmm2,ZMMWORD PTR [rsi]
    1009:	vbroadcastss zmm3,DWORD PTR [rax]
    100f:	vfmadd231ps zmm0,zmm3,zmm2
    1015:	vfmadd231ps zmm1,zmm3,ZMMWORD PTR [rsi+0x40]
    101b:	cmp    rcx,rdx
    101e:	je     1050 <ladder::a_rung::launch(ladder::Problem const&)+0x50>
    1020:	jne    1003 <ladder::a_rung::launch(ladder::Problem const&)+0x3>
    1022:	mulss  xmm4,DWORD PTR [rax]
    1026:	addss  xmm5,xmm4
    102a:	jne    1022 <ladder::a_rung::launch(ladder::Problem const&)+0x22>
    102c:	movss  DWORD PTR [rdi],xmm5
    1030:	ret
    1050:	vfmadd231ps zmm6,zmm3,zmm2
    1056:	jmp    1009 <ladder::a_rung::launch(ladder::Problem const&)+0x9>

0000000000001100 <another()>:
    1100:	ret
)";

HostMachine machine() {
  HostMachine m;
  m.clock_hz = 1e9;
  m.vector_bytes = 64;
  m.fma_flops = m.tile_flops = 64e9;  // two vectors of 16 multiply-adds per cycle
  m.l1_bandwidth = 128e9;             // two vectors a cycle
  m.l2_bandwidth = 32e9;
  m.l3_bandwidth = 16e9;
  m.memory_bandwidth = 8e9;
  m.add_cycles = 4;
  m.l1_bytes = 32 << 10;
  m.l2_bytes = 1 << 20;
  m.l3_bytes = 8 << 20;
  return m;
}

HostExplanation explained(const HostFunction& function) {
  HostExplanation e;
  e.id = e.rung = "a_rung";
  e.problem = make_problem(64, 64, 64);
  e.work = work_of(e.problem);
  e.machine = machine();
  e.function = function;
  e.loop = hot_loop(function).value();
  predict_host(e);
  return e;
}

TEST(HostCode, the_hot_loop_is_the_widest_and_not_a_jump_into_its_middle) {
  const auto function = parse_objdump(kText);
  ASSERT_TRUE(function) << function.status().message();
  EXPECT_EQ(function.value().name, "ladder::a_rung::launch(ladder::Problem const&)");
  EXPECT_EQ(function.value().code.size(), 15U) << "the next function is another one's";
  const auto loop = hot_loop(function.value());
  ASSERT_TRUE(loop) << loop.status().message();
  EXPECT_EQ(function.value().code[loop.value().first].address, 0x1003U);
  EXPECT_EQ(function.value().code[loop.value().last].address, 0x1020U);
  const HostMix& mix = loop.value().mix;
  EXPECT_EQ(mix.instructions, 7);
  EXPECT_EQ(mix.arithmetic, 2);
  EXPECT_EQ(mix.loads, 3);
  EXPECT_EQ(mix.stores, 0);
  EXPECT_EQ(mix.multiplies, 32);
  EXPECT_EQ(mix.vector_bytes, 64);
  EXPECT_EQ(mix.chained, 1) << "each sum goes on from round to round, once";
  EXPECT_TRUE(mix.fused);
}

TEST(HostCode, says_where_nothing_multiplies) {
  EXPECT_FALSE(parse_objdump("nothing"));
  const auto function = parse_objdump(
      "0000000000001000 <f>:\n    1000:	add    rax,0x1\n    1004:	jne    1000 <f>\n");
  ASSERT_TRUE(function);
  EXPECT_FALSE(hot_loop(function.value()));
}

TEST(HostPrediction, is_of_the_slowest_port_chain_or_level) {
  HostExplanation e = explained(parse_objdump(kText).value());
  // 64^3 products, 32 per round, at 1 GHz: 8192 rounds of 2 arithmetic instructions and 3 loads at
  // two per cycle, and of 4 cycles of latency until a sum can be used again.
  const auto ms = [&](const char* name) { return e.prediction->pipe_ms(name); };
  EXPECT_NEAR(ms("multiply-add ports"), 8192 * 1e-6, 1e-12);
  EXPECT_NEAR(ms("load and store ports"), 8192 * 1.5e-6, 1e-12);
  EXPECT_NEAR(ms("additions that wait for one another"), 8192 * 4e-6, 1e-12);
  EXPECT_EQ(e.prediction->limiter, "additions that wait for one another");
  EXPECT_NEAR(e.prediction->ms, 8192 * 4e-6, 1e-12);
  e.traffic.l2 = 32e9;
  predict_host(e);
  EXPECT_EQ(e.prediction->limiter, "L2");
  EXPECT_NEAR(e.prediction->ms, 1000, 1e-9);
}

TEST(HostTraffic, follows_the_blocks_and_the_caches) {
  const HostMachine m = machine();
  const double products = 512.0 * 512 * 512;
  const Problem cube = make_problem(512, 512, 512);
  EXPECT_EQ(host_traffic("h02_loop_order", cube, m).l2, products * 4) << "B of 1 MiB for each row";
  EXPECT_EQ(host_traffic("h02_loop_order", make_problem(1024, 1024, 1024), m).l3,
            1024.0 * 1024 * 1024 * 4);
  const HostTraffic naive = host_traffic("h01_naive", make_problem(1024, 1024, 1024), m);
  EXPECT_GE(naive.l2, 1024.0 * 1024 * 1024 * 4)
      << "a column of B is 1024 lines, which L1 does not hold";
  EXPECT_EQ(host_traffic("h01_naive", make_problem(8, 8, 8), m).l2, 0);
  EXPECT_EQ(host_traffic("no such rung", cube, m).memory, 0);
}

TEST(HostDifference, names_both_limits) {
  HostExplanation a = explained(parse_objdump(kText).value());
  HostExplanation b = a;
  b.id = "b_rung";
  b.loop->mix.chained = 0;
  predict_host(b);
  const auto said = why(a, b);
  ASSERT_FALSE(said.empty());
  EXPECT_NE(said.back().find("b_rung takes nothing of additions that wait"), std::string::npos)
      << said.back();
  b.prediction.reset();
  b.no_prediction = "objdump is not installed";
  EXPECT_NE(why(a, b).back().find("objdump is not installed"), std::string::npos);
}

}  // namespace
}  // namespace ladder::analyse
