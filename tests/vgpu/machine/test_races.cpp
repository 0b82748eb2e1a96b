// SPDX-License-Identifier: Apache-2.0
// The check "race" within and between blocks: every race is reported with its place in the source,
// and its correct counterpart without a report.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "checks_fixture.hpp"

namespace {

using vgpu::FaultKind;

class Races : public ChecksTest {
 protected:
  // Whether the launch has a race, with this text.
  template <class... A>
  void expect_race_if(bool race, const char* text, const std::string& kernel, vgpu::Dim3 grid,
                      vgpu::Dim3 block, A... arguments) {
    if (race)
      expect_fault(FaultKind::kRace, text, kernel, grid, block, arguments...);
    else
      launch(kernel, grid, block, arguments...);
  }
};

constexpr FaultKind kRead = FaultKind::kUninitialized;

TEST_F(Races, WhatAnotherWarpWritesTooLateIsARace) {
  int* const out = fresh<int>(64);
  EXPECT_EQ(fault_of("missing_barrier", {1}, {64}, out).kind, FaultKind::kRace);
  config.check_race = false;
  EXPECT_EQ(fault_of("missing_barrier", {1}, {64}, out).kind, kRead);
}

TEST_F(Races, TwoBlocksWriteOneWord) {
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    launch("write_word", {64}, {32}, fresh<int>(64), 1);
    expect_fault(FaultKind::kRace, "one word of global memory", "write_word", {64}, {32},
                 fresh<int>(64), 0);
    launch("write_word", {1}, {32}, fresh<int>(1), 0);
  }
  // Different halves of a word do not conflict.
  launch("write_half", {5}, {3}, fresh<short>(15));
}

TEST_F(Races, ABlockReadsWhatAnotherWrites) {
  int* const data = written<int>(256);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    launch("shift_in_place", {8}, {32}, data, 256, 0);
    // The right neighbour writes after the read, the left one before it.
    expect_fault(FaultKind::kRace, "blocks have no order", "shift_in_place", {8}, {32}, data, 256,
                 1);
    expect_fault(FaultKind::kRace, "blocks have no order", "shift_in_place", {7}, {32}, data + 32,
                 224, -32);
  }
  config.check_race = false;
  launch("shift_in_place", {8}, {32}, data, 256, 1);
}

// Lanes 7 to 9 load what another block stores; the others have no part in the access.
TEST_F(Races, SomeLanesReadOneWordThatAnotherBlockWrites) {
  load_text(R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry some(.param .u64 data)
{
  .reg .b64 %rd<4>;
  .reg .b32 %r<4>;
  .reg .pred %p<4>;
  ld.param.u64 %rd1, [data];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  setp.eq.u32 %p1, %r2, 0;
  setp.eq.and.u32 %p2, %r1, 3, %p1;
  @%p2 st.global.u32 [%rd1 + 4], %r1;
  sub.u32 %r3, %r1, 7;
  setp.lt.u32 %p2, %r3, 3;
  setp.ne.and.u32 %p2, %r2, 0, %p2;
  @%p2 ld.global.u32 %r3, [%rd1 + 4];
  @%p2 st.global.u32 [%rd1 + 64], 1;
  ret;
}
)");
  int* const data = written<int>(32);
  const vgpu::Fault fault = fault_of("some", {2}, {32}, data);
  expect_fault(fault, FaultKind::kRace, {"blocks have no order"});
  EXPECT_EQ(fault.thread.x, 7U);
  config.check_race = false;
  data[16] = 0;
  launch("some", {2}, {32}, data);
  EXPECT_EQ(data[16], 1);
}

// What a block of touch_ranges or touch_vectors accesses, or a warp without a pitch.
struct Range {
  int first, count, writes, pitch;
};

int below(std::mt19937& random, int end) {
  return static_cast<int>(random() % static_cast<unsigned>(end));
}

// The words that blocks read and write.
class Words {
 public:
  explicit Words(int count) : readers_(count), writers_(count) {}
  void touch(int word, int block, bool writes) {
    (writes ? writers_ : readers_).at(static_cast<std::size_t>(word)).insert(block);
  }
  // Whether one block writes a word that another one reads or writes.
  bool conflict() const {
    for (std::size_t word = 0; word < writers_.size(); ++word) {
      std::set<int> all = writers_[word];
      all.insert(readers_[word].begin(), readers_[word].end());
      if (all.size() > 1 && !writers_[word].empty()) return true;
    }
    return false;
  }

 private:
  std::vector<std::set<int>> readers_, writers_;
};

TEST_F(Races, BlocksConflictWhereTheirWordsDo) {
  constexpr int kWords = 320, kBlocks = 3, kLanes = 32, kHalf = 16;
  std::mt19937 random(20);
  int conflicts = 0;
  for (int round = 0; round < 1200; ++round) {
    config.host_threads = round % 2 == 0 ? 1 : 2;
    Range* const ranges = written<Range>(kBlocks);
    Words words(kWords);
    for (int b = 0; b < kBlocks; ++b) {
      const bool whole = below(random, 2) == 0;  // the words of one warp's access
      const bool tile = below(random, 3) == 0;   // a row for each half warp
      const int pitch = !tile   ? kHalf
                        : whole ? kHalf * (1 + below(random, 4))
                                : 1 + below(random, 4 * kHalf);
      const int room = kWords - 3 * pitch - kHalf;
      const int first = whole ? kHalf * below(random, room / kHalf) : below(random, room);
      const int count = whole ? kLanes : 1 + below(random, 2 * kLanes);
      ranges[b] = {first, count, below(random, 3) == 0 ? 1 : 0, pitch};
      for (int at = 0; at < count; ++at)
        words.touch(first + at % kHalf + at / kHalf * pitch, b, ranges[b].writes != 0);
    }
    conflicts += words.conflict() ? 1 : 0;
    expect_race_if(words.conflict(), "one word of global memory", "touch_ranges", {kBlocks},
                   {2 * kLanes}, written<int>(kWords), ranges);
  }
  EXPECT_GT(conflicts, 200);
  EXPECT_LT(conflicts, 1000);
}

TEST_F(Races, BlocksConflictWhereTheirVectorsDo) {
  constexpr int kWords = 512, kBlocks = 6, kLanes = 32;
  std::mt19937 random(22);
  int conflicts = 0;
  for (int round = 0; round < 600; ++round) {
    config.host_threads = round % 2 == 0 ? 1 : 2;
    Range* const ranges = written<Range>(kBlocks);
    Words all(kWords);
    for (int b = 0; b < kBlocks; ++b) {
      const int words = b % 2 == 0 ? 2 : 4, vectors = kWords / words;
      const int pitch = 1 + below(random, vectors / kLanes - 1), count = 1 + below(random, kLanes);
      const int first = below(random, vectors - kLanes * pitch);
      ranges[b] = {first, count, below(random, 12) == 0 ? 1 : 0, pitch};
      for (int at = 0; at < count * words; ++at)
        all.touch((first + at / words * pitch) * words + at % words, b, ranges[b].writes != 0);
    }
    conflicts += all.conflict() ? 1 : 0;
    expect_race_if(all.conflict(), "one word of global memory", "touch_vectors", {kBlocks},
                   {kLanes}, written<int>(kWords), ranges);
  }
  EXPECT_GT(conflicts, 100);
  EXPECT_LT(conflicts, 500);
}

// Of vectors whose lower words several blocks have read, another block writes the upper ones.
TEST_F(Races, AVectorConflictsInItsUpperWords) {
  for (const int writes : {0, 1}) {
    int* const data = written<int>(256);
    Range* const ranges = written<Range>(6);
    ranges[0] = ranges[2] = {0, 31, 0, 2};
    ranges[4] = {1, 31, writes, 2};
    ranges[5] = {0, 31, 0, 1};
    config.host_threads = 1;
    expect_race_if(writes != 0, "one word of global memory", "touch_vectors", {6}, {32}, data,
                   ranges);
  }
}

TEST_F(Races, WithFindingsALaunchGoesOn) {
  std::vector<std::string> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    vgpu::Findings findings;
    config.findings = &findings;
    config.host_threads = threads;
    int* const out = fresh<int>(64);
    launch("missing_barrier", {40}, {64}, out);
    EXPECT_EQ(out[63], 1);
    // The second warp writes what the first has read, and reads what it has written.
    std::vector<std::string> texts;
    for (const vgpu::Found& found : findings.sorted()) {
      EXPECT_EQ(found.fault.kind, FaultKind::kRace);
      EXPECT_EQ(found.block, 0u);
      EXPECT_EQ(found.times, 40u * 32);
      texts.emplace_back(found.fault.what());
    }
    EXPECT_EQ(texts.size(), 2u);
    if (first.empty()) first = texts;
    EXPECT_EQ(texts, first);
  }
}

TEST_F(Races, WarpsThatWriteEqualValuesDoNotRace) {
  int* const out = fresh<int>(128);
  launch("agree_in_block", {2}, {128}, out, 0, 4);
  EXPECT_EQ(out[127], 14);
  expect_fault(FaultKind::kRace, "one word of shared memory", "agree_in_block", {1}, {128}, out, 1,
               4);
  // Who does not write may not read.
  expect_fault(FaultKind::kRace, "one word of shared memory", "agree_in_block", {1}, {128}, out, 0,
               3);
}

TEST_F(Races, BlocksThatWriteEqualValuesDoNotRace) {
  int* const word = fresh<int>(1);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    int* const out = fresh<int>(64 * 32);
    launch("agree_in_grid", {64}, {32}, out, word, 0);
    EXPECT_EQ(out[64 * 32 - 1], 7);
    expect_fault(FaultKind::kRace, "one word of global memory", "agree_in_grid", {64}, {32}, out,
                 word, 1);
    launch("agree_at_first", {64}, {32}, word, 7);
    expect_fault(FaultKind::kRace, "one word of global memory", "agree_at_first", {64}, {32}, word,
                 8);
  }
}

TEST_F(Races, BlocksThatWriteEqualVectorsDoNotRace) {
  constexpr unsigned kBlocks = 64;
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    for (const int differs : {0, 1, 2, 3}) {
      int* const vectors = fresh<int>(32 * 4);
      double* const doubles = fresh<double>(32);
      std::uint16_t* const pairs = fresh<std::uint16_t>(32 * 2);
      expect_race_if(differs != 0, "one word of global memory", "agree_in_vectors", {kBlocks}, {32},
                     vectors, doubles, pairs, differs);
      if (differs != 0) continue;
      EXPECT_EQ(vectors[31 * 4 + 3], 34);
      EXPECT_EQ(doubles[31], 31);
      EXPECT_EQ(pairs[31 * 2 + 1], 31);
    }
  }
}

TEST_F(Races, WarpsOfABlockShareWordsOfGlobalMemory) {
  constexpr struct {
    int how;
    const char* conflict;
  } kCases[] = {
      {0, "warp 0 writes and warp 1 reads one word of global memory, with no barrier between"},
      {1, "warp 0 reads and warp 1 writes one word of global memory, with no barrier between"},
      {2, "warp 0 writes and warp 1 writes one word of global memory, with no barrier between"},
      {3, nullptr},
      {4, "one word of global memory, with no barrier between"},
      {5, nullptr},
  };
  for (const auto& [how, conflict] : kCases) {
    int* const data = written<int>(64);
    expect_race_if(conflict != nullptr, conflict, "share_words", {1}, {64}, data, how, 0);
    launch("share_words", {1}, {64}, data, how, 1);
    launch("share_words", {1}, {64}, data, how, 2);
  }
  config.check_race = false;
  launch("share_words", {1}, {64}, written<int>(64), 4, 0);
}

TEST_F(Races, WarpsConflictWhereTheirWordsDo) {
  constexpr int kWords = 160, kWarps = 3, kPhases = 4, kLanes = 32;
  std::mt19937 random(21);
  int sound = 0, found = 0;
  for (int round = 0; round < 600; ++round) {
    int* const data = written<int>(kWords);
    Range* const ranges = written<Range>(kPhases * kWarps);
    // Which warp runs first behind a barrier is not known. A write behind a read of what the block
    // itself wrote need not be found.
    bool conflict = false, must_find = false;
    std::vector<bool> was_written(kWords);
    const int most = round % 2 == 0 ? 8 : 2 * kLanes;
    for (int phase = 0; phase < kPhases; ++phase) {
      std::vector<int> readers(kWords), writers(kWords);
      for (int w = 0; w < kWarps; ++w) {
        const bool whole = below(random, 2) == 0;
        const int first = whole ? kLanes * below(random, kWords / kLanes - 1)
                                : below(random, kWords - 2 * kLanes);
        Range& range = ranges[phase * kWarps + w];
        range = {first, whole ? kLanes : 1 + below(random, most), below(random, 3) == 0 ? 1 : 0, w};
        for (int word = first; word < first + range.count; ++word)
          ++(range.writes != 0 ? writers : readers)[static_cast<std::size_t>(word)];
      }
      for (std::size_t word = 0; word < kWords; ++word) {
        const bool both = writers[word] != 0 && readers[word] != 0;
        conflict |= writers[word] > 1 || both;
        must_find |= writers[word] > 1 || (both && !was_written[word]);
      }
      for (std::size_t word = 0; word < kWords; ++word)
        if (writers[word] != 0) was_written[word] = true;
    }
    sound += conflict ? 0 : 1;
    found += must_find ? 1 : 0;
    if (must_find || !conflict) {
      expect_race_if(must_find, "with no barrier between", "touch_in_phases", {1},
                     {kWarps * kLanes}, data, ranges, kPhases);
    }
  }
  EXPECT_GT(sound, 30);
  EXPECT_GT(found, 100);
}

TEST_F(Races, MoreEpochsThanHaveMarks) {
  constexpr int kPhases = 1100;
  int* const data = written<int>(64);
  Range* const ranges = written<Range>(kPhases * 2);
  for (int phase = 0; phase < kPhases; ++phase) {
    ranges[2 * phase] = {phase % 32, 32, 1, 0};
    ranges[2 * phase + 1] = {0, 0, 0, 0};
  }
  launch("touch_in_phases", {1}, {64}, data, ranges, kPhases);
  ranges[2 * 1000 + 1] = {0, 32, 1, 0};
  expect_fault(FaultKind::kRace, "writes one word of global memory, with no barrier between",
               "touch_in_phases", {1}, {64}, data, ranges, kPhases);
}

TEST_F(Races, WordsHandedOverBehindFences) {
  launch("hand_over_words", {1}, {64}, fresh<int>(32), 1);
  expect_fault(FaultKind::kRace, "one word of global memory, with no barrier between",
               "hand_over_words", {1}, {64}, fresh<int>(32), 0);
}

TEST_F(Races, WordsThatAsynchronousCopiesHaveRead) {
  if (architecture() < 80) GTEST_SKIP();
  launch("copy_and_overwrite", {1}, {64}, written<int>(32), fresh<int>(32));
}

TEST_F(Races, ClustersOrderTheirBlocks) {
  if (architecture() < 90) GTEST_SKIP();
  load("hopper", VGPU_TEST_PTX_90);
  config.cluster = {2};
  launch("share_in_cluster", {4}, {32}, fresh<int>(64), 1);
  expect_fault(FaultKind::kRace, "of the cluster's rank 0 writes and warp 0 reads",
               "share_in_cluster", {4}, {32}, fresh<int>(64), 0);
}

TEST_F(Races, AtomicsOrderBlocks) {
  launch("add_atomically", {64}, {32}, written<int>(1));
  int* const sum = written<int>(1);
  launch("last_block_adds", {64}, {32}, fresh<int>(64), sum, written<unsigned>(1));
  EXPECT_EQ(*sum, 64 * 63 / 2);
}

TEST_F(Races, LaunchesAreOrdered) {
  int* const data = written<int>(64);
  for (int i = 0; i < 3; ++i) launch("write_word", {64}, {32}, data, 1);
  launch("write_word", {32}, {32}, data, 2);
}

TEST_F(Races, OffMeansOff) {
  config.check_init = config.check_race = false;
  launch("sum_shared", {1}, {64}, fresh<int>(64), 0);
  launch("write_word", {64}, {32}, fresh<int>(64), 0);
}

TEST_F(Races, BuffersSwitchedByXor) {
  float* const in = written<float>(1024);
  float* const out = fresh<float>(1024);
  if (from_machine_code() && architecture() >= 90) {
    const vgpu::Fault fault = fault_of("buffers_by_xor", {1}, {256}, in, out);
    EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds) << fault.what();
    EXPECT_EQ(fault.thread, (vgpu::Dim3{192, 0, 0}));
    EXPECT_NE(std::string(fault.what()).find("shared"), std::string::npos) << fault.what();
  } else {
    launch("buffers_by_xor", {1}, {256}, in, out);
  }
}

TEST_F(Races, AtomicsMadeByExchangesAreNoRaces) {
  constexpr unsigned kThreads = 192;
  const auto sums_are = [&](const std::string& kernel, auto one, auto sum) {
    auto* const in = written<decltype(one)>(kThreads);
    std::fill(in, in + kThreads, one);
    auto* const out = fresh<decltype(one)>(3);
    launch(kernel, {1}, {kThreads}, in, out);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], sum) << kernel;
  };
  sums_are("sum_long", 1ull, 64ull);
  sums_are("sum_float", 1.0F, 64.0F);
  sums_are("sum_double", 1.0, 64.0);
  sums_are("sum_half", std::uint16_t{0x3c00}, std::uint16_t{0x5400});
  sums_are("sum_bfloat", std::uint16_t{0x3f80}, std::uint16_t{0x4280});
  std::uint16_t* const swapped = fresh<std::uint16_t>(3);
  launch("swap_shorts", {1}, {kThreads}, swapped);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(swapped[i], 1);
}

TEST_F(Races, AtomicsMadeByExchangesCountExactlyWhereNobodyIsInTheWay) {
  if (!from_machine_code())
    GTEST_SKIP() << "what the assembler makes of PTX's atomics is not known";
  float* const in = written<float>(64);
  float* const out = fresh<float>(3);
  const auto is_exact = [&](unsigned threads) {
    const vgpu::LaunchReport report = launch("sum_float", {1}, {threads}, in, out);
    return report.exact.contains("smsp__inst_executed.sum") &&
           report.exact.contains("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum");
  };
  for (int i = 0; i < 64; ++i) in[i] = 1.0F;
  EXPECT_TRUE(is_exact(3));
  EXPECT_FALSE(is_exact(32));
  EXPECT_FALSE(is_exact(64));
}

TEST_F(Races, PlainLoadsBesideAtomicsAreRaces) {
  float* const out = fresh<float>(64);
  launch("load_and_add", {1}, {64}, out, 0);
  EXPECT_EQ(fault_of("load_and_add", {1}, {64}, out, 1).kind, FaultKind::kRace);
  launch("load_and_exchange", {1}, {64}, out, 0);
  EXPECT_EQ(fault_of("load_and_exchange", {1}, {64}, out, 1).kind, FaultKind::kRace);
}

TEST_F(Races, FencesAndAtomicsOrderWarps) {
  int* const out = fresh<int>(32);
  int* const flag = written<int>(1);
  for (const int far : {0, 1}) {
    for (const int qualified : {0, 1}) {
      for_each_schedule([&] {
        launch("hand_over", {1}, {64}, out, flag, far, qualified, 0);
        for (int i = 0; i < 32; ++i) ASSERT_EQ(out[i], i * i);
      });
    }
    const auto fault = [&](int flaw) {
      return fault_of("hand_over", {1}, {64}, out, flag, far, 0, flaw).kind;
    };
    EXPECT_EQ(fault(1), FaultKind::kRace);
    // Machine code does not distinguish an acquire load from other strong loads.
    if (!from_machine_code()) {
      EXPECT_EQ(fault(2), FaultKind::kRace);
    }
  }
}

}  // namespace
