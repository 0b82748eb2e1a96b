// SPDX-License-Identifier: Apache-2.0
// Calls in stream captures: the first call of a new handle, in every capture mode and precision,
// replayed while the operands change.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "library/support.hpp"
#include "support/streams.hpp"

namespace ladder::test {
namespace {

void fill(Example& x, unsigned seed) {
  x.a = integers(static_cast<std::int64_t>(x.a.size()), seed);
  x.b = integers(static_cast<std::int64_t>(x.b.size()), seed + 1);
  x.c = integers(static_cast<std::int64_t>(x.c.size()), seed + 2);
  const auto copy = [](const auto& to, const std::vector<float>& from) {
    ASSERT_EQ(cudaMemcpy(to.get(), from.data(), from.size() * 4, cudaMemcpyHostToDevice),
              cudaSuccess);
  };
  copy(x.a_there, x.a);
  copy(x.b_there, x.b);
  copy(x.c_there, x.c);
}

class Captures : public WithDevice, public testing::WithParamInterface<ladder_precision> {
 protected:
  void SetUp() override {
    WithDevice::SetUp();
    if (IsSkipped()) return;
    if (!computes(GetParam())) GTEST_SKIP() << "not computed here";
  }
};

ExecutableGraph graph_of(const Handle& handle, const Example& x, cudaStream_t stream,
                         cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  return {stream, mode, [&] { EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error(); }};
}

// Replays the graph with other operands.
void expect_replays(const ExecutableGraph& graph, cudaStream_t stream, Example& x, int count) {
  for (int replay = 0; replay < count; ++replay) {
    fill(x, 10 * static_cast<unsigned>(replay));
    graph.replay(stream);
    EXPECT_EQ(x.result(), x.expected()) << replay;
  }
}

TEST_P(Captures, TheFirstCallOfANewHandle) {
  for (const cudaStreamCaptureMode mode : kCaptureModes) {
    const CreatedStream stream;
    const Handle handle;
    ASSERT_EQ(ladder_set_stream(handle, stream), LADDER_STATUS_OK);
    Example x({72, 136, 80}, LADDER_COL_MAJOR);
    x.call.precision = GetParam();
    const int before = counted().all();
    const ExecutableGraph graph = graph_of(handle, x, stream, mode);
    EXPECT_EQ(counted().all(), before) << "a call neither allocates nor waits";
    expect_replays(graph, stream, x, 5);
  }
}

// The scalars are read by the graph: they change between its replays.
TEST_P(Captures, ScalarsOnTheDevice) {
  const CreatedStream stream;
  const Handle handle;
  ASSERT_EQ(ladder_set_stream(handle, stream), LADDER_STATUS_OK);
  ASSERT_EQ(ladder_set_pointer_mode(handle, LADDER_POINTER_MODE_DEVICE), LADDER_STATUS_OK);
  Example x({40, 33, 24});
  x.call.precision = GetParam();
  const auto scalars = upload(std::vector<float>{1, 1});
  x.call.alpha = scalars.get();
  x.call.beta = scalars.get() + 1;
  const ExecutableGraph graph = graph_of(handle, x, stream);
  for (const float beta : {0.0F, 2.0F, -1.0F}) {
    x.alpha = 3 - beta;
    x.beta = beta;
    const float both[] = {x.alpha, x.beta};
    ASSERT_EQ(cudaMemcpy(scalars.get(), both, sizeof both, cudaMemcpyHostToDevice), cudaSuccess);
    x.reset();
    graph.replay(stream);
    EXPECT_EQ(x.result(), x.expected()) << beta;
  }
}

// The handle is created, and given its stream, while that is being captured: the call takes memory
// that the graph owns.
TEST_P(Captures, AHandleThatIsCreatedInACapture) {
  const CreatedStream stream;
  Example x({40, 264, 80});
  x.call.precision = GetParam();
  std::optional<Handle> handle;  // destroyed when the capture has ended
  const ExecutableGraph graph(stream, cudaStreamCaptureModeGlobal, [&] {
    handle.emplace();
    ASSERT_EQ(ladder_set_stream(*handle, stream), LADDER_STATUS_OK) << ladder_last_error();
    EXPECT_EQ(x.run(*handle), LADDER_STATUS_OK) << ladder_last_error();
  });
  handle.reset();
  expect_replays(graph, stream, x, 2);
}

TEST_P(Captures, InAUsersWorkspace) {
  const CreatedStream stream;
  const Handle handle;
  ASSERT_EQ(ladder_set_stream(handle, stream), LADDER_STATUS_OK);
  Example x({72, 136, 80});
  x.call.precision = GetParam();
  size_t bytes = 0;
  ASSERT_EQ(ladder_workspace_bytes(handle, &x.call, &bytes), LADDER_STATUS_OK);
  const auto memory = upload(std::vector<unsigned char>(bytes + 1, 0xFF));
  if (bytes > 0) {
    ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes), LADDER_STATUS_OK);
  }
  const ExecutableGraph graph = graph_of(handle, x, stream);
  for (unsigned replay = 0; replay < 2; ++replay) {
    fill(x, replay);
    ASSERT_EQ(cudaMemset(memory.get(), 0xFF, bytes + 1), cudaSuccess);  // used by others meanwhile
    graph.replay(stream);
    EXPECT_EQ(x.result(), x.expected()) << replay;
  }
}

INSTANTIATE_TEST_SUITE_P(All, Captures, testing::ValuesIn(kPrecisions), [](const auto& param) {
  return std::string(ladder_precision_string(param.param));
});

}  // namespace
}  // namespace ladder::test
