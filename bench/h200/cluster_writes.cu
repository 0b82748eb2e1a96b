// SPDX-License-Identifier: Apache-2.0
// Writes from a block of a cluster to shared memory of another, or to its own by the address that
// mapa gives: what compute-sanitizer's memcheck says of each form. One launch; prints whether what
// came was right.
//   cluster_writes bulk|st.async|st self|neighbour static|dynamic static|dynamic BYTES BLOCKS
// The two memories are the target's and the source's. PTX ISA, "cp.async.bulk", "st.async", "st",
// "mapa".
#include "device/ptx/cluster.cuh"
#include "device/ptx/cluster_memory.cuh"
#include "device/ptx/cp_async.cuh"
#include "device/ptx/mbarrier.cuh"
#include "device/ptx/tma.cuh"

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "operands.cuh"

namespace {

using namespace ladder;

constexpr int kThreads = 64, kMostBytes = 1024, kWords = kMostBytes / 4;

enum class Form { kBulk, kAsync, kStore };
struct Write {
  Form form;
  bool to_self, to_dynamic, from_dynamic;
  int bytes;
};

__device__ void send_bulk(std::uint32_t to, std::uint32_t from, int bytes, std::uint32_t barrier) {
  asm volatile(
      "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, "
      "[%3];" ::"r"(to),
      "r"(from), "r"(bytes), "r"(barrier)
      : "memory");
}
__device__ void store_quad(std::uint32_t to, uint4 x) {
  asm volatile("st.shared::cluster.v4.b32 [%0], {%1, %2, %3, %4};" ::"r"(to), "r"(x.x), "r"(x.y),
               "r"(x.z), "r"(x.w)
               : "memory");
}

// What block `rank` sends at `i`.
__device__ std::uint32_t sent(int rank, int i) {
  return static_cast<std::uint32_t>(1000 * rank + i + 7);
}

// Each block sends to the next of its cluster, or to itself; *gWrong counts the words that are not
// as they were sent.
__global__ void __launch_bounds__(kThreads) write(Write w, int blocks, unsigned* gWrong) {
  __shared__ alignas(128) std::uint32_t sSource[kWords], sTarget[kWords];
  __shared__ std::uint64_t full;
  extern __shared__ __align__(128) std::uint32_t s[];
  std::uint32_t* const source = w.from_dynamic ? s : sSource;
  std::uint32_t* const target = w.to_dynamic ? s + kWords : sTarget;
  const int tid = static_cast<int>(threadIdx.x), rank = ptx::cluster_rank();
  const int to = w.to_self ? rank : (rank + 1) % blocks,
            from = w.to_self ? rank : (rank + blocks - 1) % blocks;
  const std::uint32_t barrier = ptx::shared_address(&full);
  if (tid == 0) {
    ptx::mbarrier_init(barrier, 1);
    ptx::fence_mbarrier_init();
  }
  for (int i = tid; i < kWords; i += kThreads) {
    source[i] = sent(rank, i);
    target[i] = 0;
  }
  ptx::fence_proxy_async();
  __syncthreads();
  ptx::cluster_sync();
  const std::uint32_t there = ptx::shared_address_of(ptx::shared_address(target), to);
  const std::uint32_t its_barrier = ptx::shared_address_of(barrier, to);
  if (w.form != Form::kStore && tid == 0) ptx::mbarrier_arrive_expect(barrier, w.bytes);
  if (w.form == Form::kBulk) {
    if (tid == 0) send_bulk(there, ptx::shared_address(source), w.bytes, its_barrier);
  } else if (16 * tid < w.bytes) {
    const uint4 quad = reinterpret_cast<const uint4*>(source)[tid];
    if (w.form == Form::kAsync) {
      ptx::send_quad(there + 16 * tid, quad, its_barrier);
    } else {
      store_quad(there + 16 * tid, quad);
    }
  }
  if (w.form == Form::kStore) {
    ptx::cluster_sync();
  } else {
    ptx::mbarrier_wait(barrier, 0);
  }
  for (int i = tid; i < w.bytes / 4; i += kThreads) {
    if (target[i] != sent(from, i)) atomicAdd(gWrong, 1U);
  }
  ptx::cluster_sync();  // nobody ends while others send
}

}  // namespace

int main(int argc, char** argv) {
  const auto text = [&](int i) { return std::string(i < argc ? argv[i] : ""); };
  const int bytes = std::atoi(text(5).c_str()), blocks = std::atoi(text(6).c_str());
  if (bytes < 16 || bytes > kMostBytes || bytes % 16 != 0 || blocks < 1 || blocks > 8) {
    std::fprintf(
        stderr,
        "cluster_writes: takes a form, a target, two memories, 16 to %d bytes, 1 to 8 blocks\n",
        kMostBytes);
    return 2;
  }
  const Write w{text(1) == "bulk"       ? Form::kBulk
                : text(1) == "st.async" ? Form::kAsync
                                        : Form::kStore,
                text(2) == "self", text(3) == "dynamic", text(4) == "dynamic", bytes};
  const auto gWrong = bench::allocate<unsigned>(1, "count");
  bench::require(cudaMemset(gWrong.get(), 0, sizeof(unsigned)), "count");
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {static_cast<unsigned>(blocks), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(3 * blocks));
  config.blockDim = dim3(kThreads);
  config.dynamicSmemBytes = std::size_t{2} * kMostBytes;
  config.attrs = &attribute;
  config.numAttrs = 1;
  bench::require(cudaLaunchKernelEx(&config, write, w, blocks, gWrong.get()), "launch");
  unsigned wrong = 0;
  bench::require(cudaMemcpy(&wrong, gWrong.get(), sizeof wrong, cudaMemcpyDeviceToHost), "count");
  std::printf("%u words wrong\n", wrong);
  return wrong == 0 ? 0 : 1;
}
