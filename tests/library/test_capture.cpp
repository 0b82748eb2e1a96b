// SPDX-License-Identifier: Apache-2.0
// Calls in stream captures: the first call of a new handle, in every capture mode and precision,
// replayed while the operands change.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "library/support.hpp"

namespace ladder::test {
namespace {

struct CreatedStream {
  CreatedStream() { EXPECT_EQ(cudaStreamCreate(&at), cudaSuccess); }
  ~CreatedStream() { EXPECT_EQ(cudaStreamDestroy(at), cudaSuccess); }
  CreatedStream(const CreatedStream&) = delete;
  CreatedStream& operator=(const CreatedStream&) = delete;
  cudaStream_t at = nullptr;
};

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
  static constexpr int kReplays = 5;
};

cudaGraphExec_t captured(const Handle& handle, const Example& x, cudaStream_t stream,
                         cudaStreamCaptureMode mode) {
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  return exec;
}

TEST_P(Captures, TheFirstCallOfANewHandle) {
  for (const auto mode : {cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
                          cudaStreamCaptureModeRelaxed}) {
    const CreatedStream stream;
    const Handle handle;
    ASSERT_EQ(ladder_set_stream(handle, stream.at), LADDER_STATUS_OK);
    Example x({72, 136, 80}, LADDER_COL_MAJOR);
    x.call.precision = GetParam();
    const int before = counted().all();
    cudaGraphExec_t const exec = captured(handle, x, stream.at, mode);
    EXPECT_EQ(counted().all(), before) << "a call neither allocates nor waits";
    for (unsigned replay = 0; replay < kReplays; ++replay) {
      fill(x, 10 * replay);
      ASSERT_EQ(cudaGraphLaunch(exec, stream.at), cudaSuccess);
      ASSERT_EQ(cudaStreamSynchronize(stream.at), cudaSuccess);
      EXPECT_EQ(x.result(), x.expected()) << replay;
    }
    EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  }
}

// The scalars are read by the graph: they change between its replays.
TEST_P(Captures, ScalarsOnTheDevice) {
  const CreatedStream stream;
  const Handle handle;
  ASSERT_EQ(ladder_set_stream(handle, stream.at), LADDER_STATUS_OK);
  ASSERT_EQ(ladder_set_pointer_mode(handle, LADDER_POINTER_MODE_DEVICE), LADDER_STATUS_OK);
  Example x({40, 33, 24});
  x.call.precision = GetParam();
  const auto scalars = upload(std::vector<float>{1, 1});
  x.call.alpha = scalars.get();
  x.call.beta = scalars.get() + 1;
  cudaGraphExec_t const exec = captured(handle, x, stream.at, cudaStreamCaptureModeGlobal);
  for (const float beta : {0.0F, 2.0F, -1.0F}) {
    x.alpha = 3 - beta;
    x.beta = beta;
    const float both[] = {x.alpha, x.beta};
    ASSERT_EQ(cudaMemcpy(scalars.get(), both, sizeof both, cudaMemcpyHostToDevice), cudaSuccess);
    x.reset();
    ASSERT_EQ(cudaGraphLaunch(exec, stream.at), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.at), cudaSuccess);
    EXPECT_EQ(x.result(), x.expected()) << beta;
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// The stream is named only when it is being captured, and the handle itself is made then, too: the
// call takes memory that the graph owns.
TEST_P(Captures, AHandleThatIsCreatedInACapture) {
  const CreatedStream stream;
  Example x({40, 264, 80});
  x.call.precision = GetParam();
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  {
    ASSERT_EQ(cudaStreamBeginCapture(stream.at, cudaStreamCaptureModeGlobal), cudaSuccess);
    const Handle handle;
    ASSERT_EQ(ladder_set_stream(handle, stream.at), LADDER_STATUS_OK) << ladder_last_error();
    EXPECT_EQ(x.run(handle), LADDER_STATUS_OK) << ladder_last_error();
    ASSERT_EQ(cudaStreamEndCapture(stream.at, &graph), cudaSuccess);
  }
  ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
  for (unsigned replay = 0; replay < 2; ++replay) {
    fill(x, 7 * replay);
    ASSERT_EQ(cudaGraphLaunch(exec, stream.at), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.at), cudaSuccess);
    EXPECT_EQ(x.result(), x.expected());
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
}

TEST_P(Captures, InAUsersWorkspace) {
  const CreatedStream stream;
  const Handle handle;
  ASSERT_EQ(ladder_set_stream(handle, stream.at), LADDER_STATUS_OK);
  Example x({72, 136, 80});
  x.call.precision = GetParam();
  size_t bytes = 0;
  ASSERT_EQ(ladder_workspace_bytes(handle, &x.call, &bytes), LADDER_STATUS_OK);
  const auto memory = upload(std::vector<unsigned char>(bytes + 1, 0xFF));
  if (bytes > 0) {
    ASSERT_EQ(ladder_set_workspace(handle, memory.get(), bytes), LADDER_STATUS_OK);
  }
  cudaGraphExec_t const exec = captured(handle, x, stream.at, cudaStreamCaptureModeGlobal);
  for (unsigned replay = 0; replay < 2; ++replay) {
    fill(x, replay);
    ASSERT_EQ(cudaMemset(memory.get(), 0xFF, bytes + 1), cudaSuccess);  // used by others meanwhile
    ASSERT_EQ(cudaGraphLaunch(exec, stream.at), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream.at), cudaSuccess);
    EXPECT_EQ(x.result(), x.expected()) << replay;
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

INSTANTIATE_TEST_SUITE_P(All, Captures, testing::ValuesIn(kPrecisions), [](const auto& param) {
  return std::string(ladder_precision_string(param.param));
});

}  // namespace
}  // namespace ladder::test
