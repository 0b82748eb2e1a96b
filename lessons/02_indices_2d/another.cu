// SPDX-License-Identifier: Apache-2.0
// One dimension: the row and the column are the quotient and the remainder by N.
__global__ void record(int* rows, int* cols, int M, int N) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  rows[i] = i / N;
  cols[i] = i % N;
}

void launch(int* rows, int* cols, int M, int N) {
  record<<<(M * N + 127) / 128, 128>>>(rows, cols, M, N);
}
