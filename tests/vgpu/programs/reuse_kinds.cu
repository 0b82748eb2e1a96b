// SPDX-License-Identifier: Apache-2.0
// Which launches reuse the results of earlier ones, and which are always executed.
#include <cooperative_groups.h>

#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "device_array.hpp"
#include "reuse_fixture.hpp"

namespace {

constexpr int kWords = 3000, kBlock = 128, kBlocks = (kWords + kBlock - 1) / kBlock;
constexpr int kTimes = 6;

__constant__ int table[4];

__global__ void pure(int* out, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords) out[i] = in[i] + table[i % 4];
}
__global__ void in_place(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords) data[i] = data[i] * 3 + 1;
}
__global__ void add_up(int* sum, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords) atomicAdd(sum, in[i]);
}
__global__ void add_floats(float* sum, const int* in) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords) atomicAdd(sum, static_cast<float>(in[i] % (i + 1)) / 3);
}
__global__ void prints(int* out) {
  out[threadIdx.x] = 1;
  if (threadIdx.x == 0) printf("printed\n");
}
__global__ void allocates(int* out) {
  int* const memory = static_cast<int*>(malloc(4));
  *memory = 7;
  out[threadIdx.x] = *memory;
  free(memory);
}
__global__ void reads_clock(int* out) { out[threadIdx.x] = clock() > 0 ? 1 : 2; }
__global__ void reads_time(int* out) {
  unsigned long long time;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(time));
  out[threadIdx.x] = time > 0 ? 1 : 2;
}
__global__ void races(int* out) {
  __shared__ int tile[2 * kBlock];
  tile[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = tile[kBlock - 1 - threadIdx.x];
}
__global__ void reads_local(int* out, const int* in) {
  int values[8];
  values[in[0] & 7] = 5;
  out[threadIdx.x] = values[in[1] & 7] == values[in[2] & 7] ? 1 : 2;
}
__global__ void polls(volatile int* flag, int* out) {
  while (*flag == 0) {
  }
  out[threadIdx.x] = 1;
}
__global__ void synchronises(int* data) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < kWords) data[i] = i;
  cooperative_groups::this_grid().sync();
  if (i < kWords) data[i] += data[kWords - 1] > 0 ? 1 : 0;
}

// How many of kTimes equal rounds of work did reuse results.
size_t reuses(const std::function<void()>& work) {
  const size_t before = reused_launches();
  for (int i = 0; i < kTimes; ++i) {
    work();
    require(cudaGetLastError());
  }
  require(cudaDeviceSynchronize());
  return reused_launches() - before;
}

class Buffer {
 public:
  explicit Buffer(int value = 1) : data_(allocate<int>(kWords)) {
    require(cudaMemset(data_, value, kWords * 4));
  }
  ~Buffer() { cudaFree(data_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  operator int*() const { return data_; }
  int first() const { return download(data_, 1)[0]; }

 private:
  int* data_;
};

// One thread alone adds them at once, and then their former values count.
void sums_of_floats(int* in) {
  const Buffer sum, executed;
  const auto add_to = [&](int* to) {
    add_floats<<<kBlocks, kBlock>>>(reinterpret_cast<float*>(to), in);
  };
  require(reuses([&] { add_to(sum); }) == kTimes - 2, "a sum that grows");
  set_reuse(0);
  for (int i = 0; i < kTimes; ++i) add_to(executed);
  set_reuse(1);
  require(sum.first() == executed.first(), "the sum that grows");
}

void reused_ones() {
  const Buffer in, out, flush, sum, data, pair;
  const auto run = [&] { pure<<<kBlocks, kBlock>>>(out, in); };
  require(reuses(run) == kTimes - 2, "the first launch is executed, and the second noted");
  require(reuses([&] {
            pure<<<kBlocks, 64>>>(data, pair);
            pure<<<kBlocks, 64>>>(flush, pair);
          }) == 2 * kTimes - 3,
          "launches with other parameters are noted at once");
  require(reuses([&] {
            require(cudaMemset(flush, 0, kWords * 4));
            run();
          }) == kTimes,
          "other memory may change");
  require(reuses([&] {
            require(cudaMemset(out, 0, kWords * 4));
            run();
          }) >= kTimes - 2,
          "results are restored");
  require(out.first() == 0x01010101, "the restored result");

  require(reuses([&] {
            require(cudaMemset(sum, 0, 4));
            add_up<<<kBlocks, kBlock>>>(sum, in);
          }) == kTimes - 2,
          "a sum that was cleared");
  require(sum.first() == static_cast<int>(0x01010101u * kWords), "the sum");
  if (std::thread::hardware_concurrency() > 1) sums_of_floats(in);
  std::vector<int> input(kWords, 5);
  require(reuses([&] {
            require(cudaMemcpy(data, input.data(), kWords * 4, cudaMemcpyHostToDevice));
            in_place<<<kBlocks, kBlock>>>(data);
          }) == kTimes - 2,
          "an update of what was restored");
  require(data.first() == 16, "the update");
  int* pointer = data;
  void* arguments[] = {&pointer};
  require(reuses([&] {
            require(cudaLaunchCooperativeKernel(synchronises, dim3(kBlocks), dim3(kBlock),
                                                arguments, 0, nullptr));
          }) >= kTimes - 3,
          "a grid that synchronises");

  set_reuse(0);
  require(reuses(run) == 0, "nothing is reused where that is off");
  set_reuse(1);
}

void changes_are_seen() {
  const Buffer in, out;
  const auto run = [&] { pure<<<kBlocks, kBlock>>>(out, in); };
  require(reuses(run) == kTimes - 1, "noted at once, since launches of the kernel did repeat");
  const int values[4] = {40, 41, 42, 43};
  require(cudaMemcpyToSymbol(table, values, sizeof values));
  run();
  require(out.first() == 0x01010101 + 40, "a changed constant");
  const int word = 2;
  require(cudaMemcpy(in, &word, 4, cudaMemcpyHostToDevice));
  run();
  require(out.first() == 42, "a changed input");
  pure<<<kBlocks, kBlock>>>(in, out);
  run();
  require(out.first() == 122, "an input that a kernel changed");
  const int none[4] = {};
  require(cudaMemcpyToSymbol(table, none, sizeof none));
  const size_t before = reused_launches();
  in_place<<<kBlocks, kBlock>>>(in);
  in_place<<<kBlocks, kBlock>>>(in);
  in_place<<<kBlocks, kBlock>>>(in);
  require(in.first() == ((82 * 3 + 1) * 3 + 1) * 3 + 1, "updates");
  require(reused_launches() == before, "an update is not a repetition");
}

// Each is reported as often as it is launched (the program's test knows how often that is).
void findings() {
  const Buffer out;
  require(reuses([&] { races<<<1, kBlock>>>(out); }) == kTimes - 2, "a race");
  int* const unwritten = allocate<int>(kWords);
  const auto copy = [&] { pure<<<kBlocks, kBlock>>>(out, unwritten); };
  require(reuses(copy) == kTimes - 2, "a read of unwritten memory");
  require(cudaMemset(unwritten, 0, kWords * 2));
  require(reuses(copy) == kTimes - 1, "a read of less unwritten memory");
  require(cudaFree(unwritten));
  const Buffer in(3);
  require(reuses([&] { reads_local<<<1, 32>>>(out, in); }) == kTimes - 2,
          "a read of unwritten local memory");
}

void executed_ones() {
  const Buffer out;
  require(reuses([&] { prints<<<1, 32>>>(out); }) == 0, "a kernel that prints");
  require(reuses([&] { allocates<<<1, 32>>>(out); }) == 0, "malloc in a kernel");
  require(reuses([&] { reads_clock<<<1, 32>>>(out); }) == 0, "the clock");
  require(reuses([&] { reads_time<<<1, 32>>>(out); }) == 0, "the timer");

  int *managed, *pinned, *mapped, *pageable = new int[kWords]();
  require(cudaMallocManaged(&managed, kWords * 4));
  require(cudaMallocHost(&pinned, kWords * 4));
  require(cudaHostRegister(pageable, kWords * 4, cudaHostRegisterMapped));
  require(cudaHostGetDevicePointer(&mapped, pageable, 0));
  for (int* const host : {managed, pinned, pageable}) std::memset(host, 0, kWords * 4);
  for (int* const memory : {managed, pinned, mapped}) {
    require(reuses([&] { pure<<<kBlocks, kBlock>>>(out, memory); }) == 0, "the host's memory");
    require(reuses([&] { pure<<<kBlocks, kBlock>>>(memory, out); }) == 0, "results for the host");
  }
  require(reuses([&] {
            *pinned = 0;
            cudaStream_t other;
            require(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
            polls<<<1, 32, 0, other>>>(pinned, out);
            *static_cast<volatile int*>(pinned) = 1;
            require(cudaStreamSynchronize(other), "the grid that waits");
            require(cudaStreamDestroy(other));
          }) == 0,
          "a grid that waits for the host");
  require(cudaHostUnregister(pageable));
  delete[] pageable;
  require(cudaFreeHost(pinned));
  require(cudaFree(managed));
}

}  // namespace

int main() {
  skip_on_hardware();
  reused_ones();
  changes_are_seen();
  findings();
  executed_ones();
  std::printf("right\n");
}
