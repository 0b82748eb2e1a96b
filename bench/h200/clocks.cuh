// SPDX-License-Identifier: Apache-2.0
// Reads the clocks of all SMs at two points of a stream: the number of cycles and the time between
// them.
#pragma once
#include "device/launch_dependent.cuh"

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "operands.cuh"

namespace ladder::bench {

// The clock counter and the global time of each SM, by SM number.
struct Reading {
  long long cycles;
  unsigned long long ns;
};
static __global__ void read_clocks(Reading* g) {
  if (threadIdx.x != 0) return;
  unsigned sm;
  unsigned long long ns;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  g[sm] = {clock64(), ns};
}

struct Gpu {
  Gpu() {
    require(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0), "SM count");
    require(allow_shared(reinterpret_cast<const void*>(read_clocks), kShared), "shared memory");
  }
  // One block per SM: a second one does not fit into shared memory.
  void read(Reading* g) const { read_clocks<<<sms, 32, kShared>>>(g); }

  static constexpr int kShared = 200 * 1024;
  int sms = 0;
};

// Mean cycles and nanoseconds between two readings, over the SMs that occur in both.
struct Between {
  double cycles = 0, ns = 0;
};
inline Between between(const Reading* from, const Reading* to, int sms) {
  Between sum;
  int seen = 0;
  for (int i = 0; i < sms; ++i) {
    if (from[i].ns == 0 || to[i].ns == 0) continue;
    sum.cycles += static_cast<double>(to[i].cycles - from[i].cycles);
    sum.ns += static_cast<double>(to[i].ns - from[i].ns);
    ++seen;
  }
  return {sum.cycles / seen, sum.ns / seen};
}

class Readings {
 public:
  Readings(const Gpu& gpu, int count)
      : gpu_(gpu),
        host_(static_cast<std::size_t>(gpu.sms) * static_cast<std::size_t>(count)),
        g_(allocate<Reading>(static_cast<std::int64_t>(host_.size()), "readings")) {
    require(cudaMemset(g_.get(), 0, sizeof(Reading) * host_.size()), "readings");
  }
  void take(int i) { gpu_.read(g_.get() + i * gpu_.sms); }
  void fetch() {
    require(
        cudaMemcpy(host_.data(), g_.get(), sizeof(Reading) * host_.size(), cudaMemcpyDeviceToHost),
        "readings");
  }
  Between operator()(int i, int j) const {
    return between(host_.data() + i * gpu_.sms, host_.data() + j * gpu_.sms, gpu_.sms);
  }

 private:
  const Gpu& gpu_;
  std::vector<Reading> host_;
  Memory<Reading> g_;
};

}  // namespace ladder::bench
