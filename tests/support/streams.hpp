// SPDX-License-Identifier: Apache-2.0
// Streams, and graphs of what is enqueued on them, that live as long as their objects.
#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

namespace ladder::test {

inline constexpr cudaStreamCaptureMode kCaptureModes[] = {
    cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal, cudaStreamCaptureModeRelaxed};

class CreatedStream {
 public:
  explicit CreatedStream(unsigned flags = cudaStreamDefault) {
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, flags), cudaSuccess);
  }
  ~CreatedStream() { EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess); }
  CreatedStream(const CreatedStream&) = delete;
  CreatedStream& operator=(const CreatedStream&) = delete;
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

// The graph of what enqueue() enqueues on the stream. The caller destroys it.
template <class Enqueue>
cudaGraph_t captured(cudaStream_t stream, cudaStreamCaptureMode mode, Enqueue enqueue) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamBeginCapture(stream, mode), cudaSuccess);
  enqueue();
  EXPECT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
  return graph;
}

class ExecutableGraph {
 public:
  template <class Enqueue>
  ExecutableGraph(cudaStream_t stream, cudaStreamCaptureMode mode, Enqueue enqueue) {
    cudaGraph_t const graph = captured(stream, mode, enqueue);
    EXPECT_EQ(cudaGraphInstantiate(&exec_, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  }
  ~ExecutableGraph() { EXPECT_EQ(cudaGraphExecDestroy(exec_), cudaSuccess); }
  ExecutableGraph(const ExecutableGraph&) = delete;
  ExecutableGraph& operator=(const ExecutableGraph&) = delete;
  void launch(cudaStream_t stream) const { ASSERT_EQ(cudaGraphLaunch(exec_, stream), cudaSuccess); }
  void replay(cudaStream_t stream) const {  // and waits
    launch(stream);
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  }

 private:
  cudaGraphExec_t exec_ = nullptr;
};

}  // namespace ladder::test
