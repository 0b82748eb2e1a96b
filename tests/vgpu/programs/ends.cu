// SPDX-License-Identifier: Apache-2.0
// How programs end, and which errors they get, while work is queued that they do not wait for. The
// argument names the case.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <thread>

#include "require.hpp"

__global__ void wait_for(volatile int* flag) {
  while (*flag == 0) {
  }
}
__global__ void print(int value) { printf("kernel %d\n", value); }
__global__ void fault(int* nothing) { *nothing = 1; }
__global__ void endless(int* out) {
  for (unsigned i = 1; i != 0; i += 2) out[i % 2] = static_cast<int>(i);
}
__global__ void nothing() {}

static int* flag() {
  int* pointer;
  require(cudaHostAlloc(&pointer, sizeof(int), cudaHostAllocMapped));
  *pointer = 0;
  return pointer;
}

static int* volatile raised = nullptr;
static void raise_flag(int) { *static_cast<volatile int*>(raised) = 1; }

static void CUDART_CB end_process(void*) { std::exit(3); }
static void CUDART_CB count(void* calls) { ++*static_cast<int*>(calls); }
static void CUDART_CB take(cudaStream_t, cudaError_t status, void* into) {
  *static_cast<cudaError_t*>(into) = status;
}

// The error of a kernel is seen by the first call that synchronises with it, and by no earlier one.
static void see_error_later() {
  int* const held = flag();
  void* memory;
  int calls = 0;
  cudaError_t status = cudaSuccess;
  wait_for<<<1, 1>>>(held);
  fault<<<1, 1>>>(nullptr);
  print<<<1, 1>>>(1);
  require(cudaLaunchHostFunc(nullptr, count, &calls));
  require(cudaStreamAddCallback(nullptr, take, &status, 0));
  require(cudaGetLastError(), "nothing has failed yet");
  *static_cast<volatile int*>(held) = 1;
  require(cudaMalloc(&memory, 4), "a call that does not synchronise");
  require(cudaDeviceSynchronize(), cudaErrorIllegalAddress, "the error");
  require(cudaMalloc(&memory, 4), cudaErrorIllegalAddress, "it is sticky");
  require(calls == 0, "no host function runs after it");
  require(status == cudaErrorIllegalAddress, "but a callback, with the error");
  require(cudaStreamQuery(nullptr), cudaErrorIllegalAddress, "a question");
  require(cudaDeviceReset());
}

static void fork_meanwhile() {
  int* const held = flag();
  wait_for<<<1, 1>>>(held);
  const pid_t child = fork();
  if (child == 0) {
    void* memory;
    const bool refused = cudaMalloc(&memory, 4) == cudaErrorInitializationError &&
                         cudaDeviceSynchronize() == cudaErrorInitializationError;
    std::exit(refused ? 0 : 1);
  }
  *static_cast<volatile int*>(held) = 1;
  require(cudaDeviceSynchronize(), "the kernel of the parent");
  int status = 1;
  require(waitpid(child, &status, 0) == child && status == 0, "the child's calls are refused");
}

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  const auto named = [&](const char* name) { return std::strcmp(argv[1], name) == 0; };
  if (named("queued")) skip_on_hardware();  // where text that is not waited for is lost
  if (named("queued") || named("fault")) {
    for (int i = 0; i < 3; ++i) print<<<1, 1>>>(i);
    if (named("fault")) fault<<<1, 1>>>(nullptr);
    std::printf("main\n");
  }
  if (named("waiting")) {
    wait_for<<<1, 1>>>(flag());
    fault<<<1, 1>>>(nullptr);  // never runs
  }
  if (named("thread")) {
    std::thread other([] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      std::exit(4);
    });
    wait_for<<<1, 1>>>(flag());
    cudaDeviceSynchronize();
    for (;;) pause();
  }
  if (named("function")) {
    require(cudaLaunchHostFunc(nullptr, end_process, nullptr));
    cudaDeviceSynchronize();
    for (;;) pause();
  }
  if (named("later")) see_error_later();
  if (named("blocking")) {
    print<<<1, 1>>>(0);
    std::printf("main\n");
    fault<<<1, 1>>>(nullptr);
    require(cudaGetLastError(), cudaErrorIllegalAddress, "the launch's own error");
  }
  if (named("fork")) fork_meanwhile();
  if (named("signal")) {
    raised = flag();
    std::signal(SIGALRM, raise_flag);
    wait_for<<<1, 1>>>(raised);
    alarm(1);
    require(cudaDeviceSynchronize(), "a signal's function ends the kernel's wait");
  }
  if (named("endless") || named("interrupted")) {
    int* out;
    require(cudaMalloc(&out, 2 * sizeof(int)));
    endless<<<1, 1>>>(out);
    if (named("interrupted")) std::raise(SIGINT);
    require(cudaDeviceSynchronize(), cudaErrorLaunchTimeout, "the kernel is ended");
  }
  if (named("deadline")) {
    wait_for<<<1, 1>>>(flag());
    std::thread([] {
      require(cudaDeviceSynchronize(), cudaErrorLaunchTimeout, "the kernel is ended");
    }).join();
  }
  if (named("grid")) {
    nothing<<<0x7fffffff, 1>>>();
    require(cudaGetLastError(), "the largest grid is launched");
    require(cudaDeviceSynchronize(), cudaErrorLaunchTimeout, "it takes long");
  }
}
