// SPDX-License-Identifier: Apache-2.0
// Where the time of a product of split operands goes: the whole call, the passes over A and B, and the product. One line a
// problem and way, CSV: m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops,beside_ms,beside_tflops,cublas_ms. The first four
// times are medians of launches of one kind back to back, which find the clock that this kind alone leaves the board; those
// after them are of calls in turn with cuBLAS's SGEMM of the same problem, as `ladder bench` has them. After a warm-up,
// operands uniform in [-1, 1). `fused`, where C has few rows or columns: the operand of more lines is split within the product; `packed`: B
// has its words already.
//   bench_split MxNxK[:NN|NT|TN|TT][+LD]...    +LD: leading dimensions larger by so much than they must be
#include "device/split_fused.cuh"
#include "device/split_product.cuh"

#include <cuda_runtime.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "operands.cuh"

namespace {

using namespace ladder;

using bench::fill;
using bench::require;

constexpr float kWarmMs = 100, kSamplesMs = 100;
// Of launches that take `ms`.
int samples_of(float ms) { return std::clamp(static_cast<int>(kSamplesMs / ms), 5, 15); }

struct FreeDevice {
  void operator()(void* at) const { static_cast<void>(cudaFree(at)); }
};
using Memory = std::unique_ptr<void, FreeDevice>;
Memory allocate(std::int64_t bytes, const char* what) {
  void* at = nullptr;
  require(cudaMalloc(&at, static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))), what);
  return Memory(at);
}

class Stopwatch {
 public:
  Stopwatch() {
    require(cudaEventCreate(&begin_), "event");
    require(cudaEventCreate(&end_), "event");
  }
  ~Stopwatch() {
    static_cast<void>(cudaEventDestroy(begin_));
    static_cast<void>(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  template <class Work>
  void enqueue(int launches, Work work) {
    require(cudaEventRecord(begin_), "record");
    for (int i = 0; i < launches; ++i) work();
    require(cudaEventRecord(end_), "record");
  }
  float wait_ms() {
    require(cudaEventSynchronize(end_), "work");
    float ms = 0;
    require(cudaEventElapsedTime(&ms, begin_, end_), "elapsed");
    return ms;
  }
  template <class Work>
  float ms(int launches, Work work) {
    enqueue(launches, work);
    return wait_ms();
  }

 private:
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

float median(std::vector<float> samples) {
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  return *middle;
}

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
// Rounds of one launch of either, some enqueued at once so that none waits for the host.
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

// A job's call beside cuBLAS's, and alone its parts. `prepare` is done to each job, and what it leaves with one is kept.
template <class Job, class Prepare>
void measure(const char* name, const Problem& p, const Operands& o, Prepare prepare) {
  SplitCall split;
  require(prepare_split(p, o, split), "device");
  Job job(split.p, split.o, split.sms);
  const Memory kept = prepare(job);
  const Memory scratch = allocate(job.scratch_bytes(), "words");
  const Memory flags = allocate(4 * job.flags(), "flags");
  require(cudaMemset(flags.get(), 0, static_cast<std::size_t>(4 * job.flags())), "flags");
  auto* const at = static_cast<char*>(scratch.get());
  const SplitTarget x = job.target(at);
  const auto whole = [&] { require(launch_job(job, nullptr), name); };
  const double call = alone_ms(whole);
  const double pass = alone_ms([&] { require(job.pass(x, nullptr), name); });
  const double product =
      alone_ms([&] { require(job.product(x, at, static_cast<unsigned*>(flags.get()), nullptr), name); });
  const auto found = find_kernels("cublas_ieee");
  require(found.status(), "baseline");
  const KernelInfo& cublas = *found.value().front();
  const Beside beside = beside_ms(whole, [&] { require(cublas.launch(p, o, nullptr), cublas.id.data()); });
  const auto tflops = [&](double ms) { return flops(p) / ms * 1e-9; };
  std::printf("%lld,%lld,%lld,%c%c%s,%s,%.4f,%.4f,%.4f,%.1f,%.4f,%.1f,%.4f\n", static_cast<long long>(p.m),
              static_cast<long long>(p.n), static_cast<long long>(p.k), p.op_a == Op::kNone ? 'N' : 'T',
              p.op_b == Op::kNone ? 'N' : 'T', p.ldc > p.n ? " odd" : "", name, call, pass, product,
              tflops(call), beside.ms, tflops(beside.ms), beside.other_ms);
  std::fflush(stdout);
}
template <class Job>
void measure(const char* name, const Problem& p, const Operands& o) {
  measure<Job>(name, p, o, [](Job&) { return Memory(); });
}

// With B's words made ahead.
void measure_packed(const Problem& p, const Operands& o) {
  using Job = SplitJob<WordFormat<__half, 2>, 3>;
  measure<Job>("fp16x3 packed", p, o, [&](Job& job) {
    Memory words_a = allocate(job.packed_bytes(true), "words of A"),
           words_b = allocate(job.packed_bytes(false), "words of B");
    Job of_b = job;
    of_b.use_packed(true, static_cast<char*>(words_a.get()));  // which leaves the pass over B alone
    require(of_b.pass(of_b.target(static_cast<char*>(words_b.get())), nullptr), "pass over B");
    require(cudaDeviceSynchronize(), "pass over B");
    job.use_packed(false, static_cast<char*>(words_b.get()));
    return words_b;
  });
}

Problem parse(const std::string& text) {
  const std::size_t colon = text.find(':'), plus = text.find('+');
  const auto parsed = parse_shape(text.substr(0, std::min(colon, plus)));
  require(parsed.status(), "shape");
  const std::string ops = colon == std::string::npos ? "NN" : text.substr(colon + 1, 2);
  const Problem& sizes = parsed.value();
  Problem p = make_problem(sizes.m, sizes.n, sizes.k, 1, 0, ops[0] == 'T' ? Op::kTranspose : Op::kNone,
                           ops[1] == 'T' ? Op::kTranspose : Op::kNone);
  const std::int64_t more = plus == std::string::npos ? 0 : std::atoi(text.c_str() + plus + 1);
  p.lda += more, p.ldb += more, p.ldc += more;
  return p;
}

}  // namespace

int main(int argc, char** argv) {
  std::printf("m,n,k,ops,format,call_ms,pass_ms,product_ms,tflops,beside_ms,beside_tflops,cublas_ms\n");
  for (int i = 1; i < argc; ++i) {
    const Problem p = parse(argv[i]);
    const std::int64_t a = extent_a(p).elements(), b = extent_b(p).elements(), c = extent_c(p).elements();
    const Memory at_a = allocate(4 * a, "A"), at_b = allocate(4 * b, "B"), at_c = allocate(4 * c, "C");
    const Operands o{static_cast<const float*>(at_a.get()), static_cast<const float*>(at_b.get()),
                     static_cast<float*>(at_c.get())};
    fill<<<1024, 256>>>(static_cast<float*>(at_a.get()), a, 1);
    fill<<<1024, 256>>>(static_cast<float*>(at_b.get()), b, 77);
    measure<SplitJob<WordFormat<__half, 2>, 3>>("fp16x3", p, o);
    constexpr std::int64_t kFew = 512;  // rows or columns
    if (std::min(p.m, p.n) <= kFew) {
      measure<FusedJob<WordFormat<__half, 2>, 3>>("fp16x3 fused", p, o);
    } else {
      measure_packed(p, o);
      measure<SplitJob<WordFormat<__nv_bfloat16, 3>, 6>>("bf16x6", p, o);
    }
  }
  return 0;
}
