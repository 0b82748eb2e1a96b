// SPDX-License-Identifier: Apache-2.0
// Accumulators are used between two wgmma without a wait: ptxas then waits after each wgmma.
#include "device/ptx/wgmma.cuh"

namespace ladder {

__global__ void __launch_bounds__(128) kernel(std::uint64_t a, std::uint64_t b, float* g) {
  float d[64] = {};
  ptx::wgmma_fence();
  ptx::wgmma_shared<__half, true>(d, a, b, false);
  d[0] += g[threadIdx.x];
  ptx::wgmma_shared<__half, true>(d, a, b, true);
  ptx::wgmma_commit();
  ptx::wgmma_wait<0>();
  for (int i = 0; i < 64; ++i) g[i * 128 + threadIdx.x] = d[i];
}

}  // namespace ladder
