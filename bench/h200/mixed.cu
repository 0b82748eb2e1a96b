// SPDX-License-Identifier: Apache-2.0
// Compares the library's selection, ladder::sgemm with Precision::kAuto, with cuBLAS's SGEMM on the
// suite `mixed`. Prints one CSV line per problem: problem,kernel,auto_us,ieee_us,cublas_us,ratio.
// Launches are replayed from CUDA graphs and interleaved; times are medians. Operands are uniform
// in [-1, 1), with a warm cache. Exit status 1 if auto is slower than cuBLAS by more than 5%.
//   bench_mixed [SHAPE|SUITE]...                          default: mixed
#include <cuda_runtime.h>
#include <ladder/sgemm.hpp>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "host/query.hpp"
#include "problem/suites.hpp"

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::require;

using Work = std::function<Status(Stream)>;

// Launches of one kernel, captured once.
class Recording {
 public:
  Recording(const Work& work, cudaStream_t stream) : stream_(stream), watch_(stream) {
    cudaGraph_t graph = nullptr;
    const double once = 1e3 * watch_.ms(1, [&] { require(work(stream), "launch"); });
    constexpr double kSampleUs = 400;
    launches_ = std::clamp(static_cast<int>(kSampleUs / once), 1, 40);
    require(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed), "capture");
    for (int i = 0; i < launches_; ++i) require(work(stream), "launch");
    require(cudaStreamEndCapture(stream, &graph), "capture");
    require(cudaGraphInstantiate(&graph_, graph, 0), "graph");
    require(cudaGraphDestroy(graph), "graph");
  }
  ~Recording() { static_cast<void>(cudaGraphExecDestroy(graph_)); }
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;
  // Microseconds per launch.
  double sample() {
    return 1e3 * watch_.ms(1, [&] { require(cudaGraphLaunch(graph_, stream_), "graph"); }) /
           launches_;
  }

 private:
  cudaStream_t stream_;
  bench::Stopwatch watch_;
  cudaGraphExec_t graph_ = nullptr;
  int launches_ = 1;
};

std::vector<double> medians(const std::vector<Work>& works, cudaStream_t stream) {
  constexpr int kRounds = 15;
  constexpr double kBudgetUs = 150e3;
  for (const Work& work : works)
    require(work(stream), "launch");  // allocations on first use happen here
  require(cudaStreamSynchronize(stream), "launch");
  std::vector<std::unique_ptr<Recording>> recordings;
  for (const Work& work : works) recordings.push_back(std::make_unique<Recording>(work, stream));
  std::vector<std::vector<double>> samples(works.size());
  double spent = 0;
  for (int round = -2; round < kRounds && (round < 3 || spent < kBudgetUs);
       ++round) {  // two warm-up rounds
    for (std::size_t i = 0; i < works.size(); ++i) {
      recordings[i]->sample();  // after the other kernel's heat and cache contents
      const double us = recordings[i]->sample();
      spent += 2 * us;
      if (round >= 0) samples[i].push_back(us);
    }
  }
  std::vector<double> result;
  for (const std::vector<double>& s : samples) result.push_back(bench::median(s));
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Problem> problems;
  for (int i = 1; i < argc; ++i) {
    const auto suite = find_suite(argv[i]);
    const auto shapes = suite ? suite : parse_shapes(argv[i]);
    require(shapes.status(), "shape");
    problems.insert(problems.end(), shapes.value().begin(), shapes.value().end());
  }
  if (problems.empty()) problems = find_suite("mixed").value();
  const auto device = query_device(0);
  require(device.status(), "device");
  const KernelInfo& cublas = bench::kernel_named("cublas_ieee");
  cudaStream_t stream = nullptr;
  require(cudaStreamCreate(&stream), "stream");
  int slower = 0;
  double worst = std::numeric_limits<double>::infinity();
  std::printf("problem,kernel,auto_us,ieee_us,cublas_us,ratio\n");
  for (const Problem& p : problems) {
    const auto a = bench::uniform_operand(extent_a(p).elements(), 1),
               b = bench::uniform_operand(extent_b(p).elements(), 77),
               c = bench::uniform_operand(extent_c(p).elements(), 5);
    const Operands o{a.get(), b.get(), c.get()};
    const auto chosen = select(p, Place::kCuda, Precision::kAuto, device.value());
    const auto with = [&](Precision precision) -> Work {
      return [&, precision](Stream s) { return sgemm(p, o, s, precision); };
    };
    const std::vector<double> us = medians({with(Precision::kAuto), with(Precision::kIeee),
                                            [&](Stream s) { return cublas.launch(p, o, s); }},
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
  std::fprintf(stderr,
               "%zu problems, %d slower than cuBLAS by more than 5%%, the worst %.3f of its rate\n",
               problems.size(), slower, worst);
  return slower == 0 ? 0 : 1;
}
