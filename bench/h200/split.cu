// SPDX-License-Identifier: Apache-2.0
// Where the time of a product of split operands goes: the whole call, the passes over A and B, and the product. One line a
// problem and way, CSV: m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops. Medians of back-to-back launches after a warm-up,
// operands uniform in [-1, 1). `fused`: the operand of more lines is split within the product.
//   bench_split MxNxK[:NN|NT|TN|TT]...
#include "device/split_fused.cuh"
#include "device/split_product.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::fill;
using bench::require;

template <class Work>
double median_ms(Work work) {
  constexpr int kSamples = 15;
  constexpr float kWarmMs = 200;
  cudaEvent_t begin, end;
  require(cudaEventCreate(&begin), "event");
  require(cudaEventCreate(&end), "event");
  const auto once = [&](int launches) {
    require(cudaEventRecord(begin), "record");
    for (int i = 0; i < launches; ++i) work();
    require(cudaEventRecord(end), "record");
    require(cudaEventSynchronize(end), "work");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    return ms;
  };
  once(1);
  const int launches = std::max(1, static_cast<int>(5 / std::max(1e-3F, once(5) / 5)));
  for (float spent = 0; spent < kWarmMs;) spent += once(launches);
  std::vector<float> samples;
  for (int i = 0; i < kSamples; ++i) samples.push_back(once(launches) / static_cast<float>(launches));
  std::nth_element(samples.begin(), samples.begin() + kSamples / 2, samples.end());
  return samples[kSamples / 2];
}

template <class Job>
void measure(const char* name, const Problem& p, const Operands& o) {
  SplitCall split;
  require(prepare_split(p, o, split), "device");
  const Job job(split.p, split.o, split.sms);
  char* scratch = nullptr;
  require(cudaMalloc(&scratch, static_cast<std::size_t>(job.scratch_bytes())), "words");
  unsigned* gFlags = nullptr;
  require(cudaMalloc(&gFlags, static_cast<std::size_t>(4 * job.flags())), "flags");
  require(cudaMemset(gFlags, 0, static_cast<std::size_t>(4 * job.flags())), "flags");
  const SplitTarget x = job.target(scratch);
  const double call = median_ms([&] { require(launch_job(job, nullptr), name); });
  const double pass = median_ms([&] { require(job.pass(x, nullptr), name); });
  const double product = median_ms([&] { require(job.product(x, scratch, gFlags, nullptr), name); });
  std::printf("%lld,%lld,%lld,%c%c,%s,%.4f,%.4f,%.4f,%.1f\n", static_cast<long long>(p.m),
              static_cast<long long>(p.n), static_cast<long long>(p.k), p.op_a == Op::kNone ? 'N' : 'T',
              p.op_b == Op::kNone ? 'N' : 'T', name, call, pass, product, flops(p) / call * 1e-9);
  std::fflush(stdout);
  require(cudaFree(scratch), "free");
  require(cudaFree(gFlags), "free");
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops\n");
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i], shape = text.substr(0, text.find(':'));
    const std::string ops = text.find(':') == std::string::npos ? "NN" : text.substr(text.find(':') + 1);
    const auto parsed = parse_shape(shape);
    require(parsed.status(), "shape");
    const Problem& sizes = parsed.value();
    const Problem p =
        make_problem(sizes.m, sizes.n, sizes.k, 1, 0, ops[0] == 'T' ? Op::kTranspose : Op::kNone,
                     ops[1] == 'T' ? Op::kTranspose : Op::kNone);
    float *a = nullptr, *b = nullptr, *c = nullptr;
    require(cudaMalloc(&a, 4 * static_cast<std::size_t>(p.m * p.k)), "A");
    require(cudaMalloc(&b, 4 * static_cast<std::size_t>(p.n * p.k)), "B");
    require(cudaMalloc(&c, 4 * static_cast<std::size_t>(p.m * p.n)), "C");
    fill<<<1024, 256>>>(a, p.m * p.k, 1);
    fill<<<1024, 256>>>(b, p.n * p.k, 77);
    measure<SplitJob<WordFormat<__half, 2>, 3>>("fp16x3", p, {a, b, c});
    measure<FusedJob<WordFormat<__half, 2>, 3>>("fp16x3 fused", p, {a, b, c});
    measure<SplitJob<WordFormat<__nv_bfloat16, 3>, 6>>("bf16x6", p, {a, b, c});
    require(cudaFree(a), "free");
    require(cudaFree(b), "free");
    require(cudaFree(c), "free");
  }
  return 0;
}
