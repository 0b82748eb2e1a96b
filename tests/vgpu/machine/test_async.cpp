// SPDX-License-Identifier: Apache-2.0
// cp.async, mbarriers and setmaxnreg: their effects under every schedule, and the fault of each
// misuse.
#include <array>

#include "engine_fixture.hpp"

namespace {

using vgpu::CopySchedule;
using vgpu::FaultKind;

class Async : public EngineTest {
 protected:
  void SetUp() override { load("async", VGPU_TEST_PTX_90A); }
  static std::vector<int> numbers(int count) {
    std::vector<int> values(count);
    for (int i = 0; i < count; ++i) values[i] = 1000 + i * 7 % 113;
    return values;
  }
};

class Mbarrier : public Async {
 protected:
  void SetUp() override { load("mbarrier", VGPU_TEST_PTX_90A); }
};

TEST_F(Async, Sizes) {
  const std::vector<int> in = numbers(32 * 4);
  for_each_schedule([&] {
    for (const int part : {0, 1, 7, 12, 16}) {
      using Int4 = std::array<int, 4>;
      Int4* const out = array<Int4>(160);
      launch("copy_sizes", {1}, {32}, out, array(in), part);
      for (int t = 0; t < 32; ++t) {
        const int* const from = in.data() + t * 4;
        Int4 partly{};
        std::memcpy(partly.data(), from, static_cast<std::size_t>(part));
        EXPECT_EQ(out[t], (Int4{from[0], from[1], from[2], from[3]}));
        EXPECT_EQ(out[32 + t], (Int4{-1, -1, from[2], from[3]}));
        EXPECT_EQ(out[64 + t], (Int4{from[0], -1, -1, -1}));
        EXPECT_EQ(out[96 + t], partly) << part;
        EXPECT_EQ(out[128 + t], t < 16 ? Int4{} : (Int4{from[0], from[1], from[2], from[3]})) << t;
      }
    }
  });
}

TEST_F(Async, NothingIsReadWhereNothingIsAskedFor) {
  const std::vector<int> in = numbers(8);
  int* const out = array<int>(32);
  const vgpu::LaunchReport report = launch("copy_nothing", {1}, {32}, out, array(in));
  for (int t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 8 ? in[t] : 0);
  // Eight lanes read one sector; the stores are one request of four.
  EXPECT_EQ(report.exact.at("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"), 1u);
  EXPECT_EQ(report.exact.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 1u);
  const auto& counts = from_machine_code() ? report.exact : report.estimates;
  EXPECT_EQ(counts.at("smsp__inst_executed_op_ldgsts.sum"), 1u);
  EXPECT_EQ(counts.at("smsp__inst_executed_op_shared_st.sum"), 0u);
}

TEST_F(Async, GroupsLandInOrderAndNoSoonerThanTheScheduleSays) {
  const std::vector<int> in = numbers(128);
  for_each_schedule([&] {
    int* const out = array<int>(512);
    launch("copy_groups", {1}, {32}, out, array(in));
    const int landed[] = {1, 2, 3, 4};  // at least, after each wait
    for (int row = 0; row < 4; ++row) {
      for (int i = 0; i < 4; ++i) {
        for (int t = 0; t < 32; ++t) {
          const int got = out[(row * 4 + i) * 32 + t], copied = in[i * 32 + t];
          const bool must = i < landed[row] || config.schedule.kind == CopySchedule::Kind::kEager;
          const bool may = must || config.schedule.kind == CopySchedule::Kind::kRandom;
          EXPECT_TRUE(got == (must ? copied : -1) || (may && got == copied))
              << "row " << row << ", tile " << i << ", thread " << t << ": " << got;
        }
      }
    }
  });
}

TEST_F(Async, LanesHaveGroupsOfTheirOwn) {
  const std::vector<int> in = numbers(64);
  for_each_schedule([&] {
    int* const out = array<int>(64);
    launch("copy_divided", {1}, {32}, out, array(in));
    for (int t = 0; t < 32; ++t) {
      EXPECT_EQ(out[t], t % 2 == 0 ? in[t] : -1);
      EXPECT_EQ(out[32 + t], in[32 + t]);
    }
  });
}

TEST_F(Async, FaultsOfCopies) {
  char* const in = array<char>(64);
  config.dynamic_shared_bytes = 64;
  const auto fault = [&](int to, long long from, int bytes) {
    return fault_of("copy_at", {1}, {1}, in, to, from, bytes);
  };
  EXPECT_NO_THROW(launch("copy_at", {1}, {1}, in, 56, 56ll, 8));
  EXPECT_EQ(fault(4, 0, 8).kind, FaultKind::kMisaligned);
  EXPECT_EQ(fault(64, 0, 8).kind, FaultKind::kOutOfBounds);
  expect_text(fault(64, 0, 8),
              {"write of 8 bytes to shared memory", named("cp.async.ca", "LDGSTS")});
  EXPECT_EQ(fault(0, 64, 8).kind, FaultKind::kOutOfBounds);
  expect_text(fault(0, 64, 8),
              {"read of 8 bytes from global memory", "64-byte allocation", "async.cu:"});
  if (!from_machine_code()) {  // there the lowest bits of the address say how much is copied
    EXPECT_EQ(fault(0, 4, 8).kind, FaultKind::kMisaligned);
    EXPECT_EQ(fault(0, 0, 9).kind, FaultKind::kBadOperand);
  }
  // Only the copied bytes must be initialised.
  EXPECT_NO_THROW(launch("copy_at", {1}, {1}, array<char>(4), 0, 0ll, 4));
  EXPECT_EQ(fault_of("copy_at", {1}, {1}, array<char>(4), 0, 0ll, 5).kind, FaultKind::kOutOfBounds);
}

TEST_F(Mbarrier, Counts) {
  for_each_schedule([&] {
    unsigned* const out = array<unsigned>(13);
    launch("counts", {1}, {1}, out);
    const unsigned expected[] = {4, 0, 3, 1, 1, 1, 0, 3, 0, 0, 1, 1, 1};
    for (int i = 0; i < 13; ++i) EXPECT_EQ(out[i], expected[i]) << i;
  });
}

TEST_F(Mbarrier, Misuse) {
  const auto fault = [&](int how, int count = 0) {
    return fault_of("misuse", {1}, {1}, how, count);
  };
  EXPECT_NO_THROW(launch("misuse", {1}, {1}, 1, (1 << 20) - 1));
  EXPECT_NO_THROW(launch("misuse", {1}, {1}, 2, 2));
  EXPECT_NO_THROW(launch("misuse", {1}, {1}, 8, 300000));
  const struct {
    int how, count;
    FaultKind kind;
    const char* text;
  } cases[] = {
      {0, 0, FaultKind::kMbarrier, "no mbarrier has been initialised"},
      {1, 0, FaultKind::kBadOperand, "counts 1 to 1048575 arrivals, not 0"},
      {1, 1 << 20, FaultKind::kBadOperand, "not 1048576"},
      {2, 3, FaultKind::kMbarrier, "3 arrivals at an mbarrier whose phase 0 lacks 2 of 2"},
      {2, 0, FaultKind::kBadOperand, "not 0"},
      {3, 0, FaultKind::kMbarrier, "was invalidated"},
      {4, 0, FaultKind::kMbarrier, "there is an mbarrier at shared address"},
      {5, 0, FaultKind::kMbarrier, "a store has overwritten the mbarrier"},
      {6, 0, FaultKind::kMbarrier, ".noComplete completes the phase"},
      {7, 0, FaultKind::kMbarrier, "a state of phase 0 of an mbarrier in phase 2"},
      {8, 400000, FaultKind::kMbarrier, "the bytes of an mbarrier's phase are beyond 1048575"},
      {9, 0, FaultKind::kMisaligned, "is no multiple of 8"},
      {10, 0, FaultKind::kOutOfBounds, "past the end of the block's"},
      {11, 0, FaultKind::kBadOperand, "parity of a phase is 0 or 1, not 2"},
      {12, 0, FaultKind::kMbarrier, "1 arrivals at an mbarrier whose phase 0 lacks 0 of 2"},
  };
  for (const auto& c : cases) {
    const vgpu::Fault found = fault(c.how, c.count);
    EXPECT_EQ(found.kind, c.kind) << found.what();
    expect_text(found, {c.text, "mbarrier.cu:"});
  }
}

TEST_F(Mbarrier, WarpsMeet) {
  for (const bool race : {false, true}) {
    config.check_race = race;
    int* const out = array<int>(128);
    launch("meet", {1}, {128}, out, 5);
    std::vector<int> v(128);
    for (int i = 0; i < 128; ++i) v[i] = i;
    for (int phase = 0; phase < 5; ++phase) {
      const std::vector<int> before = v;
      for (int i = 0; i < 128; ++i) v[i] += before[(i + 32) % 128];
    }
    for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], v[i]);
  }
}

TEST_F(Mbarrier, DeadlocksNameTheMbarrierAndEveryWarp) {
  const vgpu::Fault arrivals = fault_of("never", {1}, {96}, 0);
  EXPECT_EQ(arrivals.kind, FaultKind::kDeadlock);
  expect_text(arrivals, {"a phase of an mbarrier that nobody will complete",
                         "phase 0 (parity 0) lacks 1 of 2 arrivals",
                         "warp 0 lanes 0xffffffff wait for the mbarrier at shared address",
                         "warp 1 lanes 0xffffffff", "warp 2 lanes 0xffffffff wait at barrier 0",
                         named("mbarrier.try_wait.parity", "SYNCS.PHASECHK"), "mbarrier.cu:"});
  expect_fault(fault_of("never", {1}, {96}, 1), FaultKind::kDeadlock,
               {"lacks 0 of 2 arrivals and 4096 bytes"});
}

TEST_F(Mbarrier, CopiesThatBringTheirOwnArrival) {
  const std::vector<int> in = numbers(64);
  for_each_schedule([&] {
    for (const bool race : {false, true}) {
      config.check_race = race;
      int* const out = array<int>(64);
      launch("copies_that_add", {1}, {64}, out, array(in));
      for (int i = 0; i < 64; ++i) EXPECT_EQ(out[i], in[63 - i]);
    }
  });
}

TEST_F(Mbarrier, CopiesThatComeLateMakeSomebodyWait) {
  const std::vector<int> in = numbers(32);
  for_each_schedule([&] {
    int* const out = array<int>(64);
    launch("ask", {1}, {32}, out, array(in), 1);
    const bool lazy = config.schedule.kind == CopySchedule::Kind::kLazy;
    for (int i = 0; i < 32; ++i) {
      if (config.schedule.kind != CopySchedule::Kind::kRandom) {
        EXPECT_EQ(out[i], lazy ? 0 : 1);
      }
      EXPECT_EQ(out[32 + i], in[31 - i]);
    }
  });
  config.schedule = {CopySchedule::Kind::kLazy, 0};
  config.check_race = true;
  expect_fault(fault_of("ask", {1}, {32}, array<int>(64), array(in), 0), FaultKind::kRace);
}

TEST_F(Mbarrier, WhoUsesOneMustKnowThatItIsThere) {
  config.check_race = true;
  expect_fault(fault_of("made_in_secret", {1}, {64}, array<int>(64)), FaultKind::kRace,
               {"warp 0 writes and warp 1 reads one word of shared memory, with no barrier between",
                "mbarrier.cu:"});
}

TEST_F(Mbarrier, Registers) {
  const auto run = [&](int how) { launch("registers", {1}, {256}, array<int>(256), how); };
  const auto fault = [&](int how) {
    return fault_of("registers", {1}, {256}, array<int>(256), how);
  };
  for (const unsigned known : {0u, 136u, 168u}) {
    config.registers = known;
    EXPECT_NO_THROW(run(0)) << known;
    EXPECT_EQ(fault(2).kind, FaultKind::kRegisters);
    expect_text(fault(2), {"the warps of a warpgroup execute different setmaxnreg"});
    EXPECT_EQ(fault(3).kind, FaultKind::kRegisters);
  }
  config.registers = 0;
  EXPECT_NO_THROW(run(1));
  EXPECT_NO_THROW(run(4));
  config.registers =
      128;  // the pool receives 88 from each of 128 threads; three of four warps get 104 per thread
  EXPECT_EQ(fault(0).kind, FaultKind::kDeadlock);
  expect_text(fault(0), {"waits for registers", "the block's pool has 1280"});
  EXPECT_EQ(fault(1).kind, FaultKind::kDeadlock);
  EXPECT_EQ(fault(4).kind, FaultKind::kRegisters);
  expect_text(fault(4), {"setmaxnreg.dec to 240 registers from 128"});
}

TEST_F(Mbarrier, RegistersComeByEights) {
  for (const char* count : {"42", "16", "264"}) {
    load_text(
        ".version 8.4\n.target sm_90a\n.address_size 64\n.visible .entry odd() {\n"
        "setmaxnreg.dec.sync.aligned.u32 " +
        std::string(count) + ";\nret;\n}\n");
    try {
      launch("odd", {1}, {128});
      ADD_FAILURE() << "it ran";
    } catch (const vgpu::Unsupported& error) {
      EXPECT_NE(std::string(error.what()).find("multiple of 8 from 24 to 256"), std::string::npos)
          << error.what();
    }
  }
}

}  // namespace
