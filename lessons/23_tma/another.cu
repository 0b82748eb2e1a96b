// SPDX-License-Identifier: Apache-2.0
// Two boxes under way.
#include <cuda.h>

constexpr int ROWS = 16, COLS = 64;  // of a box: 4,096 bytes

__device__ unsigned shared_address(const void* p) {
  return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
__device__ void init(unsigned long long* barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals));
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}
__device__ void arrive_expecting(unsigned long long* barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}
__device__ void wait(unsigned long long* barrier, int phase) {
  asm volatile(
      "{\n.reg .pred done;\nAGAIN:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@!done bra AGAIN;\n}" ::"r"(shared_address(barrier)),
      "r"(phase)
      : "memory");
}
// Copies the box whose first element is (row, col). Outside the matrix it holds zeros.
__device__ void copy_box(float* s, const CUtensorMap* map, int row, int col,
                         unsigned long long* barrier) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, "
      "{%2, %3}], [%4];" ::"r"(shared_address(s)),
      "l"(map), "r"(col), "r"(row), "r"(shared_address(barrier))
      : "memory");
}

// A block walks down its columns with two boxes in turn.
__global__ void twice(const __grid_constant__ CUtensorMap map, float* y, int M, int N) {
  __shared__ __align__(128) float box[2][ROWS][COLS];
  __shared__ unsigned long long barrier[2];
  const int col = blockIdx.x * COLS, boxes = (M + ROWS - 1) / ROWS;
  const auto copy = [&](int i) {
    arrive_expecting(&barrier[i % 2], sizeof box[0]);
    copy_box(&box[i % 2][0][0], &map, i * ROWS, col, &barrier[i % 2]);
  };
  if (threadIdx.x == 0) {
    init(&barrier[0], 1);
    init(&barrier[1], 1);
    copy(0);
  }
  __syncthreads();
  for (int i = 0; i < boxes; ++i) {
    if (threadIdx.x == 0 && i + 1 < boxes) copy(i + 1);
    wait(&barrier[i % 2], i / 2 % 2);
    for (int e = threadIdx.x; e < ROWS * COLS; e += blockDim.x) {
      const int row = i * ROWS + e / COLS, c = col + e % COLS;
      if (row < M && c < N) y[row * N + c] = 2 * box[i % 2][e / COLS][e % COLS];
    }
    __syncthreads();  // the box may be overwritten
  }
}

void launch(const float* x, float* y, int M, int N) {
  void* encode = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode, 12000, cudaEnableDefault,
                                   &found);
  CUtensorMap map;
  const cuuint64_t sizes[] = {static_cast<cuuint64_t>(N), static_cast<cuuint64_t>(M)};
  const cuuint64_t row_bytes[] = {N * sizeof(float)};  // a multiple of 16
  const cuuint32_t box[] = {COLS, ROWS}, steps[] = {1, 1};
  reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(encode)(
      &map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, const_cast<float*>(x), sizes, row_bytes, box, steps,
      CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  twice<<<(N + COLS - 1) / COLS, 128>>>(map, y, M, N);
}
