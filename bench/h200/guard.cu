// SPDX-License-Identifier: Apache-2.0
// What the guard costs: guarded and unguarded products and cuBLAS's SGEMM, in rounds. Prints one
// CSV line per problem and kernel: problem,kernel,stream_us,graph_us,tflops,ratio. `stream_us`:
// calls back to back in a stream; `graph_us`: a call in a graph, replayed back to back, of which
// `tflops` and `ratio` (to ladder_fp16x3) are computed. Results are medians; operands are uniform
// in [-1, 1).
//   bench_guard MxNxK...
// docs/lab/guard-cost.md has cubes of 512 to 8192:
//   bench/h200/csv.sh guard build results/h200/guard.csv {512,1024,2048,4096,8192}
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::require;

// One call as a graph.
class Replay {
 public:
  template <class Call>
  Replay(Call call, cudaStream_t stream) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    require(call(), "launch");
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&exec_, graph, 0), "graph");
    require(cudaGraphDestroy(graph), "graph");
  }
  ~Replay() { static_cast<void>(cudaGraphExecDestroy(exec_)); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  void enqueue() const { require(cudaGraphLaunch(exec_, stream_), "graph"); }

 private:
  cudaStream_t stream_;
  cudaGraphExec_t exec_ = nullptr;
};

// Microseconds of one of several calls back to back, after as many to warm up.
template <class Work>
double sample_us(bench::Stopwatch& watch, const Work& work, int calls) {
  watch.ms(calls, work);
  return 1e3 * watch.ms(calls, work) / calls;
}

struct Samples {
  std::vector<double> stream, graph;
};

void measure(const Problem& p, cudaStream_t stream) {
  constexpr std::string_view kKernels[] = {"ladder_fp16x3", "ladder_guarded", "cublas_ieee"};
  constexpr int kRounds = 9;
  constexpr double kSampleUs = 4000;
  const auto a = bench::uniform_operand(extent_a(p).elements(), 1),
             b = bench::uniform_operand(extent_b(p).elements(), 77),
             c = bench::allocate<float>(extent_c(p).elements(), "C");
  const Operands o{a.get(), b.get(), c.get()};
  bench::Stopwatch watch(stream);
  std::vector<Samples> samples(std::size(kKernels));
  std::vector<std::unique_ptr<Replay>> replays;
  const auto call_of = [&](std::size_t i) {
    return [&, &kernel = bench::kernel_named(kKernels[i])] { return kernel.launch(p, o, stream); };
  };
  for (std::size_t i = 0; i < std::size(kKernels); ++i) {
    require(call_of(i)(), "launch");  // allocations on first use happen here
    require(cudaStreamSynchronize(stream), "launch");
    replays.push_back(std::make_unique<Replay>(call_of(i), stream));
  }
  for (int round = -1; round < kRounds; ++round) {
    for (std::size_t turn = 0; turn < std::size(kKernels); ++turn) {
      // Forwards and backwards in turn: a kernel that draws much power slows down the next.
      const std::size_t i = round % 2 == 0 ? turn : std::size(kKernels) - 1 - turn;
      const auto whole = [&, i] { replays[i]->enqueue(); };
      const int calls =
          std::clamp(static_cast<int>(kSampleUs / (1e3 * watch.ms(1, whole))), 2, 100);
      const double graph = sample_us(watch, whole, calls);
      const auto call = call_of(i);
      const double in_stream = sample_us(
          watch, [&] { require(call(), "launch"); }, calls);
      if (round >= 0) samples[i].graph.push_back(graph), samples[i].stream.push_back(in_stream);
    }
  }
  const double unguarded = bench::median(samples[0].graph);
  for (std::size_t i = 0; i < std::size(kKernels); ++i) {
    const double us = bench::median(samples[i].graph);
    std::printf("%s,%s,%.2f,%.2f,%.1f,%.3f\n", to_string(p).c_str(),
                std::string(kKernels[i]).c_str(), bench::median(samples[i].stream), us,
                flops(p) / us * 1e-6, us / unguarded);
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream), "stream");
  std::printf("problem,kernel,stream_us,graph_us,tflops,ratio\n");
  for (int i = 1; i < argc; ++i) {
    const auto shape = parse_shape(argv[i]);
    require(shape.status(), "shape");
    measure(shape.value(), stream);
  }
  return 0;
}
