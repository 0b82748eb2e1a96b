// SPDX-License-Identifier: Apache-2.0
// Branches: jump tables, loops with and without unrolling, early exits, divergence.
__device__ __noinline__ int choose(int n, int x) {
  switch (n) {
    case 0: return x + 17;
    case 1: return x * 31;
    case 2: return x ^ 0x55;
    case 3: return x >> 3;
    case 4: return -x;
    case 5: return __popc(x);
    case 6: return __clz(x);
    case 7: return __brev(x);
    case 8: return __ffs(x);
    case 9: return x % 7;
    case 10: return x / 11;
    default: return 0;
  }
}
__global__ void loops(float* out, const float* in, int n) {
  float sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) sum += in[i];
#pragma unroll 4
  for (int i = 0; i < n; ++i) sum *= in[i] + 1;
  for (int i = threadIdx.x; i < n; i += blockDim.x) {
    if (in[i] < 0) continue;
    if (in[i] > 100) break;
    sum -= in[i];
  }
  while (sum > 1000) sum = sum / 3;
  do {
    sum += 0.5f;
  } while (sum < static_cast<float>(n));
  out[threadIdx.x] = sum;
}
__global__ void switches(int* out, int n) {
  out[threadIdx.x] = choose(n, out[threadIdx.x]);
  if (threadIdx.x == 3) return;
  out[threadIdx.x] += choose(out[0], static_cast<int>(threadIdx.x));
}
__global__ void __launch_bounds__(256, 2) bounded(double* out) {
  out[threadIdx.x] = sqrt(out[threadIdx.x]) / 3;
}
// A switch by a table of addresses, as the compiler writes it if the cases are dense and large.
__global__ void table(int* out, int n) {
  switch (n) {
    case 0:
      out[0] = 1;
      __syncthreads();
      out[5] = out[9];
      break;
    case 1:
      out[1] = clock();
      __threadfence();
      out[3] = 1;
      break;
    case 2:
      out[2] = out[8] * 3;
      __syncthreads();
      break;
    case 3:
      atomicAdd(out, 3);
      __nanosleep(5);
      break;
    case 4:
      out[4] = 100 / out[0];
      __syncwarp();
      break;
    case 5:
      out[5] = out[2] + out[3];
      __threadfence_block();
      break;
    case 6: atomicMax(out + 1, 7); break;
    case 7: out[7] = static_cast<int>(clock64()); break;
    case 8: atomicCAS(out, 1, 2); break;
    default: break;
  }
}
