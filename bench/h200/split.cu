// SPDX-License-Identifier: Apache-2.0
// The parts of the time of a product with split operands: the whole call, the split pre-passes over
// A and B, and the product. Prints one CSV line per problem and variant:
// m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops,beside_ms,beside_tflops,cublas_ms. The first
// four results are medians of launches of one kind back to back, at the clock that this kind alone
// allows. The others are from calls alternating with cuBLAS's SGEMM of the same problem, as in
// `ladder bench`. All follow a warm-up; operands are uniform in [-1, 1). Variants: `fused`, where C
// has few rows or columns: the larger operand is split within the product kernel. `packed`: B has
// been split before.
//   bench_split MxNxK[:NN|NT|TN|TT][+LD]...    +LD: added to the smallest leading dimensions
#include "gemm/split/fused.cuh"
#include "gemm/split/product.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::allocate;
using bench::median;
using bench::Memory;
using bench::require;
using bench::Stopwatch;

constexpr float kWarmMs = 100, kSamplesMs = 100;
// Number of launches that take `ms` in total.
int samples_of(float ms) { return std::clamp(static_cast<int>(kSamplesMs / ms), 5, 15); }

template <class Work>
double alone_ms(Work work) {
  Stopwatch watch;
  watch.ms(1, work);
  const int launches = std::max(1, static_cast<int>(5 / std::max(1e-3F, watch.ms(2, work) / 2)));
  for (float spent = 0; spent < kWarmMs;) spent += watch.ms(launches, work);
  std::vector<float> samples;
  const float once = watch.ms(1, work);
  for (int left = samples_of(once); left > 0; --left)
    samples.push_back(watch.ms(launches, work) / static_cast<float>(launches));
  return median(samples);
}

struct Beside {
  double ms, other_ms;
};
// Rounds of one launch of each kind. Several are enqueued at once, so that none waits for the host.
template <class Work, class Other>
Beside beside_ms(Work work, Other other) {
  constexpr int kAtOnce = 3;
  Stopwatch of_work[kAtOnce], of_other[kAtOnce];
  std::vector<float> ms, other_ms;
  float spent = 0;
  while (ms.empty() || ms.size() < static_cast<std::size_t>(samples_of(ms.front()))) {
    for (int i = 0; i < kAtOnce; ++i) {
      of_other[i].enqueue(1, other);
      of_work[i].enqueue(1, work);
    }
    const bool warm = spent >= kWarmMs;
    for (int i = 0; i < kAtOnce; ++i) {
      const float a = of_work[i].wait_ms(), b = of_other[i].wait_ms();
      spent += a + b;
      if (warm) ms.push_back(a), other_ms.push_back(b);
    }
  }
  return {median(ms), median(other_ms)};
}

// Times a job's call alternating with cuBLAS's, and its parts alone. `prepare` is called for each
// job, and its result is kept alive.
template <class Job, class Prepare>
void measure(const char* name, const Problem& p, const Operands& o, Prepare prepare) {
  RowMajorCall split;
  require(row_major_call(p, o, split), "device");
  Job job(split.p, split.o, split.device.sms);
  const Memory<char> kept = prepare(job), scratch = allocate<char>(job.scratch_bytes(), "terms");
  const Memory<unsigned> flags = allocate<unsigned>(job.flags(), "flags");
  require(cudaMemset(flags.get(), 0, static_cast<std::size_t>(4 * job.flags())), "flags");
  char* const at = scratch.get();
  const SplitTarget x = job.target(at);
  const auto whole = [&] { require(launch_job(job, nullptr), name); };
  const double call = alone_ms(whole);
  const double pass = alone_ms([&] { require(job.pass(x, nullptr), name); });
  const double product = alone_ms([&] { require(job.product(x, at, flags.get(), nullptr), name); });
  const KernelInfo& cublas = bench::kernel_named("cublas_ieee");
  const Beside beside =
      beside_ms(whole, [&] { require(cublas.launch(p, o, nullptr), cublas.id.data()); });
  const auto tflops = [&](double ms) { return flops(p) / ms * 1e-9; };
  std::printf("%lld,%lld,%lld,%c%c%s,%s,%.4f,%.4f,%.4f,%.1f,%.4f,%.1f,%.4f\n",
              static_cast<long long>(p.m), static_cast<long long>(p.n), static_cast<long long>(p.k),
              p.op_a == Op::kNone ? 'N' : 'T', p.op_b == Op::kNone ? 'N' : 'T',
              p.ldc > p.n ? " odd" : "", name, call, pass, product, tflops(call), beside.ms,
              tflops(beside.ms), beside.other_ms);
  std::fflush(stdout);
}
template <class Job>
void measure(const char* name, const Problem& p, const Operands& o) {
  measure<Job>(name, p, o, [](Job&) { return Memory<char>(); });
}

// With B split in advance.
void measure_packed(const Problem& p, const Operands& o) {
  using Job = SplitJob<TermFormat<__half, 2>, 3>;
  measure<Job>("fp16x3 packed", p, o, [&](Job& job) {
    Memory<char> terms_a = allocate<char>(job.packed_bytes(true), "terms of A"),
                 terms_b = allocate<char>(job.packed_bytes(false), "terms of B");
    Job of_b = job;
    of_b.use_packed(true, terms_a.get());  // which leaves the pass over B alone
    require(of_b.pass(of_b.target(terms_b.get()), nullptr), "pass over B");
    require(cudaDeviceSynchronize(), "pass over B");
    job.use_packed(false, terms_b.get());
    return terms_b;
  });
}

Problem parse(const std::string& text) {
  const std::size_t colon = text.find(':'), plus = text.find('+');
  const auto parsed = parse_shape(text.substr(0, std::min(colon, plus)));
  require(parsed.status(), "shape");
  const std::string ops = colon == std::string::npos ? "NN" : text.substr(colon + 1, 2);
  const Problem& sizes = parsed.value();
  Problem p =
      make_problem(sizes.m, sizes.n, sizes.k, 1, 0, ops[0] == 'T' ? Op::kTranspose : Op::kNone,
                   ops[1] == 'T' ? Op::kTranspose : Op::kNone);
  const std::int64_t more = plus == std::string::npos ? 0 : std::atoi(text.c_str() + plus + 1);
  p.lda += more, p.ldb += more, p.ldc += more;
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf(
      "m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops,beside_ms,beside_tflops,cublas_ms\n");
  for (int i = 1; i < argc; ++i) {
    const Problem p = parse(argv[i]);
    const auto a = bench::uniform_operand(extent_a(p).elements(), 1),
               b = bench::uniform_operand(extent_b(p).elements(), 77),
               c = allocate<float>(extent_c(p).elements(), "C");
    const Operands o{a.get(), b.get(), c.get()};
    measure<SplitJob<TermFormat<__half, 2>, 3>>("fp16x3", p, o);
    constexpr std::int64_t kFew = 512;  // rows or columns
    using Fused = FusedJob<TermFormat<__half, 2>, 3>;
    if (std::min(p.m, p.n) <= kFew) {
      RowMajorCall call;
      require(row_major_call(p, o, call), "device");
      if (fits_fused(call.p, call.at)) measure<Fused>("fp16x3 fused", p, o);
    } else {
      measure_packed(p, o);
      measure<SplitJob<TermFormat<__nv_bfloat16, 3>, 6>>("bf16x6", p, o);
    }
  }
  return 0;
}
