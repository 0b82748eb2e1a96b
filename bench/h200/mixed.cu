// SPDX-License-Identifier: Apache-2.0
// The library's choice, ladder::sgemm with Precision::kAuto, against cuBLAS's SGEMM on the suite `mixed`: one line a problem, CSV:
// problem,kernel,auto_us,ieee_us,cublas_us,ratio. Replayed from CUDA graphs, interleaved, medians; operands uniform in
// [-1, 1), warm. Exit status 1 where auto is slower than cuBLAS by more than 5%.
//   bench_mixed [SHAPE]...                                default: the suite
#include <cuda_runtime.h>
#include <ladder/gemm.hpp>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/query.hpp"
#include "problem/suites.hpp"

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::fill;
using bench::require;

struct Free {
  void operator()(float* g) const { static_cast<void>(cudaFree(g)); }
};
using Memory = std::unique_ptr<float, Free>;
Memory uniform(std::int64_t count, std::uint32_t seed) {
  float* g = nullptr;
  require(cudaMalloc(&g, sizeof(float) * static_cast<std::size_t>(std::max<std::int64_t>(count, 1))),
          "memory");
  fill<<<1024, 256>>>(g, count, seed);
  return Memory(g);
}

using Work = std::function<Status(Stream)>;

// Launches of one kernel, recorded once.
class Recording {
 public:
  Recording(const Work& work, cudaStream_t stream) : stream_(stream) {
    cudaGraph_t graph = nullptr;
    require(cudaEventCreate(&begin_), "event");
    require(cudaEventCreate(&end_), "event");
    const double once = time([&] { require(work(stream), "launch"); });
    constexpr double kSampleUs = 400;
    launches_ = std::clamp(static_cast<int>(kSampleUs / once), 1, 40);
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    for (int i = 0; i < launches_; ++i) require(work(stream), "launch");
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&graph_, graph, 0), "graph");
    require(cudaGraphDestroy(graph), "graph");
  }
  ~Recording() {
    static_cast<void>(cudaGraphExecDestroy(graph_));
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // Microseconds of a launch.
  double sample() {
    return time([&] { require(cudaGraphLaunch(graph_, stream_), "graph"); }) / launches_;
  }

 private:
  template <class F>
  double time(F work) {
    float ms = 0;
    require(cudaEventRecord(begin_, stream_), "event");
    work();
    require(cudaEventRecord(end_, stream_), "event");
    require(cudaEventSynchronize(end_), "work");
    require(cudaEventElapsedTime(&ms, begin_, end_), "event");
    return 1e3 * ms;
  }
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
  cudaGraphExec_t graph_ = nullptr;
  int launches_ = 1;
};

std::vector<double> medians(const std::vector<Work>& works, cudaStream_t stream) {
  constexpr int kRounds = 15;
  constexpr double kBudgetUs = 150e3;
  for (const Work& work : works) require(work(stream), "launch");  // what is made at first use is made now
  require(cudaStreamSynchronize(stream), "launch");
  std::vector<std::unique_ptr<Recording>> recordings;
  for (const Work& work : works) recordings.push_back(std::make_unique<Recording>(work, stream));
  std::vector<std::vector<double>> samples(works.size());
  double spent = 0;
  for (int round = -2; round < kRounds && (round < 3 || spent < kBudgetUs); ++round) {  // two to warm up
    for (std::size_t i = 0; i < works.size(); ++i) {
      recordings[i]->sample();  // the other's heat and cache contents are not this one's
      const double us = recordings[i]->sample();
      spent += 2 * us;
      if (round >= 0) samples[i].push_back(us);
    }
  }
  std::vector<double> result;
  for (std::vector<double>& s : samples) {
    std::nth_element(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(s.size() / 2), s.end());
    result.push_back(s[s.size() / 2]);
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Problem> problems;
  for (int i = 1; i < argc; ++i) {
    const auto shapes = parse_shapes(argv[i]);
    require(shapes.status(), "shape");
    problems.insert(problems.end(), shapes.value().begin(), shapes.value().end());
  }
  if (problems.empty()) problems = find_suite("mixed").value();
  const auto device = query_device(0);
  require(device.status(), "device");
  const auto baselines = find_kernels("cublas_ieee");
  require(baselines.status(), "cublas_ieee");
  const KernelInfo& cublas = *baselines.value().front();
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream), "stream");
  int slower = 0;
  double worst = std::numeric_limits<double>::infinity();
  std::printf("problem,kernel,auto_us,ieee_us,cublas_us,ratio\n");
  for (const Problem& p : problems) {
    const Memory a = uniform(extent_a(p).elements(), 1), b = uniform(extent_b(p).elements(), 77),
                 c = uniform(extent_c(p).elements(), 5);
    const Operands o{a.get(), b.get(), c.get()};
    const auto chosen = select(p, Place::kCuda, Precision::kAuto, device.value());
    const auto with = [&](Precision precision) -> Work {
      return [&, precision](Stream s) { return sgemm(p, o, s, precision); };
    };
    const std::vector<double> us = medians(
        {with(Precision::kAuto), with(Precision::kIeee), [&](Stream s) { return cublas.launch(p, o, s); }},
        stream);
    const double ratio = us[2] / us[0];
    slower += ratio >= 1 / 1.05 ? 0 : 1;
    worst = std::min(worst, ratio);
    std::string name = to_string(p);
    std::replace(name.begin(), name.end(), ',', ';');
    std::printf("%s,%s,%.2f,%.2f,%.2f,%.3f\n", name.c_str(),
                chosen ? std::string(chosen.value()->id).c_str() : "-", us[0], us[1], us[2], ratio);
    std::fflush(stdout);
  }
  std::fprintf(stderr, "%zu problems, %d slower than cuBLAS by more than 5%%, the worst %.3f of its rate\n",
               problems.size(), slower, worst);
  return slower == 0 ? 0 : 1;
}
