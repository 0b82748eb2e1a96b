// SPDX-License-Identifier: Apache-2.0
// How many cycles the last rungs of Hopper's tensor cores and cuBLAS take for the same product: launched in turn, as
// benchmarks launch them, with the clocks of all SMs read between launches. There all run at one clock, and cycles decide.
// Prints CSV, a line a kernel and size: medians of cycles, of the tensor cores' products in them, of microseconds; the
// SM clock, as cycles over the global timer; TFLOP/s.
//   bench_cycles [SECONDS]              of each product and type, default 0.5;   bench/h200/cycles.sh runs it
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "measure/turns.hpp"

#include "clocks.cuh"
#include "matrices.cuh"

namespace {

using namespace ladder;
using namespace ladder::bench;

// Of an SM: m64n256k16 in 128 clocks, of tf32 m64n256k8.
double flops_per_clock(Type in) { return in == Type::kF32 ? 2048 : 4096; }

void in_turn(const Gpu& gpu, const std::vector<const KernelInfo*>& kernels, double for_s, const Matrices& x) {
  const std::size_t count = kernels.size(), even = 2 * count;  // rounds in which turns are shared out evenly
  const double guess_s = flops(x.p) / (flops_per_clock(x.p.in) * gpu.sms * 1.2e9);
  const auto rounds =
      even *
      std::max<std::size_t>(2, static_cast<std::size_t>(for_s / guess_s / static_cast<double>(count * even)));
  const auto run = [&](Readings* readings) {
    for (std::size_t i = 0; i < rounds * count; ++i) {
      if (readings != nullptr) readings->take(static_cast<int>(i));
      require(kernels[kernel_in_turn(count, i / count, i % count)]->launch(x.p, x.operands(), nullptr),
              "launch");
    }
    if (readings != nullptr) readings->take(static_cast<int>(rounds * count));
    require(cudaDeviceSynchronize(), "rounds");
  };
  Readings readings(gpu, static_cast<int>(rounds * count) + 1);
  run(nullptr);
  run(&readings);
  readings.fetch();
  std::vector<std::vector<double>> cycles(count), ns(count);
  for (std::size_t i = 0; i < rounds * count; ++i) {
    const std::size_t kernel = kernel_in_turn(count, i / count, i % count);
    const Between one = readings(static_cast<int>(i), static_cast<int>(i) + 1);
    cycles[kernel].push_back(one.cycles);
    ns[kernel].push_back(one.ns);
  }
  for (std::size_t kernel = 0; kernel < count; ++kernel) {
    const double c = median(cycles[kernel]), t = median(ns[kernel]);
    std::printf("%lld,%s,%.0f,%.4f,%.1f,%.0f,%.1f\n", static_cast<long long>(x.p.n),
                std::string(kernels[kernel]->id).c_str(), c,
                flops(x.p) / (c * gpu.sms * flops_per_clock(x.p.in)), t * 1e-3, c / t * 1e3,
                flops(x.p) / t * 1e-3);
  }
  std::fflush(stdout);
}

struct Case {
  const char* types;  // as kernels are named after them
  Type in, out;
  int largest;
};
constexpr std::array kCases{
    Case{"bf16", Type::kBf16, Type::kBf16, 16384}, Case{"bf16_f32", Type::kBf16, Type::kF32, 8192},
    Case{"fp16", Type::kF16, Type::kF16, 8192}, Case{"fp16_f32", Type::kF16, Type::kF32, 8192},
    Case{"tf32", Type::kF32, Type::kF32, 8192}};

}  // namespace

int main(int argc, char** argv) {
  const double for_s = argc > 1 ? std::atof(argv[1]) : 0.5;
  const Gpu gpu;
  std::printf("n,kernel,cycles,of_peak_a_clock,us,effective_mhz,tflops\n");
  for (const Case& each : kCases) {
    std::vector<const KernelInfo*> kernels;
    for (const char* rung : {"r16_persistent_", "r17_stream_k_", "cublas_"}) {
      kernels.push_back(&kernel_named(rung + std::string(each.types)));
    }
    for (int n = 4096; n <= each.largest; n *= 2)
      in_turn(gpu, kernels, for_s, Matrices(n, each.in, each.out));
  }
  return 0;
}
