// SPDX-License-Identifier: Apache-2.0
// Built with --default-stream per-thread: each host thread has a default stream of its own.
#include <thread>

#include "require.hpp"

__global__ void wait_for(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  *out = 1;
}
__global__ void add(int* out, int value) { *out += value; }

int main() {
  int *flag, *out, *own, host = 0;
  require(cudaHostAlloc(&flag, sizeof(int), cudaHostAllocMapped));
  *flag = 0;
  require(cudaMalloc(&out, sizeof(int)));
  require(cudaMalloc(&own, sizeof(int)));
  cudaFuncAttributes attributes;  // else a first launch may wait for the kernels that run
  require(cudaFuncGetAttributes(&attributes, wait_for));
  require(cudaFuncGetAttributes(&attributes, add));
  wait_for<<<1, 1>>>(flag, out);
  require(cudaStreamQuery(nullptr), cudaErrorNotReady, "this thread's stream");
  std::thread([&] {
    require(cudaStreamSynchronize(nullptr), "another thread's stream");
    require(cudaMemset(own, 0, sizeof(int)));
    add<<<1, 1>>>(own, 5);
    require(cudaMemcpy(&host, own, sizeof(int), cudaMemcpyDeviceToHost));
  }).join();
  require(host == 5, "the other thread's work does not follow this one's");
  *static_cast<volatile int*>(flag) = 1;
  require(cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost));
  require(host == 1, "the copy follows the kernel");

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  require(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), "the stream is captured");
  add<<<1, 1>>>(out, 2);
  require(cudaStreamEndCapture(nullptr, &graph));
  require(cudaGraphInstantiate(&exec, graph, 0));
  require(cudaGraphLaunch(exec, nullptr));
  require(cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost));
  require(host == 3, "the graph's sum");

  require(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), "the stream is captured");
  require(cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost),
          cudaErrorStreamCaptureUnsupported, "a copy that waits is no node");
  require(cudaStreamEndCapture(nullptr, &graph), cudaErrorStreamCaptureInvalidated,
          "the capture is invalid");
}
