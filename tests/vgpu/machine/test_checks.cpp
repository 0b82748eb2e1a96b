// SPDX-License-Identifier: Apache-2.0
// The checks "init" and "race" between blocks: every fault is reported with its place in the
// source, and its correct counterpart without a report.
#include <algorithm>
#include <cstdint>
#include <random>
#include <set>

#include "engine_fixture.hpp"
#include "ir/findings.hpp"

namespace {

using vgpu::FaultKind;

class Checks : public EngineTest {
 protected:
  void SetUp() override {
    load("checks");
    memory.track();
    config.check_init = true;
    config.check_race = true;
  }

  // Uninitialised.
  template <class T>
  T* fresh(std::size_t count) {
    return static_cast<T*>(memory.allocate(count * sizeof(T)));
  }
  // Written by the host.
  template <class T>
  T* written(std::size_t count) {
    T* const data = array<T>(count);
    memory.mark_written(data, count * sizeof(T));
    return data;
  }
  template <class... A>
  void expect_fault(FaultKind kind, const char* text, const std::string& kernel, vgpu::Dim3 grid,
                    vgpu::Dim3 block, A... arguments) {
    const vgpu::Fault fault = fault_of(kernel, grid, block, arguments...);
    EXPECT_EQ(fault.kind, kind) << fault.what();
    EXPECT_NE(std::string(fault.what()).find(text), std::string::npos) << fault.what();
    EXPECT_NE(fault.file, "");
    EXPECT_GT(fault.line, 0);
  }
};

constexpr FaultKind kRead = FaultKind::kUninitialized;

TEST_F(Checks, SharedMemoryThatTheBlockDidNotWrite) {
  int* const out = fresh<int>(64);
  launch("sum_shared", {1, 1, 1}, {64, 1, 1}, out, 64);
  expect_fault(kRead, "shared memory", "sum_shared", {1, 1, 1}, {64, 1, 1}, out, 63);
  EXPECT_EQ(fault_of("sum_shared", {1, 1, 1}, {64, 1, 1}, out, 40).thread, (vgpu::Dim3{40, 0, 0}));
  launch("shared_bytes", {1, 1, 1}, {64, 1, 1}, out, 64);
  EXPECT_EQ(fault_of("shared_bytes", {1, 1, 1}, {64, 1, 1}, out, 61).thread,
            (vgpu::Dim3{61, 0, 0}));
}

TEST_F(Checks, WhatAnotherWarpWritesTooLateIsARace) {
  int* const out = fresh<int>(64);
  EXPECT_EQ(fault_of("missing_barrier", {1, 1, 1}, {64, 1, 1}, out).kind, FaultKind::kRace);
  config.check_race = false;
  EXPECT_EQ(fault_of("missing_barrier", {1, 1, 1}, {64, 1, 1}, out).kind, kRead);
}

TEST_F(Checks, UnwrittenValuesThatAreDropped) {
  int* const sums = written<int>(32);
  launch("read_ahead", {1, 1, 1}, {32, 1, 1}, sums, 3);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(sums[i], 6);  // once, for any number of launches
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20, 20);
  EXPECT_EQ(products[19 * 32 + 19], 361);
  EXPECT_EQ(products[19 * 32 + 20], 0);
  launch("half_of_word", {1, 1, 1}, {32, 1, 1}, fresh<unsigned short>(32), 0);
}

TEST_F(Checks, UnwrittenValuesThatMatter) {
  float* const products = written<float>(32 * 32);
  expect_fault(
      kRead,
      "it matters: with 0x00 in every byte that was not written, for 0xcd, other values are at",
      "edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20, 21);
  expect_fault(kRead, "40 bytes into", "half_of_word", {1, 1, 1}, {21, 1, 1},
               written<unsigned short>(64) + 20, 1);
  int* const out = written<int>(64);
  expect_fault(kRead, "with 0x00", "unwritten_branch", {1, 1, 1}, {32, 1, 1}, out, -1);
  expect_fault(kRead, "with 0x7f", "unwritten_branch", {1, 1, 1}, {32, 1, 1}, out, 0);
  expect_fault(kRead, "other values are at", "unwritten_address", {1, 1, 1}, {32, 1, 1}, out, 63);
  expect_fault(kRead, "the kernel stops: out of bounds", "unwritten_address", {1, 1, 1}, {32, 1, 1},
               out, 0x2'0000);
  expect_fault(kRead, "the kernel has no fault", "unwritten_address", {1, 1, 1}, {32, 1, 1}, out,
               0x4'0000);
  expect_fault(kRead, "it does not come to its end", "unwritten_count", {1, 1, 1}, {32, 1, 1}, out);
  expect_fault(kRead, "with 0x7f", "unwritten_largest", {1, 1, 1}, {32, 1, 1}, fresh<float>(32));
}

// Uninitialised values in device memory are reported only when they are read.
class Doubts : public Checks {
 protected:
  void SetUp() override {
    Checks::SetUp();
    config.defer_doubts = true;
  }
  std::string doubt_in(const void* pointer, std::size_t bytes) const {
    const auto doubt = memory.doubt_in(pointer, bytes);
    return doubt ? doubt->why->what() : "";
  }
};

TEST_F(Doubts, StayWithTheBytesUntilTheyAreReadOrWritten) {
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20, 21);
  // Column 20 and row 20.
  EXPECT_EQ(doubt_in(products, 20 * sizeof(float)), "");
  EXPECT_EQ(doubt_in(products + 21, 31 * sizeof(float)), "");
  const auto doubt = memory.doubt_in(products, 32 * 32 * sizeof(float));
  ASSERT_TRUE(doubt);
  EXPECT_GE(doubt->address, reinterpret_cast<std::uint64_t>(products + 20));
  EXPECT_LT(doubt->address, reinterpret_cast<std::uint64_t>(products + 21));
  expect_text(*doubt->why, {"shared memory", "it matters: with 0x00", "kernel edge_of_product"});
  EXPECT_NE(doubt_in(products + 20 * 32, 20 * sizeof(float)), "");
  // A kernel may read the elements beside them.
  int* const out = fresh<int>(64);
  const int* const in = reinterpret_cast<const int*>(products);
  launch("copy_words", {1, 1, 1}, {20, 1, 1}, out, in, 1);
  expect_fault(kRead, "hold what came of unwritten shared memory", "copy_words", {1, 1, 1},
               {21, 1, 1}, out, in, 1);
  expect_fault(kRead, "edge_of_product", "copy_words", {1, 1, 1}, {21, 1, 1}, out, in, 1);
  // A copy transfers the marks, also to memory that was fully written before.
  float* const copies = written<float>(32 * 32);
  memory.copy_written(copies + 1, products, 32 * sizeof(float));
  EXPECT_EQ(doubt_in(copies, 21 * sizeof(float)), "");
  EXPECT_NE(doubt_in(copies + 21, sizeof(float)), "");
  memory.mark_written(copies + 21, sizeof(float));
  EXPECT_EQ(doubt_in(copies, 32 * 32 * sizeof(float)), "");
  launch("copy_words", {1, 1, 1}, {32, 1, 1}, out, reinterpret_cast<const int*>(copies), 1);
  // A write by the host removes the marks, and so does a kernel's store.
  memory.mark_written(products, 32 * 32 * sizeof(float));
  EXPECT_EQ(doubt_in(products, 32 * 32 * sizeof(float)), "");
  launch("edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20, 21);
  EXPECT_NE(doubt_in(products, 32 * 32 * sizeof(float)), "");
  for (int row = 0; row < 32; ++row)
    launch("copy_words", {1, 1, 1}, {32, 1, 1}, reinterpret_cast<int*>(products + 32 * row),
           reinterpret_cast<const int*>(copies), 1);
  EXPECT_EQ(doubt_in(products, 32 * 32 * sizeof(float)), "");
}

TEST_F(Doubts, WhatElseComesOfUnwrittenValuesIsAFaultAtOnce) {
  int* const out = written<int>(64);
  expect_fault(kRead, "the kernel stops: out of bounds", "unwritten_address", {1, 1, 1}, {32, 1, 1},
               out, 0x2'0000);
  expect_fault(kRead, "it does not come to its end", "unwritten_count", {1, 1, 1}, {32, 1, 1}, out);
  // Only with a third of the other values.
  launch("unwritten_largest", {1, 1, 1}, {32, 1, 1}, reinterpret_cast<float*>(out));
  EXPECT_NE(doubt_in(out, 128).find("with 0x7f"), std::string::npos);
  // The host may read this at any time.
  float* const products = array<float>(32 * 32);
  EXPECT_TRUE(memory.can_doubt(products));
  memory.share(products);
  EXPECT_FALSE(memory.can_doubt(products));
  EXPECT_FALSE(memory.can_doubt(memory.allocate(64, "a variable")));
  expect_fault(kRead, "other values are at", "edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20,
               21);
}

TEST_F(Checks, TheReadThatMattersIsNamed) {
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    const vgpu::Fault fault = fault_of("one_of_two", {3, 1, 1}, {32, 1, 1}, fresh<int>(96));
    EXPECT_EQ(fault.kind, kRead);
    EXPECT_EQ(fault.block, (vgpu::Dim3{0, 0, 0}));
    EXPECT_NE(std::string(fault.what()).find("256 byte(s) into the block's 384 bytes"),
              std::string::npos)
        << fault.what();
  }
}

TEST_F(Checks, VectorsOfSharedMemory) {
  struct alignas(16) Float4 {
    float v[4];
  };
  Float4* const out = fresh<Float4>(32);
  launch("shared_vectors", {1, 1, 1}, {32, 1, 1}, out, 132);
  for (const int words : {131, 130, 129, 128}) {
    EXPECT_EQ(fault_of("shared_vectors", {1, 1, 1}, {32, 1, 1}, out, words).thread,
              (vgpu::Dim3{31, 0, 0}));
  }
}

TEST_F(Checks, AnotherBlocksSharedMemoryDoesNotCount) {
  int* const out = fresh<int>(64);
  launch("shared_of_block", {1, 1, 1}, {32, 1, 1}, out);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    EXPECT_EQ(fault_of("shared_of_block", {2, 1, 1}, {32, 1, 1}, out).block, (vgpu::Dim3{1, 0, 0}));
  }
}

TEST_F(Checks, AtomicsReadWhatTheyUpdate) {
  int* const out = fresh<int>(32);
  launch("shared_counter", {1, 1, 1}, {32, 1, 1}, out, 1);
  expect_fault(kRead, "shared memory", "shared_counter", {1, 1, 1}, {32, 1, 1}, out, 0);
  expect_fault(kRead, "global memory", "count_global", {1, 1, 1}, {32, 1, 1}, fresh<int>(1));
  launch("count_global", {1, 1, 1}, {32, 1, 1}, written<int>(1));
}

TEST_F(Checks, GlobalMemoryThatNobodyWrote) {
  int* const out = fresh<int>(32);
  for (const int stride : {0, 1, 3}) {
    expect_fault(kRead, "-byte allocation", "copy_words", {1, 1, 1}, {32, 1, 1}, out,
                 static_cast<const int*>(fresh<int>(100)), stride);
    launch("copy_words", {1, 1, 1}, {32, 1, 1}, out, static_cast<const int*>(written<int>(100)),
           stride);
  }
  expect_fault(kRead, "global memory", "copy_first", {1, 1, 1}, {32, 1, 1}, out,
               static_cast<const int*>(fresh<int>(1)));
}

TEST_F(Checks, BytesAreToldApart) {
  char* const in = fresh<char>(64);
  memory.mark_written(in, 21);
  char* const out = fresh<char>(64);
  launch("copy_bytes", {1, 1, 1}, {21, 1, 1}, out, static_cast<const char*>(in));
  EXPECT_EQ(fault_of("copy_bytes", {1, 1, 1}, {32, 1, 1}, out, static_cast<const char*>(in)).thread,
            (vgpu::Dim3{21, 0, 0}));
  // Bytes that a kernel wrote are initialised: 21 bytes of `out`, or more if the faulty launch got
  // further.
  launch("copy_bytes", {1, 1, 1}, {21, 1, 1}, in, static_cast<const char*>(out));
}

TEST_F(Checks, KernelsWriteForLaterKernels) {
  int* const first = fresh<int>(32);
  int* const second = fresh<int>(32);
  launch("sum_shared", {1, 1, 1}, {31, 1, 1}, first, 31);
  launch("copy_words", {1, 1, 1}, {31, 1, 1}, second, static_cast<const int*>(first), 1);
  expect_fault(kRead, "124 bytes into", "copy_words", {1, 1, 1}, {32, 1, 1}, second,
               static_cast<const int*>(first), 1);
}

TEST_F(Checks, CopiesCarryTheMarksAlong) {
  int* const from = fresh<int>(32);
  int* const to = fresh<int>(32);
  memory.mark_written(from, 64);
  memory.copy_written(to, from, 128);
  int* const out = fresh<int>(32);
  launch("copy_words", {1, 1, 1}, {16, 1, 1}, out, static_cast<const int*>(to), 1);
  expect_fault(kRead, "64 bytes into", "copy_words", {1, 1, 1}, {17, 1, 1}, out,
               static_cast<const int*>(to), 1);
}

TEST_F(Checks, FreedMemoryIsForgotten) {
  int* const first = written<int>(1024);
  ASSERT_TRUE(memory.free(first));
  memory.free(memory.allocate(vgpu::Memory::kQuarantineBytes + 1));  // evicts it
  int* const again = fresh<int>(1024);
  ASSERT_EQ(again, first);
  expect_fault(kRead, "global memory", "copy_words", {1, 1, 1}, {32, 1, 1}, fresh<int>(32),
               static_cast<const int*>(again), 1);
}

TEST_F(Checks, LocalMemory) {
  int* const out = fresh<int>(32);
  launch("local_array", {1, 1, 1}, {32, 1, 1}, out, 16, 5);
}

TEST_F(Checks, LocalMemoryThatTheThreadDidNotWrite) {
  expect_fault(kRead, "local memory", "local_array", {1, 1, 1}, {32, 1, 1}, fresh<int>(32), 5, 5);
  int* const out = written<int>(32);
  launch("local_ahead", {1, 1, 1}, {32, 1, 1}, out, 5, 4, 1);
  launch("local_ahead", {1, 1, 1}, {32, 1, 1}, out, 5, 5, 0);
  EXPECT_EQ(out[31], -1);
  expect_fault(kRead, "it matters: with 0x00", "local_ahead", {1, 1, 1}, {32, 1, 1}, out, 5, 5, 1);
  // Without a second run the read is told and no fault.
  config.check_init_shared = false;
  EXPECT_EQ(launch("local_ahead", {1, 1, 1}, {32, 1, 1}, out, 5, 4, 1).unwritten, "");
  const std::string told = launch("local_ahead", {1, 1, 1}, {32, 1, 1}, out, 5, 5, 1).unwritten;
  EXPECT_NE(told.find("local memory that the thread never wrote"), told.npos) << told;
}

TEST_F(Checks, TwoBlocksWriteOneWord) {
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    launch("write_word", {64, 1, 1}, {32, 1, 1}, fresh<int>(64), 1);
    expect_fault(FaultKind::kRace, "one word of global memory", "write_word", {64, 1, 1},
                 {32, 1, 1}, fresh<int>(64), 0);
    launch("write_word", {1, 1, 1}, {32, 1, 1}, fresh<int>(1), 0);
  }
  // Different halves of a word do not conflict.
  launch("write_half", {5, 1, 1}, {3, 1, 1}, fresh<short>(15));
}

TEST_F(Checks, ABlockReadsWhatAnotherWrites) {
  int* const data = written<int>(256);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    launch("shift_in_place", {8, 1, 1}, {32, 1, 1}, data, 256, 0);
    // The right neighbour writes after the read, the left one before it.
    expect_fault(FaultKind::kRace, "blocks have no order", "shift_in_place", {8, 1, 1}, {32, 1, 1},
                 data, 256, 1);
    expect_fault(FaultKind::kRace, "blocks have no order", "shift_in_place", {7, 1, 1}, {32, 1, 1},
                 data + 32, 224, -32);
  }
  config.check_race = false;
  launch("shift_in_place", {8, 1, 1}, {32, 1, 1}, data, 256, 1);
}

TEST_F(Checks, BlocksConflictWhereTheirWordsDo) {
  struct Range {
    int first, count, writes, unused;
  };
  constexpr int kWords = 160, kBlocks = 3, kLanes = 32;
  std::mt19937 random(20);
  const auto below = [&](int most) {
    return static_cast<int>(random() % static_cast<unsigned>(most));
  };
  int conflicts = 0;
  for (int round = 0; round < 600; ++round) {
    config.host_threads = round % 2 == 0 ? 1 : 2;
    int* const data = written<int>(kWords);
    Range* const ranges = written<Range>(kBlocks);
    std::vector<std::set<int>> readers(kWords), writers(kWords);
    for (int b = 0; b < kBlocks; ++b) {
      const bool whole = below(2) == 0;  // the words of one warp's access
      const int first = whole ? kLanes * below(kWords / kLanes - 1) : below(kWords - 2 * kLanes);
      ranges[b] = {first, whole ? kLanes : 1 + below(2 * kLanes), below(3) == 0 ? 1 : 0, 0};
      for (int word = first; word < first + ranges[b].count; ++word)
        (ranges[b].writes != 0 ? writers : readers).at(static_cast<std::size_t>(word)).insert(b);
    }
    bool conflict = false;
    for (std::size_t word = 0; word < kWords; ++word) {
      std::set<int> all = writers[word];
      all.insert(readers[word].begin(), readers[word].end());
      conflict |= all.size() > 1 && !writers[word].empty();
    }
    conflicts += conflict ? 1 : 0;
    if (conflict) {
      expect_fault(FaultKind::kRace, "one word of global memory", "touch_ranges", {kBlocks, 1, 1},
                   {2 * kLanes, 1, 1}, data, ranges);
    } else {
      launch("touch_ranges", {kBlocks, 1, 1}, {2 * kLanes, 1, 1}, data, ranges);
    }
  }
  EXPECT_GT(conflicts, 100);
  EXPECT_LT(conflicts, 500);
}

TEST_F(Checks, WithFindingsALaunchGoesOn) {
  std::vector<std::string> first;
  for (const unsigned threads : {1u, 2u, 5u}) {
    vgpu::Findings findings;
    config.findings = &findings;
    config.host_threads = threads;
    int* const out = fresh<int>(64);
    launch("missing_barrier", {40, 1, 1}, {64, 1, 1}, out);
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

TEST_F(Checks, WithFindingsUnwrittenMemoryIsRead) {
  vgpu::Findings findings;
  config.findings = &findings;
  int* const out = fresh<int>(32);
  const int* const in = fresh<int>(100);
  launch("copy_words", {1, 1, 1}, {32, 1, 1}, out, in, 3);
  EXPECT_EQ(std::vector<int>(out, out + 32), std::vector<int>(32, in[0]));
  ASSERT_EQ(findings.sorted().size(), 1u);
  EXPECT_EQ(findings.sorted()[0].fault.kind, kRead);
  EXPECT_EQ(findings.sorted()[0].times, 32u);
  // What matters of shared memory is found after the launch, which has its effect.
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1, 1, 1}, {32, 1, 1}, products, 20, 21);
  EXPECT_EQ(products[19 * 32 + 19], 361);
  ASSERT_EQ(findings.sorted().size(), 2u);
  expect_text(findings.sorted()[1].fault, {"shared memory", "it matters: with 0x00"});
  // A bad address ends the launch.
  EXPECT_EQ(fault_of("copy_words", {1, 1, 1}, {32, 1, 1}, out, in, 1 << 20).kind,
            FaultKind::kOutOfBounds);
}

TEST_F(Checks, WarpsThatWriteEqualValuesDoNotRace) {
  int* const out = fresh<int>(128);
  launch("agree_in_block", {2, 1, 1}, {128, 1, 1}, out, 0, 4);
  EXPECT_EQ(out[127], 14);
  expect_fault(FaultKind::kRace, "one word of shared memory", "agree_in_block", {1, 1, 1},
               {128, 1, 1}, out, 1, 4);
  // Who does not write may not read.
  expect_fault(FaultKind::kRace, "one word of shared memory", "agree_in_block", {1, 1, 1},
               {128, 1, 1}, out, 0, 3);
}

TEST_F(Checks, BlocksThatWriteEqualValuesDoNotRace) {
  int* const word = fresh<int>(1);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    int* const out = fresh<int>(64 * 32);
    launch("agree_in_grid", {64, 1, 1}, {32, 1, 1}, out, word, 0);
    EXPECT_EQ(out[64 * 32 - 1], 7);
    expect_fault(FaultKind::kRace, "one word of global memory", "agree_in_grid", {64, 1, 1},
                 {32, 1, 1}, out, word, 1);
    launch("agree_at_first", {64, 1, 1}, {32, 1, 1}, word, 7);
    expect_fault(FaultKind::kRace, "one word of global memory", "agree_at_first", {64, 1, 1},
                 {32, 1, 1}, word, 8);
  }
}

TEST_F(Checks, BlocksThatWriteEqualVectorsDoNotRace) {
  constexpr unsigned kBlocks = 64;
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    for (const int differs : {0, 1, 2, 3}) {
      int* const vectors = fresh<int>(32 * 4);
      double* const doubles = fresh<double>(32);
      std::uint16_t* const pairs = fresh<std::uint16_t>(32 * 2);
      if (differs != 0) {
        expect_fault(FaultKind::kRace, "one word of global memory", "agree_in_vectors",
                     {kBlocks, 1, 1}, {32, 1, 1}, vectors, doubles, pairs, differs);
        continue;
      }
      launch("agree_in_vectors", {kBlocks, 1, 1}, {32, 1, 1}, vectors, doubles, pairs, differs);
      EXPECT_EQ(vectors[31 * 4 + 3], 34);
      EXPECT_EQ(doubles[31], 31);
      EXPECT_EQ(pairs[31 * 2 + 1], 31);
    }
  }
}

TEST_F(Checks, AtomicsOrderBlocks) {
  launch("add_atomically", {64, 1, 1}, {32, 1, 1}, written<int>(1));
  int* const sum = written<int>(1);
  launch("last_block_adds", {64, 1, 1}, {32, 1, 1}, fresh<int>(64), sum, written<unsigned>(1));
  EXPECT_EQ(*sum, 64 * 63 / 2);
}

TEST_F(Checks, LaunchesAreOrdered) {
  int* const data = written<int>(64);
  for (int i = 0; i < 3; ++i) launch("write_word", {64, 1, 1}, {32, 1, 1}, data, 1);
  launch("write_word", {32, 1, 1}, {32, 1, 1}, data, 2);
}

TEST_F(Checks, OffMeansOff) {
  config.check_init = config.check_race = false;
  launch("sum_shared", {1, 1, 1}, {64, 1, 1}, fresh<int>(64), 0);
  launch("write_word", {64, 1, 1}, {32, 1, 1}, fresh<int>(64), 0);
}

// The system uses the first kilobyte of a block's shared memory on sm_90, so that no array has an
// alignment of more than that, whatever it requests. PTX addresses begin at 0.
TEST_F(Checks, BuffersSwitchedByXor) {
  float* const in = written<float>(1024);
  float* const out = fresh<float>(1024);
  if (from_machine_code() && architecture() >= 90) {
    const vgpu::Fault fault = fault_of("buffers_by_xor", {1, 1, 1}, {256, 1, 1}, in, out);
    EXPECT_EQ(fault.kind, FaultKind::kOutOfBounds) << fault.what();
    EXPECT_EQ(fault.thread, (vgpu::Dim3{192, 0, 0}));
    EXPECT_NE(std::string(fault.what()).find("shared"), std::string::npos) << fault.what();
  } else {
    launch("buffers_by_xor", {1, 1, 1}, {256, 1, 1}, in, out);
  }
}

// Machine code implements these atomics by loops of load, compute and compare-and-swap, whose loads
// look like ordinary ones.
TEST_F(Checks, AtomicsMadeByExchangesAreNoRaces) {
  constexpr unsigned kThreads = 192;
  const auto sums_are = [&](const std::string& kernel, auto one, auto sum) {
    auto* const in = written<decltype(one)>(kThreads);
    std::fill(in, in + kThreads, one);
    auto* const out = fresh<decltype(one)>(3);
    launch(kernel, {1, 1, 1}, {kThreads, 1, 1}, in, out);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(out[i], sum) << kernel;
  };
  sums_are("sum_long", 1ull, 64ull);
  sums_are("sum_float", 1.0F, 64.0F);
  sums_are("sum_double", 1.0, 64.0);
  sums_are("sum_half", std::uint16_t{0x3c00}, std::uint16_t{0x5400});
  sums_are("sum_bfloat", std::uint16_t{0x3f80}, std::uint16_t{0x4280});
  std::uint16_t* const swapped = fresh<std::uint16_t>(3);
  launch("swap_shorts", {1, 1, 1}, {kThreads, 1, 1}, swapped);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(swapped[i], 1);
}

// A failed compare-and-swap is repeated, on hardware as often as timing decides: such counts are
// estimates.
TEST_F(Checks, AtomicsMadeByExchangesCountExactlyWhereNobodyIsInTheWay) {
  if (!from_machine_code())
    GTEST_SKIP() << "what the assembler makes of PTX's atomics is not known";
  float* const in = written<float>(64);
  float* const out = fresh<float>(3);
  const auto is_exact = [&](unsigned threads) {
    const vgpu::LaunchReport report = launch("sum_float", {1, 1, 1}, {threads, 1, 1}, in, out);
    return report.exact.contains("smsp__inst_executed.sum") &&
           report.exact.contains("smsp__sass_thread_inst_executed_op_fadd_pred_on.sum");
  };
  for (int i = 0; i < 64; ++i) in[i] = 1.0F;
  EXPECT_TRUE(is_exact(3));
  EXPECT_FALSE(is_exact(32));
  EXPECT_FALSE(is_exact(64));
}

TEST_F(Checks, PlainLoadsBesideAtomicsAreRaces) {
  float* const out = fresh<float>(64);
  launch("load_and_add", {1, 1, 1}, {64, 1, 1}, out, 0);
  EXPECT_EQ(fault_of("load_and_add", {1, 1, 1}, {64, 1, 1}, out, 1).kind, FaultKind::kRace);
  launch("load_and_exchange", {1, 1, 1}, {64, 1, 1}, out, 0);
  EXPECT_EQ(fault_of("load_and_exchange", {1, 1, 1}, {64, 1, 1}, out, 1).kind, FaultKind::kRace);
}

TEST_F(Checks, FencesAndAtomicsOrderWarps) {
  int* const out = fresh<int>(32);
  int* const flag = written<int>(1);
  for (const int far : {0, 1}) {
    for (const int qualified : {0, 1}) {
      for_each_schedule([&] {
        launch("hand_over", {1, 1, 1}, {64, 1, 1}, out, flag, far, qualified, 0);
        for (int i = 0; i < 32; ++i) ASSERT_EQ(out[i], i * i);
      });
    }
    const auto fault = [&](int flaw) {
      return fault_of("hand_over", {1, 1, 1}, {64, 1, 1}, out, flag, far, 0, flaw).kind;
    };
    EXPECT_EQ(fault(1), FaultKind::kRace);
    // Machine code does not distinguish an acquire load from other strong loads.
    if (!from_machine_code()) {
      EXPECT_EQ(fault(2), FaultKind::kRace);
    }
  }
}

// Hardware reads the whole word around a half: the bytes beside it need not be initialised or
// allocated.
TEST_F(Checks, AtomicsOnHalves) {
  for (const int last : {0, 1, 2, 6}) {
    const auto count = static_cast<std::size_t>(last) + 1;
    std::uint16_t* const counts = fresh<std::uint16_t>(count);
    counts[last] = 0;
    memory.mark_written(counts + last, sizeof(std::uint16_t));
    launch("count_half", {1, 1, 1}, {32, 1, 1}, counts, last);
    EXPECT_EQ(counts[last], 0x5000) << last;  // 32
    counts[last] = 0;
    launch("swap_short", {1, 1, 1}, {32, 1, 1}, counts, last);
    EXPECT_EQ(counts[last], 7) << last;
    for (const char* const kernel : {"count_half", "swap_short"}) {
      const vgpu::Fault beyond =
          fault_of(kernel, {1, 1, 1}, {1, 1, 1}, written<std::uint16_t>(count), last + 1);
      EXPECT_EQ(beyond.kind, FaultKind::kOutOfBounds)
          << kernel << " " << last << ": " << beyond.what();
    }
  }
  expect_fault(kRead, "global memory", "count_half", {1, 1, 1}, {32, 1, 1}, fresh<std::uint16_t>(3),
               1);
}

}  // namespace
