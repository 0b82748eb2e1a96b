// SPDX-License-Identifier: Apache-2.0
// Device memory shared between two processes (cudaIpc): kernels of both change it. The second
// process is forked before either uses CUDA.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "require.hpp"

namespace {

constexpr int kBuffers = 3;
constexpr int kCounts[kBuffers] = {100000, 7, 5};  // the last two share a page of the host

__global__ void add(int* values, int n, int what) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < n) values[i] += what;
}

constexpr int kSignal = 1000;

__global__ void wait_for_signal(const volatile int* value) {
  while (*value < kSignal) {
  }
}

void add_to(int* values, int n, int what) {
  add<<<(n + 127) / 128, 128>>>(values, n, what);
  require(cudaDeviceSynchronize(), "add");
}

void send(int to, const void* from, std::size_t bytes) {
  require(write(to, from, bytes) == static_cast<ssize_t>(bytes), "a pipe");
}

void receive(int from, void* to, std::size_t bytes) {
  require(::read(from, to, bytes) == static_cast<ssize_t>(bytes), "a pipe");
}

int other_process(int in, int out) {
  cudaIpcMemHandle_t handles[kBuffers];
  receive(in, handles, sizeof handles);
  int *buffers[kBuffers] = {}, *again = nullptr;
  for (int b = 0; b < kBuffers; ++b) {
    void* opened = nullptr;
    require(cudaIpcOpenMemHandle(&opened, handles[b], cudaIpcMemLazyEnablePeerAccess),
            "cudaIpcOpenMemHandle");
    buffers[b] = static_cast<int*>(opened);
    add_to(buffers[b], kCounts[b], 10 * b + 1);
  }
  char ready = 1;
  send(out, &ready, 1);
  wait_for_signal<<<1, 1>>>(buffers[1]);
  require(cudaDeviceSynchronize(), "a kernel of the first process ends this one's wait");
  require(cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handles[0],
                               cudaIpcMemLazyEnablePeerAccess),
          "a handle opened again");
  require(again == buffers[0], "its pointer");
  cudaPointerAttributes attributes{};
  require(cudaPointerGetAttributes(&attributes, again), "cudaPointerGetAttributes");
  require(attributes.type == cudaMemoryTypeDevice, "its kind");
  require(cudaIpcCloseMemHandle(again), "cudaIpcCloseMemHandle");
  add_to(buffers[0], kCounts[0], 1);  // still open
  for (int* buffer : buffers) require(cudaIpcCloseMemHandle(buffer), "cudaIpcCloseMemHandle");
  require(cudaIpcCloseMemHandle(buffers[0]), cudaErrorInvalidValue, "closed twice");
  cudaGetLastError();
  cudaIpcMemHandle_t wrong{};
  void* nothing = nullptr;
  require(cudaIpcOpenMemHandle(&nothing, wrong, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess,
          "what is no handle");
  char done = 1;
  send(out, &done, 1);
  return 0;
}

}  // namespace

int main() {
  int there[2], back[2];
  require(pipe(there) == 0 && pipe(back) == 0, "pipe");
  const pid_t child = fork();
  require(child >= 0, "fork");
  if (child == 0) return other_process(there[0], back[1]);
  close(back[1]);  // so that a read ends when the other process does
  int* buffers[kBuffers];
  cudaIpcMemHandle_t handles[kBuffers];
  for (int b = 0; b < kBuffers; ++b) {
    require(cudaMalloc(&buffers[b], kCounts[b] * sizeof(int)), "cudaMalloc");
    std::vector<int> values(kCounts[b]);
    for (int i = 0; i < kCounts[b]; ++i) values[i] = i;
    require(
        cudaMemcpy(buffers[b], values.data(), values.size() * sizeof(int), cudaMemcpyHostToDevice),
        "copy");
    require(cudaIpcGetMemHandle(&handles[b], buffers[b]), "cudaIpcGetMemHandle");
    add_to(buffers[b], kCounts[b], 100);
  }
  void* own = nullptr;
  require(cudaIpcOpenMemHandle(&own, handles[0], cudaIpcMemLazyEnablePeerAccess),
          cudaErrorDeviceUninitialized, "a process's own handle");
  cudaGetLastError();
  send(there[1], handles, sizeof handles);
  char done = 0;
  receive(back[0], &done, 1);
  usleep(50000);  // until the other process waits
  add_to(buffers[1], 1, kSignal);
  receive(back[0], &done, 1);
  for (int b = 0; b < kBuffers; ++b) {
    std::vector<int> values(kCounts[b]);
    require(
        cudaMemcpy(values.data(), buffers[b], values.size() * sizeof(int), cudaMemcpyDeviceToHost),
        "results");
    if (b == 1) values[0] -= kSignal;
    for (int i = 0; i < kCounts[b]; ++i)
      require(values[i] == i + 100 + 10 * b + 1 + (b == 0 ? 1 : 0), "what both processes added");
    require(cudaFree(buffers[b]), "cudaFree");
  }
  int* fresh = nullptr;
  require(cudaMalloc(&fresh, kCounts[0] * sizeof(int)), "cudaMalloc");
  require(cudaFree(fresh), "cudaFree");
  int status = -1;
  require(waitpid(child, &status, 0) == child && status == 0, "the other process");
}
