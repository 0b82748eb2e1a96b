// SPDX-License-Identifier: Apache-2.0
// Memory that kernels share from call to call: its owner while calls of several host threads,
// streams and graphs are enqueued.
#include "device/runtime.cuh"

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include "support/streams.hpp"

namespace ladder {
namespace {

using namespace test;

constexpr std::int64_t kMega = 1 << 20;

// Of a call that is enqueued and has ended.
char* scratch_of_call(cudaStream_t stream, std::int64_t bytes) {
  CallMemory memory;
  const Status taken = memory.take(stream, bytes, 64);
  EXPECT_TRUE(taken) << taken.message();
  return memory.scratch();
}

void fill_scratch(std::int64_t bytes) {
  CallMemory memory;
  ASSERT_TRUE(memory.take(nullptr, bytes, 0));
  ASSERT_EQ(cudaMemset(memory.scratch(), 0xFF, static_cast<std::size_t>(bytes)), cudaSuccess);
}

void expect_zero_flags(const CallMemory& memory, std::size_t count) {
  std::vector<unsigned> flags(count, 1);
  ASSERT_EQ(
      cudaMemcpy(flags.data(), memory.flags(), count * sizeof(unsigned), cudaMemcpyDeviceToHost),
      cudaSuccess);
  EXPECT_TRUE(std::all_of(flags.begin(), flags.end(), [](unsigned flag) { return flag == 0; }))
      << count;
}

void expect_zero_flags(std::size_t count) {
  CallMemory memory;
  ASSERT_TRUE(memory.take(nullptr, 0, static_cast<std::int64_t>(count)));
  expect_zero_flags(memory, count);
}

std::size_t free_bytes() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

TEST(CallMemory, FlagsStayZeroBesideScratchOfAnySize) {
  for (const std::size_t count : {64, 264, 1056}) {
    fill_scratch(kMega);
    expect_zero_flags(count);
    fill_scratch(2 * kMega);
    expect_zero_flags(count);
    expect_zero_flags(count / 2);
  }
}

TEST(CallMemory, IsTheSameAsLongAsItSuffices) {
  char* const large = scratch_of_call(nullptr, 8 * kMega);
  EXPECT_EQ(scratch_of_call(nullptr, kMega), large);
  EXPECT_EQ(scratch_of_call(cudaStreamLegacy, 8 * kMega), large)
      << "another handle of the same stream";
}

// While one thread's call is being enqueued, another call on the same stream waits.
void expect_turns(cudaStream_t first, cudaStream_t second) {
  std::atomic<bool> begun = false, taken = false;
  std::optional<CallMemory> memory(std::in_place);
  ASSERT_TRUE(memory->take(first, kMega, 64));
  std::thread other([&] {
    begun = true;
    CallMemory its;
    EXPECT_TRUE(its.take(second, kMega, 64));
    taken = true;
  });
  while (!begun) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(taken);
  memory.reset();
  other.join();
  EXPECT_TRUE(taken);
}

TEST(CallMemory, CallsOnOneStreamTakeTurns) {
  const CreatedStream stream;
  expect_turns(stream, stream);
  expect_turns(nullptr, nullptr);
  expect_turns(nullptr, cudaStreamLegacy);
}

TEST(CallMemory, EveryThreadsOwnStreamHasItsOwn) {
  unsigned long long here = 0, there = 0;
  ASSERT_EQ(cudaStreamGetId(cudaStreamPerThread, &here), cudaSuccess);
  CallMemory memory;
  ASSERT_TRUE(memory.take(cudaStreamPerThread, kMega, 64));
  std::thread([&] {
    EXPECT_EQ(cudaStreamGetId(cudaStreamPerThread, &there), cudaSuccess);
    CallMemory its;
    ASSERT_TRUE(its.take(cudaStreamPerThread, kMega, 64));
    EXPECT_NE(its.scratch(), memory.scratch());
    EXPECT_NE(its.flags(), memory.flags());
  }).join();
  EXPECT_NE(here, there);
}

TEST(CallMemory, StreamsWhoseCallsAreEnqueuedHaveTheirOwn) {
  std::vector<CreatedStream> streams(8);
  std::vector<CallMemory> calls(streams.size());
  std::set<const void*> distinct;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    ASSERT_TRUE(calls[i].take(streams[i], kMega, 64));
    distinct.insert({calls[i].scratch(), calls[i].flags()});
  }
  EXPECT_EQ(distinct.size(), 2 * calls.size());
}

TEST(CallMemory, ShortLivedStreamsLeaveNothingBehind) {
  constexpr std::int64_t kBytes = 8 * kMega;
  const auto use = [](int calls) {
    const CreatedStream stream;
    for (int i = 0; i < calls; ++i) scratch_of_call(stream, kBytes);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  };
  use(1);
  const std::size_t before = free_bytes();
  for (int i = 0; i < 40; ++i) use(1 + i % 4);
  EXPECT_GE(free_bytes() + kBytes / 2, before);
  for (int i = 0; i < 40; ++i) use(40);  // enough calls for the memory to belong to one stream
  EXPECT_GE(free_bytes() + 3 * kBytes, before);
}

class Captured : public testing::TestWithParam<cudaStreamCaptureMode> {};

TEST_P(Captured, FirstCallLeavesTheCaptureWhole) {
  const CreatedStream stream;
  cudaGraph_t const graph = captured(stream, GetParam(), [&] {
    char* const first = scratch_of_call(stream, 3 * kMega);
    EXPECT_EQ(scratch_of_call(stream, kMega), first)
        << "the calls of a stream follow one another in its graph";
    EXPECT_NE(scratch_of_call(stream, 5 * kMega), nullptr);
    CallMemory turn;
    EXPECT_TRUE(turn.take(stream, 0, 0));
  });
  ASSERT_NE(graph, nullptr);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_P(Captured, OtherThreadsAllocateMeanwhile) {
  const CreatedStream stream;
  cudaGraph_t const graph = captured(stream, GetParam(), [] {
    std::thread([] { scratch_of_call(cudaStreamPerThread, 64 * kMega); }).join();
  });
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(Modes, Captured, testing::ValuesIn(kCaptureModes));

TEST(CallMemory, BelongsToAGraphAsLongAsThatLives) {
  const CreatedStream stream;
  constexpr std::int64_t kBytes = kMega;
  const auto overlap = [](const char* a, const char* b) {
    return a < b + kBytes && b < a + kBytes;
  };
  const auto capture = [&](char*& at) {
    return captured(stream, cudaStreamCaptureModeGlobal,
                    [&] { at = scratch_of_call(stream, kBytes); });
  };
  char *first = nullptr, *second = nullptr, *third = nullptr;
  cudaGraph_t const one = capture(first), two = capture(second);
  EXPECT_FALSE(overlap(first, second));
  cudaGraphExec_t exec = nullptr;
  ASSERT_EQ(cudaGraphInstantiate(&exec, one, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(one), cudaSuccess);  // the executable graph remains
  for (int i = 0; i < 100; ++i) {                 // however many calls follow, of whatever size
    const CreatedStream another;
    char* const at = scratch_of_call(another, kBytes + i * kMega / 16);
    EXPECT_FALSE(overlap(at, first) || overlap(at, second)) << i;
  }
  cudaPointerAttributes attributes{};
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, first), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  ASSERT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  ASSERT_EQ(cudaGraphDestroy(two), cudaSuccess);
  const std::size_t before = free_bytes();
  for (int i = 0; i < 40; ++i) ASSERT_EQ(cudaGraphDestroy(capture(third)), cudaSuccess);
  EXPECT_GE(free_bytes() + 4 * kBytes, before);  // a driver may release it later
}

TEST(CallMemory, OfAGraphStaysWhereItsLaterCallsNeedMore) {
  const CreatedStream stream;
  std::set<char*> of_graph;
  cudaGraph_t const graph = captured(stream, cudaStreamCaptureModeRelaxed, [&] {
    for (const std::int64_t megas : {1, 40, 80})
      of_graph.insert(scratch_of_call(stream, megas * kMega));
  });
  EXPECT_GE(of_graph.size(), 2U);
  for (cudaStream_t other : {cudaStream_t{}, cudaStreamPerThread, cudaStream_t{stream}})
    EXPECT_FALSE(of_graph.contains(scratch_of_call(other, kMega)));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST(CallMemory, FlagsOfAGraphAreZero) {
  const CreatedStream stream;
  unsigned* flags = nullptr;
  constexpr std::size_t kCount = 4096;
  cudaGraph_t const graph = captured(stream, cudaStreamCaptureModeRelaxed, [&] {
    CallMemory memory;
    EXPECT_TRUE(memory.take(stream, 0, kCount));
    flags = memory.flags();
  });
  std::vector<unsigned> found(kCount, 1);
  ASSERT_EQ(cudaMemcpy(found.data(), flags, kCount * sizeof(unsigned), cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(found, std::vector<unsigned>(kCount));
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

// Memory that a call keeps for its choice persists while calls of other streams are enqueued; a
// stream's first memory does not contain another stream's choice.
TEST(CallMemory, AnswersAreTheStreamsOwn) {
  const CreatedStream stream;
  char* asked = nullptr;
  {
    CallMemory memory;
    ASSERT_TRUE(memory.take(stream, kMega, 0));
    memory.keep_answer();
    asked = memory.scratch();
    ASSERT_EQ(cudaMemset(asked, 0xFF, 64), cudaSuccess);
  }
  for (int i = 0; i < 4; ++i) {
    const CreatedStream other;
    EXPECT_NE(scratch_of_call(other, kMega), asked);
  }
  EXPECT_EQ(scratch_of_call(stream, 64), asked);
  for (int i = 0; i < 40; ++i) {
    const CreatedStream other;
    CallMemory memory;
    ASSERT_TRUE(memory.take(other, kMega, 0));
    int first = 1;
    ASSERT_EQ(cudaMemcpy(&first, memory.scratch(), sizeof first, cudaMemcpyDeviceToHost),
              cudaSuccess);
    EXPECT_EQ(first, 0);
    ASSERT_EQ(cudaMemset(memory.scratch(), 0xFF, 64), cudaSuccess);
  }
}

TEST(CallMemory, TooMuchIsAnErrorThatLeavesTheStreamUsable) {
  const CreatedStream stream;
  {
    CallMemory memory;
    EXPECT_EQ(memory.take(stream, std::int64_t{1} << 50, 64).code(), Code::kLaunchFailed);
  }
  EXPECT_NE(scratch_of_call(stream, kMega), nullptr);
}

}  // namespace
}  // namespace ladder
