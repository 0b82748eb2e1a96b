// SPDX-License-Identifier: Apache-2.0
// What the guard costs: guarded and unguarded products and cuBLAS's SGEMM, in rounds, and the parts
// of each call. Prints one CSV line per problem and kernel:
// problem,kernel,launches,stream_us,graph_us,tflops,ratio,up_to_us. `stream_us`: calls back to back
// in a stream; `graph_us`: a call in a graph, replayed back to back, of which `tflops` and `ratio`
// (to ladder_fp16x3) are computed; `up_to_us`: the same with the call's first launch only, its
// first two, and so on, separated by spaces. Differences of neighbours are what each launch adds.
// Results are medians; operands are uniform in [-1, 1).
//   bench_guard MxNxK...
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::require;

// One call as a graph that ends after its first `most` launches.
class Replay {
 public:
  template <class Call>
  Replay(Call call, std::size_t most, cudaStream_t stream) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    require(call(), "launch");
    require(cudaStreamEndCapture(stream, &graph), "capture");
    launches_ = shorten(graph, most);
    require(cudaGraphInstantiate(&exec_, graph, 0), "graph");
    require(cudaGraphDestroy(graph), "graph");
  }
  ~Replay() { static_cast<void>(cudaGraphExecDestroy(exec_)); }
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  std::size_t launches() const { return launches_; }
  void enqueue() const { require(cudaGraphLaunch(exec_, stream_), "graph"); }

 private:
  // Leaves the first `most` of a chain of nodes, and returns how many are left; 1 if the graph is
  // no chain or nodes cannot be removed: the call is then replayed whole.
  static std::size_t shorten(cudaGraph_t graph, std::size_t most) {
    std::vector<cudaGraphNode_t> chain;
    cudaGraphNode_t node = nullptr;
    std::size_t more = 1, nodes = 0;
    cudaError_t error = cudaGraphGetRootNodes(graph, &node, &more);
    while (error == cudaSuccess && more == 1) {
      chain.push_back(node);
      cudaGraphEdgeData edge{};
      error = cudaGraphNodeGetDependentNodes(chain.back(), &node, &edge, &more);
    }
    if (error == cudaSuccess) error = cudaGraphGetNodes(graph, nullptr, &nodes);
    if (error != cudaSuccess || chain.size() != nodes) {
      std::printf("# not a chain of %zu launches: %s\n", nodes, cudaGetErrorString(error));
      static_cast<void>(cudaGetLastError());
      return 1;
    }
    for (; chain.size() > most; chain.pop_back())
      require(cudaGraphDestroyNode(chain.back()), "node");
    return chain.size();
  }

  cudaStream_t stream_;
  std::size_t launches_ = 0;
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
  std::vector<std::vector<double>> up_to;
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
  // Kept to the end: a call that ends early leaves memory that no other call may take over.
  static std::vector<std::vector<std::unique_ptr<Replay>>> kept;
  const std::size_t first = kept.size();
  kept.resize(first + std::size(kKernels));
  const std::span replays(kept.begin() + static_cast<std::ptrdiff_t>(first), std::size(kKernels));
  const auto call_of = [&](std::size_t i) {
    return [&, &kernel = bench::kernel_named(kKernels[i])] { return kernel.launch(p, o, stream); };
  };
  for (std::size_t i = 0; i < std::size(kKernels); ++i) {
    require(call_of(i)(), "launch");  // allocations on first use happen here
    require(cudaStreamSynchronize(stream), "launch");
    for (std::size_t most = 1; most == replays[i].size() + 1; ++most) {
      auto replay = std::make_unique<Replay>(call_of(i), most, stream);
      if (replay->launches() == most) replays[i].push_back(std::move(replay));
    }
    samples[i].up_to.resize(replays[i].size());
  }
  for (int round = -1; round < kRounds; ++round) {
    for (std::size_t i = 0; i < std::size(kKernels); ++i) {
      const auto whole = [&, i] { replays[i].back()->enqueue(); };
      const int calls =
          std::clamp(static_cast<int>(kSampleUs / (1e3 * watch.ms(1, whole))), 2, 100);
      const double graph = sample_us(watch, whole, calls);
      const auto call = call_of(i);
      const double in_stream = sample_us(
          watch, [&] { require(call(), "launch"); }, calls);
      if (round >= 0) samples[i].graph.push_back(graph), samples[i].stream.push_back(in_stream);
      for (std::size_t most = 0; most + 1 < replays[i].size(); ++most) {
        const double us = sample_us(
            watch, [&] { replays[i][most]->enqueue(); }, calls);
        if (round >= 0) samples[i].up_to[most].push_back(us);
      }
      if (round >= 0) samples[i].up_to.back().push_back(graph);
    }
  }
  const double unguarded = bench::median(samples[0].graph);
  for (std::size_t i = 0; i < std::size(kKernels); ++i) {
    const double us = bench::median(samples[i].graph);
    std::printf("%s,%s,%zu,%.2f,%.2f,%.1f,%.3f,", to_string(p).c_str(),
                std::string(kKernels[i]).c_str(), replays[i].size(),
                bench::median(samples[i].stream), us, flops(p) / us * 1e-6, us / unguarded);
    for (const std::vector<double>& up_to : samples[i].up_to)
      std::printf(" %.2f", bench::median(up_to));
    std::printf("\n");
  }
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream), "stream");
  std::printf("problem,kernel,launches,stream_us,graph_us,tflops,ratio,up_to_us\n");
  for (int i = 1; i < argc; ++i) {
    const auto shape = parse_shape(argv[i]);
    require(shape.status(), "shape");
    measure(shape.value(), stream);
  }
  return 0;
}
