// SPDX-License-Identifier: Apache-2.0
// Cycles that the last tensor-core rungs for Hopper and cuBLAS take for the same product. Prints
// CSV, one line per kernel and size: medians of cycles, of the tensor cores' products per cycle, of
// microseconds; the SM clock, as cycles over the global timer; TFLOP/s.
//   bench_cycles [SECONDS]    per product and type, default 0.5; bench/h200/csv.sh cycles runs it
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cycles.cuh"

namespace {

using namespace ladder;
using namespace ladder::bench;

void print(const Gpu& gpu, const std::vector<const KernelInfo*>& kernels, double for_s,
           const Matrices& x) {
  const std::vector<Samples> samples = cycles_in_turn(gpu, kernels, for_s, x);
  for (std::size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    const double c = median(samples[kernel].cycles), t = median(samples[kernel].ns);
    std::printf("%lld,%s,%.0f,%.4f,%.1f,%.0f,%.1f\n", static_cast<long long>(x.p.n),
                std::string(kernels[kernel]->id).c_str(), c,
                flops(x.p) / (c * gpu.sms * flops_per_clock(x.p.in)), t * 1e-3, c / t * 1e3,
                flops(x.p) / t * 1e-3);
  }
  std::fflush(stdout);
}

struct Case {
  const char* types;  // as in the names of the kernels
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
    for (const char* rung : {"r16_persistent_", "ladder_", "cublas_"}) {
      kernels.push_back(&kernel_named(rung + std::string(each.types)));
    }
    for (int n = 4096; n <= each.largest; n *= 2)
      print(gpu, kernels, for_s, Matrices(n, each.in, each.out));
  }
  return 0;
}
