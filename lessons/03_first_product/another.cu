// SPDX-License-Identifier: Apache-2.0
// Pointers that walk along the row of A and down the column of B, from the last term to the first.
__global__ void product(const float* A, const float* B, float* C, int M, int N, int K) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= M * N) return;
  const int row = i / N, col = i % N;
  const float* a = A + (row + 1) * K;
  const float* b = B + K * N + col;
  float sum = 0.0f;
  for (int left = K; left > 0; --left) {
    a -= 1;
    b -= N;
    sum = fmaf(*a, *b, sum);
  }
  C[i] = sum;
}

void launch(const float* A, const float* B, float* C, int M, int N, int K) {
  product<<<(M * N + 127) / 128, 128>>>(A, B, C, M, N, K);
}
