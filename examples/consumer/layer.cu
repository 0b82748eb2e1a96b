// SPDX-License-Identifier: Apache-2.0
// A layer of a network between kernels of the program's own, in CUDA: Y = GELU(X W + bias), with
// alpha on the device.
#include <cuda_runtime.h>
#include <ladder/gemm.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "%s; %s; %s\n", what, ladder_last_error(),
               cudaGetErrorString(cudaPeekAtLastError()));
  std::exit(1);
}

__global__ void fill(float* x, int count, float step) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) x[i] = step * static_cast<float>(i % 3 - 1);
}

static float* filled(int count, float step, cudaStream_t stream) {
  float* x = nullptr;
  require(cudaMalloc(&x, static_cast<std::size_t>(count) * sizeof(float)) == cudaSuccess, "malloc");
  constexpr int kThreads = 128;
  fill<<<(count + kThreads - 1) / kThreads, kThreads, 0, stream>>>(x, count, step);
  return x;
}

int main() {
  constexpr int kRows = 40, kIn = 56, kOut = 24;
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream) == cudaSuccess, "stream");
  float* const x = filled(kRows * kIn, 1.0F, stream);
  float* const w = filled(kIn * kOut, 0.25F, stream);
  float* const bias = filled(kOut, 0.5F, stream);
  float* const y = filled(kRows * kOut, 0.0F, stream);
  const float host_scalars[] = {1.0F, 0.0F};
  float* const scalars = filled(2, 0.0F, stream);
  require(cudaMemcpyAsync(scalars, host_scalars, sizeof host_scalars, cudaMemcpyDefault, stream) ==
              cudaSuccess,
          "scalars");

  ladder_handle handle = nullptr;
  require(ladder_create(&handle) == LADDER_STATUS_OK, "create");
  require(ladder_set_stream(handle, stream) == LADDER_STATUS_OK, "stream");
  require(ladder_set_pointer_mode(handle, LADDER_POINTER_MODE_DEVICE) == LADDER_STATUS_OK, "mode");
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.m = kRows, call.n = kOut, call.k = kIn;
  call.lda = kIn, call.ldb = kOut, call.ldc = kOut;
  call.a = x, call.b = w, call.c = y;
  call.alpha = scalars, call.beta = scalars + 1;
  call.epilogue.bias_kind = LADDER_BIAS_PER_COLUMN;
  call.epilogue.bias = bias;
  call.epilogue.activation = LADDER_ACTIVATION_GELU;
  require(ladder_gemm(handle, &call) == LADDER_STATUS_OK, "gemm");

  std::vector<float> result(kRows * kOut);
  require(cudaMemcpyAsync(result.data(), y, result.size() * sizeof(float), cudaMemcpyDefault,
                          stream) == cudaSuccess,
          "result");
  require(cudaStreamSynchronize(stream) == cudaSuccess, "stream");
  const auto value = [](int i, float step) { return step * static_cast<float>(i % 3 - 1); };
  for (int i = 0; i < kRows; ++i) {
    for (int j = 0; j < kOut; ++j) {
      float sum = value(j, 0.5F);
      for (int k = 0; k < kIn; ++k) sum += value(i * kIn + k, 1.0F) * value(k * kOut + j, 0.25F);
      const double gelu = sum * (1.0 + std::erf(sum / std::sqrt(2.0))) / 2.0;
      require(std::fabs(result[i * kOut + j] - gelu) <= 1e-5 * (1.0 + std::fabs(gelu)), "wrong");
    }
  }
  require(ladder_destroy(handle) == LADDER_STATUS_OK, "destroy");
  for (float* at : {x, w, bias, y, scalars}) require(cudaFree(at) == cudaSuccess, "free");
  require(cudaStreamDestroy(stream) == cudaSuccess, "stream");
  std::puts("layer: right");
}
