// Transposes a matrix through tiles in shared memory, and checks the result.
#include <cstdio>
#include <vector>

constexpr int kTile = 32, kRows = 8;

// One more column than the tile has, so that the rows of a column lie in different banks.
__global__ void transpose(const float* in, float* out, int rows, int columns) {
  __shared__ float tile[kTile][kTile + 1];
  int x = blockIdx.x * kTile + threadIdx.x, y = blockIdx.y * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (x < columns && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = in[(y + i) * columns + x];
  }
  __syncthreads();
  x = blockIdx.y * kTile + threadIdx.x;
  y = blockIdx.x * kTile + threadIdx.y;
  for (int i = 0; i < kTile; i += kRows) {
    if (x < rows && y + i < columns) out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
  }
}

int main() {
  constexpr int kM = 200, kN = 150;
  constexpr std::size_t kBytes = sizeof(float) * kM * kN;
  std::vector<float> in(kM * kN), out(kM * kN);
  for (int i = 0; i < kM * kN; ++i) in[i] = static_cast<float>(i);
  float *device_in = nullptr, *device_out = nullptr;
  cudaMalloc(&device_in, kBytes);
  cudaMalloc(&device_out, kBytes);
  cudaMemcpy(device_in, in.data(), kBytes, cudaMemcpyHostToDevice);
  const dim3 grid((kN + kTile - 1) / kTile, (kM + kTile - 1) / kTile);
  transpose<<<grid, dim3(kTile, kRows)>>>(device_in, device_out, kM, kN);
  const cudaError_t error = cudaMemcpy(out.data(), device_out, kBytes, cudaMemcpyDeviceToHost);
  cudaFree(device_in);
  cudaFree(device_out);
  if (error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 1;
  }
  int wrong = 0;
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) wrong += out[j * kM + i] != in[i * kN + j];
  }
  std::printf("%d elements are wrong\n", wrong);
  return wrong != 0;
}
