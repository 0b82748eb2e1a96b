// SPDX-License-Identifier: Apache-2.0
// Kernels with findings that hardware does not stop for. Each computes the right result.
#include <cstdio>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "device_array.hpp"

// Missing __syncthreads. What the other warp has or has not written yet is not used.
template <int kNumber>
__global__ void racy(int* out, int used) {
  __shared__ int tile[64];
  const int i = static_cast<int>(threadIdx.x);
  tile[i] = i + kNumber;
  out[i] = i + used * tile[i ^ 32];
}

// Reads memory that nobody has written, and does not use it.
__global__ void reads_ahead(int* out, const int* in, int used) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = i + used * in[i];
}

// Blocks store different values to the same words.
__global__ void last_wins(int* words) {
  for (int i = 0; i < 4; ++i) words[256 * i + threadIdx.x] = static_cast<int>(blockIdx.x);
}

// Executed by the whole warp, of which the mask names half.
__global__ void half_named(int* out, unsigned mask) {
  const int lane = static_cast<int>(threadIdx.x);
  out[lane] = __shfl_xor_sync(mask, lane, 1) ^ 1;
}

__global__ void beyond(int* out) { out[1 << 20] = 1; }

template <int... kNumbers>
static void launch_all(int* out, std::integer_sequence<int, kNumbers...>) {
  (racy<kNumbers><<<1, 64>>>(out, 0), ...);
}

static void expect_indices(const int* out, int count) {
  const std::vector<int> host = download(out, static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) require(host[static_cast<std::size_t>(i)] == i, "a result");
}

static void in_thread() {
  cudaStream_t stream;
  int* out;
  require(cudaStreamCreate(&stream));
  require(cudaMalloc(&out, 64 * sizeof(int)));
  for (int i = 0; i < 8; ++i) racy<0><<<1, 64, 0, stream>>>(out, 0);
  require(cudaStreamSynchronize(stream));
  expect_indices(out, 64);
}

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "both";
  int *out, *fresh;
  require(cudaMalloc(&out, 4096));
  require(cudaMalloc(&fresh, 4096));
  if (what == "both") {
    for (int i = 0; i < 2; ++i) racy<0><<<1, 64>>>(out, 0);
    require(cudaDeviceSynchronize());
    reads_ahead<<<1, 64>>>(out, fresh, 0);
    require(cudaDeviceSynchronize());
    expect_indices(out, 64);
  } else if (what == "threads") {
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) threads.emplace_back(in_thread);
    for (std::thread& thread : threads) thread.join();
  } else if (what == "many") {
    launch_all(out, std::make_integer_sequence<int, 120>());
    expect_indices(out, 64);
  } else if (what == "often") {
    last_wins<<<2048, 256>>>(out);
    require(cudaDeviceSynchronize());
  } else if (what == "unnamed") {
    half_named<<<1, 32>>>(out, 0x0000ffff);
    expect_indices(out, 32);
  } else if (what == "fault") {
    racy<0><<<1, 64>>>(out, 0);
    beyond<<<1, 1>>>(out);
    require(cudaDeviceSynchronize() == cudaErrorIllegalAddress, "the fault");
    require(cudaMemset(out, 0, 4) == cudaErrorIllegalAddress, "the fault stays");
  } else {
    require(false, "a known case");
  }
  std::puts("right");
}
