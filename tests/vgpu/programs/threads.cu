// SPDX-License-Identifier: Apache-2.0
// Several host threads use the runtime at once; errors are each thread's own.
#include <thread>
#include <vector>

#include "require.hpp"

__global__ void add(int* data, int value) { data[threadIdx.x] += value; }

int main() {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int round = 0; round < 50; ++round) {
        int *data, host[64];
        require(cudaMalloc(&data, sizeof host), "cudaMalloc");
        require(cudaMemset(data, 0, sizeof host), "cudaMemset");
        add<<<1, 64>>>(data, t);
        add<<<1, 64>>>(data, round);
        require(cudaMemcpy(host, data, sizeof host, cudaMemcpyDeviceToHost), "cudaMemcpy");
        for (const int value : host) require(value == t + round, "an element");
        if (t == 0) {
          require(cudaFree(host) == cudaErrorInvalidValue, "a host pointer is refused");
          require(cudaPeekAtLastError() == cudaErrorInvalidValue, "this thread's last error");
        } else {
          require(cudaPeekAtLastError(), "another thread's error");
        }
        require(cudaFree(data), "cudaFree");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}
