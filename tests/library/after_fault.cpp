// SPDX-License-Identifier: Apache-2.0
// What a call says after a kernel has failed: the CUDA runtime's error, not one of its arguments.
#include <cuda_runtime_api.h>
#include <ladder/gemm.h>

#include <cstdio>

int main() {
  constexpr int kSize = 64;
  float* memory = nullptr;
  if (cudaMalloc(reinterpret_cast<void**>(&memory), sizeof(float)) != cudaSuccess) return 1;
  ladder_handle handle = nullptr;
  if (ladder_create(&handle) != LADDER_STATUS_OK) return 1;
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    return ladder_sgemm(handle, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, kSize, kSize, kSize,
                        &one, memory, kSize, memory, kSize, &zero, memory, kSize);
  };
  if (multiply() != LADDER_STATUS_OK) return 1;  // reads beyond the allocation
  static_cast<void>(cudaDeviceSynchronize());
  const ladder_status status = multiply();
  std::printf("%s: %s\n", ladder_status_string(status), ladder_last_error());
}
