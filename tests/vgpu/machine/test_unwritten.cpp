// SPDX-License-Identifier: Apache-2.0
// The check "init": every read of unwritten memory is reported with its place in the source, and
// its correct counterpart without a report.
#include <cstdint>
#include <string>
#include <vector>

#include "checks_fixture.hpp"

namespace {

using vgpu::FaultKind;

class UnwrittenReads : public ChecksTest {};

constexpr FaultKind kRead = FaultKind::kUninitialized;

TEST_F(UnwrittenReads, SharedMemoryThatTheBlockDidNotWrite) {
  int* const out = fresh<int>(64);
  launch("sum_shared", {1}, {64}, out, 64);
  expect_fault(kRead, "shared memory", "sum_shared", {1}, {64}, out, 63);
  EXPECT_EQ(fault_of("sum_shared", {1}, {64}, out, 40).thread, (vgpu::Dim3{40, 0, 0}));
  launch("shared_bytes", {1}, {64}, out, 64);
  EXPECT_EQ(fault_of("shared_bytes", {1}, {64}, out, 61).thread, (vgpu::Dim3{61, 0, 0}));
}

TEST_F(UnwrittenReads, UnwrittenValuesThatAreDropped) {
  int* const sums = written<int>(32);
  launch("read_ahead", {1}, {32}, sums, 3);
  for (int i = 0; i < 32; ++i) EXPECT_EQ(sums[i], 6);  // once, for any number of launches
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1}, {32}, products, 20, 20);
  EXPECT_EQ(products[19 * 32 + 19], 361);
  EXPECT_EQ(products[19 * 32 + 20], 0);
  launch("half_of_word", {1}, {32}, fresh<unsigned short>(32), 0);
}

TEST_F(UnwrittenReads, UnwrittenValuesThatMatter) {
  float* const products = written<float>(32 * 32);
  expect_fault(
      kRead,
      "it matters: with 0x00 in every byte that was not written, for 0xcd, other values are at",
      "edge_of_product", {1}, {32}, products, 20, 21);
  expect_fault(kRead, "40 bytes into", "half_of_word", {1}, {21}, written<unsigned short>(64) + 20,
               1);
  int* const out = written<int>(64);
  expect_fault(kRead, "with 0x00", "unwritten_branch", {1}, {32}, out, -1);
  expect_fault(kRead, "with 0x7f", "unwritten_branch", {1}, {32}, out, 0);
  expect_fault(kRead, "other values are at", "unwritten_address", {1}, {32}, out, 63);
  expect_fault(kRead, "the kernel stops: out of bounds", "unwritten_address", {1}, {32}, out,
               0x2'0000);
  expect_fault(kRead, "the kernel has no fault", "unwritten_address", {1}, {32}, out, 0x4'0000);
  expect_fault(kRead, "it does not come to its end", "unwritten_count", {1}, {32}, out);
  expect_fault(kRead, "with 0x7f", "unwritten_largest", {1}, {32}, fresh<float>(32));
}

// Uninitialised values in device memory are reported only when they are read.

class Doubts : public ChecksTest {
 protected:
  void SetUp() override {
    ChecksTest::SetUp();
    config.defer_doubts = true;
  }
  std::string doubt_in(const void* pointer, std::size_t bytes) const {
    const auto doubt = memory.doubt_in(pointer, bytes);
    return doubt ? doubt->why->what() : "";
  }
};

TEST_F(Doubts, StayWithTheBytesUntilTheyAreReadOrWritten) {
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1}, {32}, products, 20, 21);
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
  launch("copy_words", {1}, {20}, out, in, 1);
  expect_fault(kRead, "hold what came of unwritten shared memory", "copy_words", {1}, {21}, out, in,
               1);
  expect_fault(kRead, "edge_of_product", "copy_words", {1}, {21}, out, in, 1);
  // A copy transfers the marks, also to memory that was fully written before.
  float* const copies = written<float>(32 * 32);
  memory.copy(copies + 1, products, 32 * sizeof(float));
  EXPECT_EQ(doubt_in(copies, 21 * sizeof(float)), "");
  EXPECT_NE(doubt_in(copies + 21, sizeof(float)), "");
  memory.mark_written(copies + 21, sizeof(float));
  EXPECT_EQ(doubt_in(copies, 32 * 32 * sizeof(float)), "");
  launch("copy_words", {1}, {32}, out, reinterpret_cast<const int*>(copies), 1);
  // A write by the host removes the marks, and so does a kernel's store.
  memory.mark_written(products, 32 * 32 * sizeof(float));
  EXPECT_EQ(doubt_in(products, 32 * 32 * sizeof(float)), "");
  launch("edge_of_product", {1}, {32}, products, 20, 21);
  EXPECT_NE(doubt_in(products, 32 * 32 * sizeof(float)), "");
  for (int row = 0; row < 32; ++row)
    launch("copy_words", {1}, {32}, reinterpret_cast<int*>(products + 32 * row),
           reinterpret_cast<const int*>(copies), 1);
  EXPECT_EQ(doubt_in(products, 32 * 32 * sizeof(float)), "");
}

TEST_F(Doubts, WhatElseComesOfUnwrittenValuesIsAFaultAtOnce) {
  int* const out = written<int>(64);
  expect_fault(kRead, "the kernel stops: out of bounds", "unwritten_address", {1}, {32}, out,
               0x2'0000);
  expect_fault(kRead, "it does not come to its end", "unwritten_count", {1}, {32}, out);
  // Of the values that are tried for unwritten bytes, only the third, 0x7f, changes the result.
  launch("unwritten_largest", {1}, {32}, reinterpret_cast<float*>(out));
  EXPECT_NE(doubt_in(out, 128).find("with 0x7f"), std::string::npos);
  // The host may read this at any time.
  float* const products = array<float>(32 * 32);
  EXPECT_TRUE(memory.can_doubt(products));
  memory.share(products);
  EXPECT_FALSE(memory.can_doubt(products));
  EXPECT_FALSE(memory.can_doubt(memory.allocate(64, "a variable")));
  expect_fault(kRead, "other values are at", "edge_of_product", {1}, {32}, products, 20, 21);
}

TEST_F(UnwrittenReads, TheReadThatMattersIsNamed) {
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    const vgpu::Fault fault = fault_of("one_of_two", {3}, {32}, fresh<int>(96));
    EXPECT_EQ(fault.kind, kRead);
    EXPECT_EQ(fault.block, (vgpu::Dim3{0, 0, 0}));
    EXPECT_NE(std::string(fault.what()).find("256 bytes into the block's 384 bytes"),
              std::string::npos)
        << fault.what();
  }
}

TEST_F(UnwrittenReads, VectorsOfSharedMemory) {
  struct alignas(16) Float4 {
    float v[4];
  };
  Float4* const out = fresh<Float4>(32);
  launch("shared_vectors", {1}, {32}, out, 132);
  for (const int words : {131, 130, 129, 128}) {
    EXPECT_EQ(fault_of("shared_vectors", {1}, {32}, out, words).thread, (vgpu::Dim3{31, 0, 0}));
  }
}

TEST_F(UnwrittenReads, AnotherBlocksSharedMemoryDoesNotCount) {
  int* const out = fresh<int>(64);
  launch("shared_of_block", {1}, {32}, out);
  for (const unsigned threads : {1u, 2u}) {
    config.host_threads = threads;
    EXPECT_EQ(fault_of("shared_of_block", {2}, {32}, out).block, (vgpu::Dim3{1, 0, 0}));
  }
}

TEST_F(UnwrittenReads, AtomicsReadWhatTheyUpdate) {
  int* const out = fresh<int>(32);
  launch("shared_counter", {1}, {32}, out, 1);
  expect_fault(kRead, "shared memory", "shared_counter", {1}, {32}, out, 0);
  expect_fault(kRead, "global memory", "count_global", {1}, {32}, fresh<int>(1));
  launch("count_global", {1}, {32}, written<int>(1));
}

TEST_F(UnwrittenReads, GlobalMemoryThatNobodyWrote) {
  int* const out = fresh<int>(32);
  for (const int stride : {0, 1, 3}) {
    expect_fault(kRead, "-byte allocation", "copy_words", {1}, {32}, out,
                 static_cast<const int*>(fresh<int>(100)), stride);
    launch("copy_words", {1}, {32}, out, static_cast<const int*>(written<int>(100)), stride);
  }
  expect_fault(kRead, "global memory", "copy_first", {1}, {32}, out,
               static_cast<const int*>(fresh<int>(1)));
}

TEST_F(UnwrittenReads, BytesAreToldApart) {
  char* const in = fresh<char>(64);
  memory.mark_written(in, 21);
  char* const out = fresh<char>(64);
  launch("copy_bytes", {1}, {21}, out, static_cast<const char*>(in));
  EXPECT_EQ(fault_of("copy_bytes", {1}, {32}, out, static_cast<const char*>(in)).thread,
            (vgpu::Dim3{21, 0, 0}));
  // Bytes that a kernel wrote are initialised: 21 bytes of `out`, or more if the faulty launch got
  // further.
  launch("copy_bytes", {1}, {21}, in, static_cast<const char*>(out));
}

TEST_F(UnwrittenReads, KernelsWriteForLaterKernels) {
  int* const first = fresh<int>(32);
  int* const second = fresh<int>(32);
  launch("sum_shared", {1}, {31}, first, 31);
  launch("copy_words", {1}, {31}, second, static_cast<const int*>(first), 1);
  expect_fault(kRead, "124 bytes into", "copy_words", {1}, {32}, second,
               static_cast<const int*>(first), 1);
}

TEST_F(UnwrittenReads, CopiesCarryTheMarksAlong) {
  int* const from = fresh<int>(32);
  int* const to = fresh<int>(32);
  memory.mark_written(from, 64);
  memory.copy(to, from, 128);
  int* const out = fresh<int>(32);
  launch("copy_words", {1}, {16}, out, static_cast<const int*>(to), 1);
  expect_fault(kRead, "64 bytes into", "copy_words", {1}, {17}, out, static_cast<const int*>(to),
               1);
}

TEST_F(UnwrittenReads, FreedMemoryIsForgotten) {
  int* const first = written<int>(1024);
  ASSERT_TRUE(memory.free(first));
  memory.free(memory.allocate(vgpu::Memory::kQuarantineBytes + 1));  // evicts it
  int* const again = fresh<int>(1024);
  ASSERT_EQ(again, first);
  expect_fault(kRead, "global memory", "copy_words", {1}, {32}, fresh<int>(32),
               static_cast<const int*>(again), 1);
}

TEST_F(UnwrittenReads, LocalMemory) {
  int* const out = fresh<int>(32);
  launch("local_array", {1}, {32}, out, 16, 5);
}

TEST_F(UnwrittenReads, LocalMemoryThatTheThreadDidNotWrite) {
  expect_fault(kRead, "local memory", "local_array", {1}, {32}, fresh<int>(32), 5, 5);
  int* const out = written<int>(32);
  launch("local_chars", {1}, {32}, out, 6, 5);
  EXPECT_EQ(out[31], 5);
  expect_fault(kRead, "local memory", "local_chars", {1}, {32}, out, 5, 5);
  launch("local_ahead", {1}, {32}, out, 5, 4, 1);
  launch("local_ahead", {1}, {32}, out, 5, 5, 0);
  EXPECT_EQ(out[31], -1);
  expect_fault(kRead, "it matters: with 0x00", "local_ahead", {1}, {32}, out, 5, 5, 1);
  // Without the second run, which shows whether a read matters, the read is reported and the launch
  // succeeds.
  config.check_init_shared = false;
  EXPECT_EQ(launch("local_ahead", {1}, {32}, out, 5, 4, 1).unwritten, "");
  const std::string told = launch("local_ahead", {1}, {32}, out, 5, 5, 1).unwritten;
  EXPECT_NE(told.find("local memory that the thread never wrote"), told.npos) << told;
}

TEST_F(UnwrittenReads, WithFindingsUnwrittenMemoryIsRead) {
  vgpu::Findings findings;
  config.findings = &findings;
  int* const out = fresh<int>(32);
  const int* const in = fresh<int>(100);
  launch("copy_words", {1}, {32}, out, in, 3);
  EXPECT_EQ(std::vector<int>(out, out + 32), std::vector<int>(32, in[0]));
  ASSERT_EQ(findings.sorted().size(), 1u);
  EXPECT_EQ(findings.sorted()[0].fault.kind, kRead);
  EXPECT_EQ(findings.sorted()[0].times, 32u);
  // Reads of unwritten shared memory that matter are found after the launch; its results stay.
  float* const products = written<float>(32 * 32);
  launch("edge_of_product", {1}, {32}, products, 20, 21);
  EXPECT_EQ(products[19 * 32 + 19], 361);
  ASSERT_EQ(findings.sorted().size(), 2u);
  expect_text(findings.sorted()[1].fault, {"shared memory", "it matters: with 0x00"});
  // A bad address ends the launch.
  EXPECT_EQ(fault_of("copy_words", {1}, {32}, out, in, 1 << 20).kind, FaultKind::kOutOfBounds);
}

// Hardware reads the whole word around a half: the bytes beside it need not be initialised or
// allocated.
TEST_F(UnwrittenReads, AtomicsOnHalves) {
  for (const int last : {0, 1, 2, 6}) {
    const auto count = static_cast<std::size_t>(last) + 1;
    std::uint16_t* const counts = fresh<std::uint16_t>(count);
    counts[last] = 0;
    memory.mark_written(counts + last, sizeof(std::uint16_t));
    launch("count_half", {1}, {32}, counts, last);
    EXPECT_EQ(counts[last], 0x5000) << last;  // 32
    counts[last] = 0;
    launch("swap_short", {1}, {32}, counts, last);
    EXPECT_EQ(counts[last], 7) << last;
    for (const char* const kernel : {"count_half", "swap_short"}) {
      const vgpu::Fault beyond =
          fault_of(kernel, {1}, {1}, written<std::uint16_t>(count), last + 1);
      EXPECT_EQ(beyond.kind, FaultKind::kOutOfBounds)
          << kernel << " " << last << ": " << beyond.what();
    }
  }
  expect_fault(kRead, "global memory", "count_half", {1}, {32}, fresh<std::uint16_t>(3), 1);
}

}  // namespace
