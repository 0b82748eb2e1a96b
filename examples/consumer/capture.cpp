// SPDX-License-Identifier: Apache-2.0
// A batch of products that is captured into a CUDA graph by the first call of a handle, in C++.
#include <cuda_runtime_api.h>
#include <ladder/gemm.h>

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <vector>

namespace {

void check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}
void check(ladder_status status) {
  if (status != LADDER_STATUS_OK) throw std::runtime_error(ladder_last_error());
}

struct Free {
  void operator()(float* at) const { cudaFree(at); }
};
using Memory = std::unique_ptr<float, Free>;

Memory filled(std::size_t count, float value) {
  const std::vector<float> host(count, value);
  float* at = nullptr;
  check(cudaMalloc(reinterpret_cast<void**>(&at), count * sizeof(float)));
  Memory memory(at);
  check(cudaMemcpy(at, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  return memory;
}

void run() {
  constexpr int kSize = 48, kCount = 3;
  constexpr std::size_t kElements = std::size_t{kSize} * kSize;
  const Memory a = filled(kElements * kCount, 2), b = filled(kElements, 0.5F),
               c = filled(kElements * kCount, 0);
  ladder_handle handle = nullptr;
  check(ladder_create(&handle));
  const std::unique_ptr<ladder_context, decltype(&ladder_destroy)> owned(handle, ladder_destroy);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreate(&stream));
  check(ladder_set_stream(handle, stream));

  const float alpha = 1, beta = 0;
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.m = call.n = call.k = call.lda = call.ldb = call.ldc = kSize;
  call.alpha = &alpha;
  call.beta = &beta;
  call.a = a.get();
  call.b = b.get();
  call.c = c.get();
  call.batch_count = kCount;
  call.stride_a = call.stride_c = kElements;  // all share B
  call.epilogue.activation = LADDER_ACTIVATION_RELU;

  ladder_gemm_plan plan{};
  plan.struct_size = sizeof plan;
  check(ladder_plan(handle, &call, &plan));
  std::printf("%s: %s; workspace %zu bytes\n", plan.kernel, plan.why, plan.workspace_bytes);

  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
  check(ladder_gemm(handle, &call));
  check(cudaStreamEndCapture(stream, &graph));
  check(cudaGraphInstantiate(&exec, graph, 0));
  check(cudaGraphLaunch(exec, stream));
  check(cudaStreamSynchronize(stream));
  std::vector<float> result(kElements * kCount);
  check(cudaMemcpy(result.data(), c.get(), result.size() * sizeof(float), cudaMemcpyDeviceToHost));
  for (const float value : result) {
    if (value != kSize) throw std::runtime_error("wrong");
  }
  check(cudaGraphExecDestroy(exec));
  check(cudaGraphDestroy(graph));
  check(cudaStreamDestroy(stream));
}

}  // namespace

int main() {
  try {
    run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  std::puts("captured batch: right");
}
