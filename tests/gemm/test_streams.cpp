// SPDX-License-Identifier: Apache-2.0
// The library's call from several host threads, on shared streams and on their own, in graphs and
// outside. On the virtual GPU with small problems; on a GPU with problems of 640 and 1536, 120
// results per kind of stream and precision.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>
#include <ladder/registry.hpp>
#include <ladder/sgemm.hpp>

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include <unistd.h>

#include "host/query.hpp"
#include "support/device_memory.hpp"
#include "support/integers.hpp"
#include "support/streams.hpp"

namespace ladder {
namespace {

constexpr int kThreads = 4;
constexpr Precision kPrecisions[] = {Precision::kFp16x3, Precision::kBf16x6, Precision::kIeee,
                                     Precision::kAuto};
// Precisions, and kernels that the planner does not choose for small problems.
const auto kWays = testing::Values("fp16x3", "bf16x6", "ieee", "auto", "r12_simt_peak",
                                   "ladder_tf32", "ladder_guarded");
constexpr unsigned kLimitSeconds = 120;  // of a test in which kernels wait for each other for ever

using namespace test;
using Memory = test::OnDevice<float>;

// A cube with its product, and memory for results.
class Cube {
 public:
  Cube(int size, unsigned seed) : problem(make_problem(size, size, size, 1, 0)) {
    const std::int64_t count = extent_c(problem).elements();
    const std::vector<float> a = integers(count, seed), b = integers(count, seed + 1);
    expected_.resize(a.size());
    EXPECT_TRUE(sgemm(problem, {a.data(), b.data(), expected_.data()}));
    a_ = upload(a);
    b_ = upload(b);
    c_ = device_array<float>(a.size());
  }
  Status multiply(Stream stream, const std::string& way) const {
    const Operands operands{a_.get(), b_.get(), c_.get()};
    for (const Precision precision : kPrecisions) {
      if (to_string(precision) == way) return sgemm(problem, operands, stream, precision);
    }
    const auto kernel = find_kernels(way);
    return kernel ? kernel.value().front()->launch(problem, operands, stream) : kernel.status();
  }
  void forget() const { ASSERT_EQ(cudaMemset(c_.get(), 0xFF, bytes()), cudaSuccess); }
  // Runs after the product and waits for the stream.
  bool right(Stream stream) const {
    std::vector<float> c(expected_.size());
    EXPECT_EQ(cudaMemcpyAsync(c.data(), c_.get(), bytes(), cudaMemcpyDeviceToHost, stream),
              cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    return c == expected_;
  }

  Problem problem;

 private:
  std::size_t bytes() const { return expected_.size() * sizeof(float); }
  std::vector<float> expected_;
  Memory a_, b_, c_;
};

struct Scale {
  int small, large, rounds;
  std::size_t slack;  // bytes that the driver may use itself
};

class OnDevice : public testing::Test {
 protected:
  void SetUp() override {
    alarm(kLimitSeconds);
    const auto device = query_device(0);
    if (!device || device.value().cc != 90) GTEST_SKIP() << "no Hopper GPU";
    scale_ = device.value().is_virtual ? Scale{40, 136, 2, 0} : Scale{640, 1536, 15, 16 << 20};
  }
  void TearDown() override { alarm(0); }
  Scale scale_{};
};

enum class Streams { kOne, kLegacy, kPerThread, kOwn };
std::string to_string(Streams streams) {
  switch (streams) {
    case Streams::kOne: return "one";
    case Streams::kLegacy: return "legacy";
    case Streams::kPerThread: return "per_thread";
    default: return "own";
  }
}

class Threads : public OnDevice,
                public testing::WithParamInterface<std::tuple<Streams, const char*>> {};

TEST_P(Threads, GetTheirOwnResults) {
  const Streams streams = std::get<0>(GetParam());
  const char* const way = std::get<1>(GetParam());
  const CreatedStream shared;
  std::vector<std::unique_ptr<Cube>> cubes;
  for (unsigned i = 0; i < 2 * kThreads; ++i)
    cubes.push_back(std::make_unique<Cube>(i % 2 == 0 ? scale_.small : scale_.large, 100 * i));
  std::atomic<int> ready = 0, wrong = 0, failed = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const CreatedStream own;
      const cudaStream_t stream = streams == Streams::kOne         ? cudaStream_t{shared}
                                  : streams == Streams::kPerThread ? cudaStreamPerThread
                                  : streams == Streams::kOwn       ? cudaStream_t{own}
                                                                   : nullptr;
      ++ready;
      while (ready < kThreads) std::this_thread::yield();
      for (int round = 0; round < scale_.rounds; ++round) {
        const Cube* mine[2] = {cubes[2 * t + round % 2].get(), cubes[2 * t + 1 - round % 2].get()};
        for (const Cube* cube : mine) failed += cube->multiply(stream, way) ? 0 : 1;
        for (const Cube* cube : mine) wrong += cube->right(stream) ? 0 : 1;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
  EXPECT_EQ(wrong, 0) << "of " << 2 * kThreads * scale_.rounds;
}

INSTANTIATE_TEST_SUITE_P(All, Threads,
                         testing::Combine(testing::Values(Streams::kOne, Streams::kLegacy,
                                                          Streams::kPerThread, Streams::kOwn),
                                          kWays),
                         [](const auto& param) {
                           return to_string(std::get<0>(param.param)) + "_" +
                                  std::get<1>(param.param);
                         });

class Graphs : public OnDevice, public testing::WithParamInterface<const char*> {
 protected:
  ExecutableGraph graph_of(const Cube& cube, cudaStream_t stream,
                           cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) const {
    return {stream, mode, [&] {
              const Status status = cube.multiply(stream, GetParam());
              EXPECT_TRUE(status) << status.message();
            }};
  }
  static void replay(const ExecutableGraph& graph, cudaStream_t stream, const Cube& cube) {
    cube.forget();
    graph.launch(stream);
    EXPECT_TRUE(cube.right(stream));
  }
};

TEST_P(Graphs, TakeTheFirstCall) {
  for (const cudaStreamCaptureMode mode : kCaptureModes) {
    const CreatedStream stream;
    const Cube cube(scale_.small, 7);
    const ExecutableGraph graph = graph_of(cube, stream, mode);
    replay(graph, stream, cube);
    replay(graph, stream, cube);
  }
}

TEST_P(Graphs, AreReplayedAfterLargerCalls) {
  const CreatedStream stream;
  const Cube small(scale_.small, 1), large(scale_.large, 2), another(scale_.small, 3);
  ASSERT_TRUE(another.multiply(stream, GetParam()));
  const ExecutableGraph graph = graph_of(small, stream);
  ASSERT_TRUE(large.multiply(stream, GetParam()));
  replay(graph, stream, small);
  EXPECT_TRUE(large.right(stream));
  EXPECT_TRUE(another.right(stream));
}

TEST_P(Graphs, RunBesideEachOtherAndCalls) {
  const CreatedStream stream, others[2];
  const Cube cubes[3]{{scale_.large, 1}, {scale_.large, 2}, {scale_.large, 3}};
  const ExecutableGraph graphs[2]{graph_of(cubes[0], stream), graph_of(cubes[1], stream)};
  for (int round = 0; round < scale_.rounds; ++round) {
    for (const Cube& cube : cubes) cube.forget();
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 2; ++i) graphs[i].launch(others[i]);
    ASSERT_TRUE(cubes[2].multiply(stream, GetParam()));
    EXPECT_TRUE(cubes[0].right(others[0]));
    EXPECT_TRUE(cubes[1].right(others[1]));
    EXPECT_TRUE(cubes[2].right(stream));
  }
}

INSTANTIATE_TEST_SUITE_P(All, Graphs, kWays,
                         [](const auto& param) { return std::string(param.param); });

TEST_F(OnDevice, ShortLivedStreamsKeepNoMemory) {
  const Cube cube(scale_.small, 9);
  const auto use = [&] {
    const CreatedStream stream;
    ASSERT_TRUE(cube.multiply(stream, "fp16x3"));
    EXPECT_TRUE(cube.right(stream));
  };
  const auto free_bytes = [] {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
    return free;
  };
  for (int i = 0; i < 2; ++i) use();
  const std::size_t before = free_bytes();
  for (int i = 0; i < 40; ++i) use();
  EXPECT_GE(free_bytes() + scale_.slack, before);
}

}  // namespace
}  // namespace ladder
