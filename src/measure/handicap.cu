// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include "measure/timer.hpp"
#include "operands/buffer.hpp"

namespace ladder {

static __global__ void spin_kernel(long long cycles) {
  const long long start = clock64();
  while (clock64() - start < cycles) {
  }
}

Status spin(double ms, double clock_hz, Stream stream) {
  spin_kernel<<<1, 1, 0, stream>>>(static_cast<long long>(ms * 1e-3 * clock_hz));
  return cuda_status(cudaGetLastError(), "spin_kernel");
}

}  // namespace ladder
