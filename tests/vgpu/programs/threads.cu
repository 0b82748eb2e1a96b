// SPDX-License-Identifier: Apache-2.0
// Several host threads use the runtime at the same time; errors and the stream cudaStreamPerThread
// are per thread.
#include <set>
#include <thread>
#include <vector>

#include "require.hpp"

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }

int main() {
  std::vector<std::thread> threads;
  unsigned long long legacy = 0, ids[4];
  cudaGraph_t graph;
  require(cudaStreamGetId(nullptr, &legacy));
  require(cudaStreamBeginCapture(cudaStreamPerThread, cudaStreamCaptureModeRelaxed),
          "this thread's capture");
  std::thread([] {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
    require(cudaStreamIsCapturing(cudaStreamPerThread, &status));
    require(status == cudaStreamCaptureStatusNone, "another thread's stream is not captured");
    require(cudaStreamIsCapturing(cudaStreamLegacy, &status), cudaErrorStreamCaptureImplicit,
            "the legacy stream waits for captured ones");
  }).join();
  require(cudaStreamEndCapture(cudaStreamPerThread, &graph), "the question left the capture whole");
  require(cudaGraphDestroy(graph));
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t, &ids] {
      require(cudaStreamGetId(cudaStreamPerThread, &ids[t]));
      for (int round = 0; round < 50; ++round) {
        int *data, host[64];
        require(cudaMalloc(&data, sizeof host));
        require(cudaMemset(data, 0, sizeof host));
        add<<<1, 64>>>(data, t);
        add<<<1, 64>>>(data, round);
        require(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost));
        for (const int value : host) require(value == t + round, "an element");
        if (t == 0) {
          require(cudaFree(host), cudaErrorInvalidValue, "a host pointer is refused");
          require(cudaPeekAtLastError(), cudaErrorInvalidValue, "this thread's last error");
        } else {
          require(cudaPeekAtLastError(), "another thread's error");
        }
        require(cudaFree(data));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  require(std::set{legacy, ids[0], ids[1], ids[2], ids[3]}.size() == 5,
          "every stream has an id of its own");
}
