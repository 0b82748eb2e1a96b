// SPDX-License-Identifier: Apache-2.0
// Work that the program does not wait for: the host and kernels wait for each other, streams follow
// events, copies follow kernels, and questions are answered with cudaErrorNotReady meanwhile.
// While a kernel waits for the host, a valid program calls nothing that may wait for the device
// (CUDA Programming Guide, "Lazy Loading" and "Implicit Synchronization"): it loads its kernels and
// allocates memory first, and has a hardware queue for every stream in use.
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <thread>
#include <vector>

#include "device_array.hpp"

__global__ void wait_for(volatile int* flag, int* out, int value) {
  while (*flag == 0) {
  }
  *out = value;
}

// Answers each number i with i + step.
__global__ void exchange(volatile int* answers, volatile int* numbers, int rounds, int step) {
  for (int i = 1; i <= rounds; ++i) {
    while (*numbers != i) {
    }
    *answers = i + step;
  }
}

__global__ void store(volatile int* at, int value) { *at = value; }
__global__ void add(int* at, int value) { *at += value; }

// Follows a pointer that the host sets.
__global__ void follow(int* volatile* pointer, int* out) {
  while (*pointer == nullptr) {
  }
  *out = **pointer;
}

static int* mapped(int count = 1) {
  int* pointer;
  require(cudaHostAlloc(&pointer, count * sizeof(int), cudaHostAllocMapped));
  std::memset(pointer, 0, count * sizeof(int));
  return pointer;
}

static int* on_device(int value = 0) { return upload<int>({value}); }
static int value_of(const int* pointer) { return download(pointer, 1)[0]; }

// A kernel's first launch may wait for the kernels that run until its code is loaded.
static void load_kernels() {
  cudaFuncAttributes attributes;
  require(cudaFuncGetAttributes(&attributes, wait_for));
  require(cudaFuncGetAttributes(&attributes, exchange));
  require(cudaFuncGetAttributes(&attributes, store));
  require(cudaFuncGetAttributes(&attributes, add));
  require(cudaFuncGetAttributes(&attributes, follow));
  // Fills and copies may be kernels of the driver.
  int *one = on_device(), *two = on_device();
  require(cudaMemset(one, 0, sizeof(int)));
  require(cudaMemcpy(two, one, sizeof(int), cudaMemcpyDeviceToDevice));
  add<<<1, 1, 0, cudaStreamPerThread>>>(one, 1);
  require(cudaDeviceSynchronize(), "the thread's stream");
}

static void set(int* flag, int value) {
  reinterpret_cast<std::atomic<int>*>(flag)->store(value, std::memory_order_release);
}
static int get(int* flag) {
  return reinterpret_cast<std::atomic<int>*>(flag)->load(std::memory_order_acquire);
}

class Stream {
 public:
  explicit Stream(unsigned flags) { require(cudaStreamCreateWithFlags(&stream_, flags)); }
  ~Stream() { destroy(); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  operator cudaStream_t() const { return stream_; }
  void destroy() {
    if (stream_ != nullptr) require(cudaStreamDestroy(stream_));
    stream_ = nullptr;
  }

 private:
  cudaStream_t stream_ = nullptr;
};

static void host_and_kernel() {
  int *flag = mapped(), *out = on_device();
  wait_for<<<1, 1>>>(flag, out, 5);
  require(cudaGetLastError());
  require(cudaStreamQuery(nullptr), cudaErrorNotReady, "the stream is not ready");
  require(cudaGetLastError(), "not being ready is no error");
  set(flag, 1);
  require(cudaDeviceSynchronize());
  require(cudaStreamQuery(nullptr), "the stream is ready");
  require(value_of(out) == 5, "what the kernel wrote");
}

// The host reads managed memory while a kernel writes it.
static void managed_memory() {
  int concurrent = 0;
  require(cudaDeviceGetAttribute(&concurrent, cudaDevAttrConcurrentManagedAccess, 0));
  if (concurrent == 0) return;
  constexpr int kRounds = 200;
  int *managed, *back = mapped();
  require(cudaMallocManaged(&managed, sizeof(int)));
  set(managed, 0);
  exchange<<<1, 1>>>(managed, back, kRounds, 0);
  for (int i = 1; i <= kRounds; ++i) {
    set(back, i);
    while (get(managed) != i) {
    }
  }
  require(cudaDeviceSynchronize());
}

static void events() {
  int *flag = mapped(), *out = on_device();
  Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  cudaEvent_t before, after;
  require(cudaEventCreate(&before));
  require(cudaEventCreate(&after));
  require(cudaEventRecord(before, a));
  wait_for<<<1, 1, 0, a>>>(flag, out, 7);
  require(cudaEventRecord(after, a));
  require(cudaEventSynchronize(before), "the event before the kernel");
  require(cudaEventQuery(before), "it is over");
  require(cudaEventQuery(after), cudaErrorNotReady, "the event behind the kernel");
  float time;
  require(cudaEventElapsedTime(&time, before, after), cudaErrorNotReady, "no time yet");
  require(cudaStreamWaitEvent(b, after));
  add<<<1, 1, 0, b>>>(out, 10);
  require(cudaStreamQuery(b), cudaErrorNotReady, "the other stream waits for the event");
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  set(flag, 1);
  require(cudaEventSynchronize(after));
  require(cudaEventElapsedTime(&time, before, after));
  require(time >= 20, "the time that the kernel waited");
  require(cudaStreamSynchronize(b));
  require(value_of(out) == 17, "first the kernel, then the sum");
  // An event and a stream may go before their work has ended.
  set(flag, 0);
  wait_for<<<1, 1, 0, a>>>(flag, out, 1);
  require(cudaEventRecord(after, a));
  require(cudaStreamWaitEvent(b, after));
  add<<<1, 1, 0, b>>>(out, 1);
  require(cudaEventDestroy(after));
  a.destroy();
  b.destroy();
  set(flag, 1);
  require(cudaDeviceSynchronize());
  require(value_of(out) == 2, "the work of streams that are gone");
}

static void legacy_stream() {
  int *flag = mapped(), *out = on_device(), *apart = on_device();
  const Stream blocking(cudaStreamDefault), free(cudaStreamNonBlocking);
  wait_for<<<1, 1, 0, blocking>>>(flag, out, 1);
  add<<<1, 1>>>(out, 1);
  add<<<1, 1, 0, cudaStreamPerThread>>>(out, 1);
  require(cudaStreamQuery(nullptr), cudaErrorNotReady, "the legacy stream follows the other");
  require(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady, "and this thread's follows it");
  add<<<1, 1, 0, free>>>(apart, 3);
  require(cudaStreamSynchronize(free), "a stream of its own, while a kernel waits");
  set(flag, 1);
  require(value_of(out) == 3, "the copy follows all of them");
  require(value_of(apart) == 3, "the other stream's sum");
}

static void copies() {
  constexpr int kCount = 1 << 16;
  int *flag = mapped(), *pinned = mapped(kCount), *out = on_device(), *data;
  require(cudaMalloc(&data, kCount * sizeof(int)));
  const Stream stream(cudaStreamNonBlocking);
  wait_for<<<1, 1, 0, stream>>>(flag, out, 1);
  pinned[5] = 1;
  require(cudaMemcpyAsync(data, pinned, kCount * sizeof(int), cudaMemcpyHostToDevice, stream));
  pinned[5] = 2;  // before the copy is made
  require(cudaMemsetAsync(data + 1, 1, 2 * sizeof(int), stream));
  require(cudaMemcpyAsync(pinned + 16, data, 8 * sizeof(int), cudaMemcpyDeviceToHost, stream));
  require(cudaMemcpyAsync(data + 8, data, 8 * sizeof(int), cudaMemcpyDeviceToDevice, stream));
  if (on_virtual_gpu()) {  // drivers allow copies within what they round allocations up to
    require(cudaMemcpyAsync(data + kCount, data, 4, cudaMemcpyDeviceToDevice, stream),
            cudaErrorInvalidValue, "a wrong copy is refused at once");
    require(cudaGetLastError(), cudaErrorInvalidValue, "the wrong copy's error");
  }
  require(cudaStreamQuery(stream), cudaErrorNotReady, "the copies wait for the kernel");
  set(flag, 1);
  require(cudaStreamSynchronize(stream));
  require(pinned[16 + 5] == 2 && pinned[16 + 1] == 0x01010101, "in the order of the stream");
  require(value_of(data + 8 + 5) == 2, "the copy on the device");
  // A pageable source may be changed when the call returns.
  int host = 3;
  store<<<1, 1, 0, stream>>>(data, 1);
  require(cudaMemcpyAsync(data, &host, sizeof host, cudaMemcpyHostToDevice, stream));
  host = 4;
  require(cudaStreamSynchronize(stream));
  require(value_of(data) == 3, "what the source held at the call");
}

// A kernel polls memory of the device, which a copy or a kernel of another stream writes.
static void other_streams() {
  const Stream a(cudaStreamNonBlocking), b(cudaStreamNonBlocking);
  int *flag = on_device(), *other = on_device(), *out = on_device();
  int* pinned = mapped();
  *pinned = 1;
  wait_for<<<1, 1, 0, a>>>(flag, out, 1);
  require(cudaMemcpyAsync(flag, pinned, sizeof(int), cudaMemcpyHostToDevice, b));
  require(cudaStreamSynchronize(a), "a copy ends the wait");
  require(cudaMemset(flag, 0, sizeof(int)));
  wait_for<<<1, 1, 0, a>>>(flag, out, 2);
  store<<<1, 1, 0, b>>>(flag, 1);
  require(cudaDeviceSynchronize(), "a kernel ends the wait");
  require(cudaMemset(flag, 0, sizeof(int)));
  exchange<<<1, 1, 0, a>>>(flag, other, 20, 0);
  exchange<<<1, 1, 0, b>>>(other, flag, 19, 1);
  store<<<1, 1, 0, cudaStreamPerThread>>>(other, 1);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  require(cudaStreamSynchronize(b), "two kernels wait for each other");
}

struct Order {
  std::vector<int> seen;
  cudaError_t inside = cudaSuccess;
  std::thread::id thread;
};
static Order order;

static void CUDART_CB first(void*) {
  order.seen.push_back(1);
  int* pointer;
  // The functions must not call CUDA; that it is refused is no promise of CUDA's.
  if (on_virtual_gpu()) order.inside = cudaMalloc(&pointer, 4);
  order.thread = std::this_thread::get_id();
}
static void CUDART_CB second(cudaStream_t, cudaError_t status, void*) {
  order.seen.push_back(status == cudaSuccess ? 2 : -2);
}

static void host_functions() {
  int *flag = mapped(), *out = on_device();
  wait_for<<<1, 1>>>(flag, out, 1);
  require(cudaLaunchHostFunc(nullptr, first, nullptr));
  require(cudaStreamAddCallback(nullptr, second, nullptr, 0));
  require(order.seen.empty(), "functions follow the kernel");
  set(flag, 1);
  require(cudaDeviceSynchronize());
  require(order.seen == std::vector{1, 2}, "in the order of the stream");
  require(!on_virtual_gpu() || order.inside == cudaErrorNotPermitted,
          "a function may not use the device");
  require(order.thread != std::this_thread::get_id(), "it runs in another thread");
  require(cudaGetLastError(), "its error is not this thread's");
}

static void graphs() {
  int *flag = mapped(), *out = on_device(), *pinned = mapped(2);
  const Stream stream(cudaStreamNonBlocking);
  cudaGraph_t graph;
  cudaGraphExec_t exec;
  require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  wait_for<<<1, 1, 0, stream>>>(flag, out, 4);
  add<<<1, 1, 0, stream>>>(out, 1);
  require(cudaMemcpyAsync(pinned, out, sizeof(int), cudaMemcpyDeviceToHost, stream));
  // A launch may wait for copies to pageable memory.
  int host = 0, *const copied = on_virtual_gpu() ? &host : pinned + 1;
  require(cudaMemcpyAsync(copied, out, sizeof(int), cudaMemcpyDeviceToHost, stream));
  require(cudaStreamEndCapture(stream, &graph));
  require(cudaGraphInstantiate(&exec, graph, 0));
  require(cudaGraphLaunch(exec, stream));
  require(cudaGraphLaunch(exec, cudaStreamPerThread), "a launch follows the former one");
  require(cudaStreamQuery(stream), cudaErrorNotReady, "the graph waits");
  require(cudaGraphExecDestroy(exec), "a graph may go before its work has ended");
  require(cudaGraphDestroy(graph));
  require(*pinned == 0 && *copied == 0, "nothing is copied yet");
  set(flag, 1);
  require(cudaDeviceSynchronize());
  require(*pinned == 5 && *copied == 5, "what the graph copied");
}

// Memory that is made while a kernel runs is the kernel's to use.
static void new_memory() {
  int** place;
  require(cudaHostAlloc(&place, sizeof *place, cudaHostAllocMapped));
  *place = nullptr;
  int* out = on_device();
  const Stream stream(cudaStreamNonBlocking);
  follow<<<1, 1, 0, stream>>>(place, out);
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  int* made = on_device(9);
  reinterpret_cast<std::atomic<int*>*>(place)->store(made);
  require(cudaStreamSynchronize(stream), "the kernel with new memory");
  require(value_of(out) == 9, "what the new memory holds");
}

// Freeing waits for kernels, but for memory of a pool.
static void freed_memory() {
  const Stream stream(cudaStreamNonBlocking);
  int *flag = mapped(), *data = on_device();
  wait_for<<<1, 1, 0, stream>>>(flag, data, 1);
  std::thread later([flag] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    set(flag, 1);
  });
  require(cudaFree(data), "cudaFree waits for the kernel");
  later.join();
  require(cudaStreamQuery(stream), "the kernel has ended");

  set(flag, 0);
  int* pooled;
  require(cudaMallocAsync(&pooled, sizeof(int), stream));
  wait_for<<<1, 1, 0, stream>>>(flag, pooled, 1);
  require(cudaFreeAsync(pooled, stream), "cudaFreeAsync does not wait");
  require(cudaStreamQuery(stream), cudaErrorNotReady, "the kernel waits");
  set(flag, 1);
  require(cudaStreamSynchronize(stream), "the kernel and the free");
}

static void many() {
  int* out = on_device();
  constexpr int kLaunches = 5000;  // more than are queued at once
  for (int i = 0; i < kLaunches; ++i) add<<<1, 1>>>(out, 1);
  require(value_of(out) == kLaunches, "every launch ran once");
}

static void by_threads() {
  constexpr int kThreads = 8;
  std::barrier allocated(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &allocated] {
      const Stream stream(t % 2 == 0 ? cudaStreamNonBlocking : cudaStreamDefault);
      int *flag = mapped(), *out = on_device();
      allocated.arrive_and_wait();
      for (int i = 0; i < 20; ++i) {
        set(flag, 0);
        wait_for<<<1, 1, 0, stream>>>(flag, out, t);
        add<<<1, 1, 0, stream>>>(out, i);
        set(flag, 1);
        require(cudaStreamSynchronize(stream), "a thread's stream");
        int value = 0;
        require(cudaMemcpyAsync(&value, out, sizeof(int), cudaMemcpyDeviceToHost, stream));
        require(value == t + i, "a thread's sum");
      }
      allocated.arrive_and_wait();  // before a stream is destroyed
    });
  }
  for (std::thread& thread : threads) thread.join();
}

int main() {
  require(setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 1) == 0, "setenv");
  load_kernels();
  const auto part = [](const char* name, void (*run)()) {
    std::fprintf(stdout, "%s\n", name);  // what hangs, where one does
    std::fflush(stdout);
    run();
  };
  part("host and kernel", host_and_kernel);
  part("events", events);
  part("legacy stream", legacy_stream);
  part("copies", copies);
  part("other streams", other_streams);
  part("host functions", host_functions);
  part("graphs", graphs);
  if (on_virtual_gpu()) part("new memory", new_memory);  // else an allocation may wait for kernels
  part("freed memory", freed_memory);
  part("many", many);
  part("by threads", by_threads);
  part("managed memory", managed_memory);
}
