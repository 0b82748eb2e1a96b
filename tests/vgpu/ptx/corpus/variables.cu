// SPDX-License-Identifier: Apache-2.0
// Variables of every state space and their initialisers, including addresses.
__device__ int answer = 42;
__device__ int* answer_at = &answer;
__device__ float floats[4] = {1.0f, -2.5f};
__constant__ double weights[2][3] = {{1, 2, 3}, {4, 5, 6}};
__constant__ unsigned char bytes[5] = {1, 2, 255};
__device__ double big[1 << 20];
__device__ const char* words[] = {"ab", "c\n"};
__device__ __managed__ int shared_with_host = 7;
__device__ short shorts[3] = {-1, 2, -3};
__device__ long long long_one = -5;
__device__ float4 vectors[2] = {{1, 2, 3, 4}, {5, 6, 7, 8}};
struct Record {
  short tag;
  int value;
  const void* next;
  double weight;
};
__device__ Record record = {1, 2, &floats[3], 4.5};
__device__ __constant__ Record* const record_at = &record;
static __device__ int (*function_at)(int);
__device__ int twice(int x) { return 2 * x; }
__device__ int (*table[2])(int) = {twice, nullptr};

extern __shared__ float dynamic[];
__shared__ int fixed[64];

__global__ void use_all(float* out, int n, Record by_value,
                        const __grid_constant__ Record constant) {
  __shared__ __align__(128) double tile[8][8];
  float local[16];
  for (int i = 0; i < 16; ++i) local[i] = out[i * n];
  fixed[threadIdx.x] = shorts[n] + static_cast<int>(long_one) + shared_with_host;
  tile[threadIdx.x][0] = weights[n & 1][2] + bytes[n] + big[n] + vectors[n].y;
  __syncthreads();
  dynamic[n] = local[n & 15] + words[n][0] + static_cast<float>(*answer_at) + floats[n];
  function_at = table[n & 1];
  out[0] = dynamic[n + 1] + fixed[n] + static_cast<float>(tile[n][0]) +
           static_cast<float>(function_at(n)) +
           static_cast<float>(by_value.weight + record.value + record_at->tag + constant.weight);
}
