/* SPDX-License-Identifier: Apache-2.0 */
/* C = A B with row-major FP32 matrices on the GPU, in C. */
#include <cuda_runtime_api.h>
#include <ladder/gemm.h>
#include <stdio.h>
#include <stdlib.h>

enum { M = 96, N = 64, K = 128 };

static void require(int holds, const char* what, const char* why) {
  if (holds) return;
  fprintf(stderr, "%s: %s\n", what, why);
  exit(EXIT_FAILURE);
}

static float* on_device(const float* from, size_t count) {
  float* at = NULL;
  require(cudaMalloc((void**)&at, count * sizeof(float)) == cudaSuccess, "cudaMalloc", "failed");
  require(cudaMemcpy(at, from, count * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess,
          "cudaMemcpy", "failed");
  return at;
}

int main(void) {
  static float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M * K; ++i) a[i] = (float)(i % 7 - 3);
  for (int i = 0; i < K * N; ++i) b[i] = (float)(i % 5 - 2);
  float* const a_there = on_device(a, M * K);
  float* const b_there = on_device(b, K * N);
  float* const c_there = on_device(c, M * N);

  ladder_handle handle;
  require(ladder_create(&handle) == LADDER_STATUS_OK, "ladder_create", ladder_last_error());
  require(ladder_set_precision(handle, LADDER_PRECISION_AUTO) == LADDER_STATUS_OK,
          "ladder_set_precision", ladder_last_error());
  const float one = 1.0F, zero = 0.0F;
  require(ladder_sgemm(handle, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, M, N, K, &one, a_there,
                       K, b_there, N, &zero, c_there, N) == LADDER_STATUS_OK,
          "ladder_sgemm", ladder_last_error());
  require(ladder_destroy(handle) == LADDER_STATUS_OK, "ladder_destroy", ladder_last_error());

  require(cudaMemcpy(c, c_there, sizeof c, cudaMemcpyDeviceToHost) == cudaSuccess, "cudaMemcpy",
          "failed");
  for (int i = 0; i < M; ++i) {
    for (int j = 0; j < N; ++j) {
      float sum = 0.0F;
      for (int k = 0; k < K; ++k) sum += a[i * K + k] * b[k * N + j];
      require(c[i * N + j] == sum, "product", "wrong");
    }
  }
  cudaFree(a_there);
  cudaFree(b_there);
  cudaFree(c_there);
  printf("%d x %d x %d: right, ladder %d\n", M, N, K, ladder_version());
  return EXIT_SUCCESS;
}
