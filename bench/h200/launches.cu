// SPDX-License-Identifier: Apache-2.0
// What a launch costs within a graph of kernels that follow one another: alone, and with one load
// and store per thread. Prints CSV: whether the next launch may start early, blocks, threads,
// shared memory, cluster, loads, microseconds per launch.
//   bench/h200/thin.sh runs it
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "device/ptx/cluster.cuh"
#include "device/ptx/dependent.cuh"
#include "operands.cuh"

namespace {

using namespace ladder;

struct Form {
  bool early;
  int blocks, threads, bytes, cluster, loads;
};

__global__ void __launch_bounds__(1024) chain(const float* g, float* gOut, int loads, int cluster) {
  ptx::launch_dependents();
  ptx::wait_for_prerequisites();
  if (cluster > 1) ptx::cluster_sync();
  if (loads == 0) return;
  const auto at = blockIdx.x * blockDim.x + threadIdx.x;
  float x = g[at];
  for (int i = 1; i < loads; ++i)
    x = g[(at + static_cast<unsigned>(fabsf(x))) % (blockDim.x * gridDim.x)];
  gOut[at] = x + 1.0F;
}

double us_of(const Form& form, const float* g, float* gOut) {
  constexpr int kLaunches = 100, kSamples = 15;
  cudaStream_t stream = nullptr;
  bench::require(cudaStreamCreate(&stream), "stream");
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeClusterDimension;
  attributes[0].val.clusterDim = {static_cast<unsigned>(form.cluster), 1, 1};
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(form.blocks));
  config.blockDim = dim3(static_cast<unsigned>(form.threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(form.bytes);
  config.stream = stream;
  config.attrs = form.cluster > 1 ? attributes : attributes + 1;
  config.numAttrs = (form.cluster > 1 ? 1U : 0U) + (form.early ? 1U : 0U);
  bench::require(cudaFuncSetAttribute(chain, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      std::max(form.bytes, 48 << 10)),
                 "shared memory");
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t made = nullptr;
  bench::require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
  for (int i = 0; i < kLaunches; ++i)
    bench::require(cudaLaunchKernelEx(&config, chain, g, gOut, form.loads, form.cluster), "launch");
  bench::require(cudaStreamEndCapture(stream, &graph), "capture");
  bench::require(cudaGraphInstantiate(&made, graph, 0), "graph");
  cudaEvent_t begin = nullptr, end = nullptr;
  bench::require(cudaEventCreate(&begin), "event");
  bench::require(cudaEventCreate(&end), "event");
  std::vector<float> ms;
  for (int i = 0; i < kSamples; ++i) {
    bench::require(cudaEventRecord(begin, stream), "event");
    bench::require(cudaGraphLaunch(made, stream), "graph");
    bench::require(cudaEventRecord(end, stream), "event");
    bench::require(cudaEventSynchronize(end), "graph");
    ms.push_back(0);
    bench::require(cudaEventElapsedTime(&ms.back(), begin, end), "event");
  }
  bench::require(cudaEventDestroy(begin), "event");
  bench::require(cudaEventDestroy(end), "event");
  bench::require(cudaGraphExecDestroy(made), "graph");
  bench::require(cudaGraphDestroy(graph), "graph");
  bench::require(cudaStreamDestroy(stream), "stream");
  std::sort(ms.begin(), ms.end());
  return 1e3 * ms[kSamples / 2] / kLaunches;
}

}  // namespace

int main() {
  constexpr std::int64_t kElements = 1024 * 1024;
  const auto in = bench::uniform_operand(kElements, 1), out = bench::uniform_operand(kElements, 2);
  std::printf("early,blocks,threads,shared_bytes,cluster,loads,us\n");
  for (const bool early : {false, true}) {
    for (const int loads : {0, 1, 2}) {
      for (const Form& form : {Form{early, 1, 256, 0, 1, loads},
                               {early, 8, 256, 0, 1, loads},
                               {early, 132, 256, 0, 1, loads},
                               {early, 132, 256, 32 << 10, 1, loads},
                               {early, 132, 256, 80 << 10, 1, loads},
                               {early, 132, 1024, 0, 1, loads},
                               {early, 528, 256, 0, 1, loads},
                               {early, 8, 256, 0, 2, loads},
                               {early, 8, 256, 0, 8, loads},
                               {early, 128, 256, 0, 2, loads},
                               {early, 128, 256, 0, 8, loads}}) {
        std::printf("%d,%d,%d,%d,%d,%d,%.3f\n", early ? 1 : 0, form.blocks, form.threads,
                    form.bytes, form.cluster, form.loads, us_of(form, in.get(), out.get()));
      }
    }
  }
  return 0;
}
