// SPDX-License-Identifier: Apache-2.0
// Functions that are not in the cubin: one of them is provided by the driver.

extern "C" {

__device__ int* kept;

__global__ void takes_memory(int n) { kept = static_cast<int*>(malloc(n * sizeof(int))); }

__global__ void calls_nothing(int n) { *kept = n; }

// Has four instructions without effect (NANOSLEEP), for others in their place, and a result.
__global__ void has_room(unsigned* out) {
  asm volatile("nanosleep.u32 0; nanosleep.u32 0; nanosleep.u32 0; nanosleep.u32 0;" ::: "memory");
  out[threadIdx.x] = 0x12345678;
}
}
