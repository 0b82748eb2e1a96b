// SPDX-License-Identifier: Apache-2.0
// Every fault: its kind, and the contents of its report.
#include "engine_fixture.hpp"

#include <cstdio>

namespace {

using vgpu::FaultKind;

class Faults : public EngineTest {
 protected:
  void SetUp() override { load("faults"); }

  // The line of kernels/faults.cu that contains `text`.
  static int line_of(const std::string& text) {
    std::ifstream file(VGPU_TEST_SOURCES "/faults.cu");
    std::string line;
    for (int n = 1; std::getline(file, line); ++n) {
      if (line.find(text) != std::string::npos) return n;
    }
    return 0;
  }
};

TEST_F(Faults, OutOfBounds) {
  float* const data = array<float>(100);
  const vgpu::Fault fault = fault_of("out_of_bounds", {3}, {32}, data, 80);
  EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
  EXPECT_EQ(fault.kernel, "out_of_bounds");
  EXPECT_EQ(fault.block, (vgpu::Dim3{0, 0, 0}));
  EXPECT_EQ(fault.thread, (vgpu::Dim3{20, 0, 0}));  // the first thread whose element does not exist
  EXPECT_EQ(fault.line, line_of("void out_of_bounds"));
  EXPECT_NE(fault.file.find("faults.cu"), std::string::npos);
  EXPECT_NE(fault.instruction.find(named("st.global", "STG")), std::string::npos);
  expect_text(fault, {named("(PTX line ", "(machine code 0x"), "out of bounds",
                      "kernel out_of_bounds", "block (0, 0, 0), thread (20, 0, 0)",
                      "write of 4 bytes", "400-byte allocation", "faults.cu:"});
}

TEST_F(Faults, BeforeAnAllocation) {
  int* const data = array<int>(64);
  expect_fault(fault_of("read_at", {1}, {1}, data, -4ll, array<int>(1)), FaultKind::kOutOfBounds,
               {"read of 4 bytes"});
}

TEST_F(Faults, UseAfterFree) {
  int* const data = array<int>(64);
  ASSERT_TRUE(memory.free(data));
  EXPECT_EQ(fault_of("read_at", {1}, {1}, data, 8ll, array<int>(1)).kind, FaultKind::kUseAfterFree);
}

TEST_F(Faults, NullPointer) {
  EXPECT_EQ(fault_of("null_pointer", {1}, {32}, static_cast<int*>(nullptr)).kind,
            FaultKind::kOutOfBounds);
}

TEST_F(Faults, SharedMemoryOutOfBounds) {
  for (const int at : {32, 100000, -2}) {
    const vgpu::Fault fault = fault_of("shared_out_of_bounds", {1}, {32}, array<int>(32), at);
    EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds);
    expect_text(fault, {"write of 4 bytes to shared memory"});
    EXPECT_EQ(fault.line, line_of("values[at] = 1"));
  }
}

TEST_F(Faults, Misaligned) {
  expect_fault(fault_of("misaligned", {1}, {8}, array<char>(64), array<float>(8)),
               FaultKind::kMisaligned, {"is no multiple of 4"});
  struct alignas(16) Float4 {
    float v[4];
  };
  EXPECT_EQ(fault_of("misaligned_vector", {1}, {1}, array<float>(64), array<Float4>(1)).kind,
            FaultKind::kMisaligned);
}

TEST_F(Faults, LocalMemoryOutOfBounds) {
  expect_fault(fault_of("local_out_of_bounds", {1}, {32}, 1 << 20, array<int>(32)),
               FaultKind::kOutOfBounds, {"local"});
}

TEST_F(Faults, BarrierInBothBranches) {
  expect_fault(fault_of("divided_barriers", {1}, {64}, array<int>(64)),
               FaultKind::kBarrierDivergence,
               {"threads of one warp wait at different barriers", named("bar.sync", "BAR.SYNC")});
}

TEST_F(Faults, WarpsAtDifferentBarriers) {
  expect_fault(fault_of("other_barrier", {1}, {64}), FaultKind::kBarrierDivergence,
               {"barrier 1", "barrier 2", "warp 0", "warp 1"});
}

TEST_F(Faults, TooFewThreadsForABarrier) {
  EXPECT_NO_THROW(launch("too_few", {1}, {128}, 96));
  expect_fault(fault_of("too_few", {1}, {128}, 64), FaultKind::kBarrierDivergence,
               {"barrier 3 for 96 threads"});
}

TEST_F(Faults, Assertion) {
  std::vector<int> in(64, 1);
  EXPECT_NO_THROW(launch("checks", {1}, {64}, array(in)));
  in[41] = 9;
  const vgpu::Fault fault = fault_of("checks", {1}, {64}, array(in));
  EXPECT_EQ(fault.kind, FaultKind::kAssert);
  EXPECT_EQ(fault.thread.x, 41u);
  expect_text(fault, {"in range", "faults.cu", "checks"});
}

TEST_F(Faults, Trap) {
  const vgpu::Fault fault = fault_of("traps", {1}, {64}, 33);
  EXPECT_EQ(fault.kind, FaultKind::kTrap);
  EXPECT_EQ(fault.thread.x, 33u);
}

TEST_F(Faults, StackOverflow) {
  const vgpu::Fault fault = fault_of("endless", {1}, {64}, array<int>(64));
  EXPECT_EQ(fault.kind, FaultKind::kStackOverflow);
  if (!from_machine_code()) expect_text(fault, {"in function"});
}

TEST_F(Faults, TheFirstFaultyBlockIsReportedWhateverTheHostDoes) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    config.host_threads = threads;
    int* const data = array<int>(64);
    const vgpu::Fault fault = fault_of("faulty_blocks", {64}, {1}, data, 1 << 20);
    EXPECT_EQ(fault.block.x, 7u) << threads;
  }
}

TEST_F(Faults, Races) {
  int* const out = array<int>(128);
  EXPECT_NO_THROW(launch("race", {1}, {128}, out));  // not found without the check
  config.check_race = true;
  const vgpu::Fault fault = fault_of("race", {1}, {128}, out);
  EXPECT_EQ(fault.kind, FaultKind::kRace);
  const std::string write =
      "faults.cu:" +
      std::to_string(line_of("values[threadIdx.x] = static_cast<int>(threadIdx.x);"));
  const std::string read =
      "faults.cu:" + std::to_string(line_of("values[(threadIdx.x + 32) % 128];"));
  expect_text(fault,
              {named("st.shared", "STS"), named("ld.shared", "LDS"), write.c_str(), read.c_str()});
  EXPECT_EQ(fault_of("race_of_writes", {1}, {64}, out).kind, FaultKind::kRace);
  EXPECT_EQ(fault_of("race_after_read", {1}, {128}, out).kind, FaultKind::kRace);
  EXPECT_NO_THROW(launch("race_of_writes", {4}, {32}, out));  // no race within one warp
  EXPECT_NO_THROW(launch("no_race", {4}, {128}, out));
  for (int i = 0; i < 128; ++i) EXPECT_EQ(out[i], (127 - i + 32) % 128 + i + 128);
}

TEST_F(Faults, Print) {
  config.host_threads = 3;
  const std::string output = launch("prints", {2}, {3}).output;
  std::string expected;
  for (int block = 0; block < 2; ++block) {
    for (int thread = 0; thread < 3; thread += 2) {
      char line[200];
      std::snprintf(line, sizeof(line),
                    "block %d thread %d: %5.2f|%-6s|%+d|%x|%c|%%|%llu|%d|%e|%*d\n", block, thread,
                    1.5 * thread, "ab", -3, 255, 'z', 1ull << 40, 300 & 0xff, 12345.678, 6, 42);
      expected += line;
    }
  }
  EXPECT_EQ(output, expected);
}

TEST_F(Faults, WhatIsNotThereIsNamedBeforeAnythingRuns) {
  try {
    launch("refused", {1}, {1}, array<float>(1), array<float>(4));
    ADD_FAILURE() << "it ran";
  } catch (const vgpu::Unsupported& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("txq.channel_order"), std::string::npos) << text;
    EXPECT_NE(text.find("PTX line"), std::string::npos) << text;
    EXPECT_NE(text.find("faults.cu:" + std::to_string(line_of("txq.channel_order"))),
              std::string::npos)
        << text;
  }
}

TEST_F(Faults, LaunchesThatCannotBe) {
  EXPECT_THROW(launch("traps", {1}, {2048}, 0), std::invalid_argument);
  EXPECT_THROW(launch("traps", {0}, {32}, 0), std::invalid_argument);
}

}  // namespace
