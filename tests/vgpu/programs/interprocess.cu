// SPDX-License-Identifier: Apache-2.0
// Device memory and events shared between two processes (cudaIpc): kernels of both change the
// memory. The second process is forked before either uses CUDA.
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "device_array.hpp"

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
  require(cudaDeviceSynchronize());
}

void send(int to, const void* from, std::size_t bytes) {
  require(write(to, from, bytes) == static_cast<ssize_t>(bytes), "a pipe");
}

void receive(int from, void* to, std::size_t bytes) {
  require(::read(from, to, bytes) == static_cast<ssize_t>(bytes), "a pipe");
}

__global__ void wait_for_host(const volatile int* value) {
  while (*value == 0) {
  }
}

// The first process records the event behind a kernel that it holds up. A stream, a query and a
// synchronisation of this process wait for that kernel, and so does the first process for what this
// one records.
void wait_for_event(int in, int out) {
  cudaIpcEventHandle_t handle;
  receive(in, &handle, sizeof handle);
  cudaEvent_t event = nullptr;
  require(cudaIpcOpenEventHandle(&event, handle));
  require(cudaEventQuery(event), cudaErrorNotReady, "work of the first process is under way");
  cudaGetLastError();
  int* value = nullptr;
  require(cudaMallocManaged(&value, sizeof *value));
  *value = 0;
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream));
  require(cudaStreamWaitEvent(stream, event, 0));
  add<<<1, 1, 0, stream>>>(value, 1, 1);
  usleep(20000);
  require(cudaStreamQuery(stream), cudaErrorNotReady, "the stream waits");
  cudaGetLastError();
  char go = 1;
  send(out, &go, 1);
  require(cudaEventSynchronize(event));
  require(cudaStreamSynchronize(stream));
  require(*value == 1, "the kernel behind the event");
  require(cudaEventQuery(event), "the event is over");
  require(cudaEventRecord(event, stream), "recorded by the other process");
  require(cudaEventSynchronize(event), "that is over");
  send(out, &go, 1);
  require(cudaEventDestroy(event));
  require(cudaStreamDestroy(stream));
  require(cudaFree(value));
  cudaIpcEventHandle_t wrong{};
  require(cudaIpcOpenEventHandle(&event, wrong) != cudaSuccess, "what is no handle");
  cudaGetLastError();
}

void record_event(int in, int out) {
  cudaEvent_t event = nullptr, plain = nullptr;
  require(cudaEventCreateWithFlags(&event, cudaEventInterprocess), cudaErrorInvalidValue,
          "an event of several processes has no time");
  require(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
  require(cudaEventCreate(&plain));
  cudaIpcEventHandle_t handle;
  require(cudaIpcGetEventHandle(&handle, plain) != cudaSuccess, "an event of one process");
  require(cudaIpcGetEventHandle(&handle, event));
  cudaEvent_t own = nullptr;
  require(cudaIpcOpenEventHandle(&own, handle) != cudaSuccess, "a process's own handle");
  cudaGetLastError();
  int* hold = nullptr;
  require(cudaMallocManaged(&hold, sizeof *hold));
  *hold = 0;
  wait_for_host<<<1, 1>>>(hold);
  require(cudaEventRecord(event));
  send(out, &handle, sizeof handle);
  char go = 0;
  receive(in, &go, 1);
  require(cudaEventQuery(event), cudaErrorNotReady, "the kernel is held up");
  cudaGetLastError();
  *static_cast<volatile int*>(hold) = 1;
  require(cudaEventSynchronize(event));
  receive(in, &go, 1);
  require(cudaEventQuery(event), "what the other process recorded is over");
  for (cudaEvent_t one : {event, plain}) require(cudaEventDestroy(one));
  require(cudaFree(hold));
}

int other_process(int in, int out) {
  cudaIpcMemHandle_t handles[kBuffers];
  receive(in, handles, sizeof handles);
  int *buffers[kBuffers] = {}, *again = nullptr;
  for (int b = 0; b < kBuffers; ++b) {
    void* opened = nullptr;
    require(cudaIpcOpenMemHandle(&opened, handles[b], cudaIpcMemLazyEnablePeerAccess));
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
  require(cudaPointerGetAttributes(&attributes, again));
  require(attributes.type == cudaMemoryTypeDevice, "its kind");
  require(cudaIpcCloseMemHandle(again));
  add_to(buffers[0], kCounts[0], 1);  // still open
  for (int* buffer : buffers) require(cudaIpcCloseMemHandle(buffer));
  require(cudaIpcCloseMemHandle(buffers[0]), cudaErrorInvalidValue, "closed twice");
  cudaGetLastError();
  cudaIpcMemHandle_t wrong{};
  void* nothing = nullptr;
  require(cudaIpcOpenMemHandle(&nothing, wrong, cudaIpcMemLazyEnablePeerAccess) != cudaSuccess,
          "what is no handle");
  char done = 1;
  send(out, &done, 1);
  wait_for_event(in, out);
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
    std::vector<int> values(kCounts[b]);
    for (int i = 0; i < kCounts[b]; ++i) values[i] = i;
    buffers[b] = upload(values);
    require(cudaIpcGetMemHandle(&handles[b], buffers[b]));
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
    std::vector<int> values = download(buffers[b], kCounts[b]);
    if (b == 1) values[0] -= kSignal;
    for (int i = 0; i < kCounts[b]; ++i)
      require(values[i] == i + 100 + 10 * b + 1 + (b == 0 ? 1 : 0), "what both processes added");
    require(cudaFree(buffers[b]));
  }
  record_event(back[0], there[1]);
  int* fresh = nullptr;
  require(cudaMalloc(&fresh, kCounts[0] * sizeof(int)));
  require(cudaFree(fresh));
  int status = -1;
  require(waitpid(child, &status, 0) == child && status == 0, "the other process");
}
