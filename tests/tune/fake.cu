// SPDX-License-Identifier: Apache-2.0
// A rung for the tuner's tests: a host kernel whose parameter decides its behaviour, compiled like
// any candidate.
#include <ladder/kernel.hpp>

#include <chrono>
#include <csignal>
#include <span>
#include <thread>

namespace ladder::fake {

template <int behaviour, int milliseconds>
struct Tile {
  static constexpr int kBehaviour = behaviour, kMilliseconds = milliseconds;
};

enum { kRight, kCrashes, kHangs, kWrong, kSpills };

// Has more live values than 32 registers per thread hold if the tile says so; never launched.
template <class T>
__global__ void __launch_bounds__(1024, 2) kernel(float* x) {
  if constexpr (T::kBehaviour == kSpills) {
    float r[96];
#pragma unroll
    for (int i = 0; i < 96; ++i) r[i] = x[i * 32];
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 96; ++i) x[i] = r[i] * r[95 - i] + r[(7 * i) % 96];
  }
}

template <class T>
Status launch_tile(const Problem& p, const Operands& o, Stream) {
  if constexpr (T::kBehaviour == kCrashes) std::raise(SIGSEGV);
  while (T::kBehaviour == kHangs) std::this_thread::sleep_for(std::chrono::seconds(1));
  if constexpr (T::kBehaviour == kSpills) kernel<T><<<1, 1>>>(o.c);
  std::this_thread::sleep_for(std::chrono::milliseconds(T::kMilliseconds));
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k && p.alpha != 0; ++k)
        sum += o.a[i * p.lda + k] * o.b[k * p.ldb + j];
      float& c = o.c[i * p.ldc + j];
      c = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * c;
      if (T::kBehaviour == kWrong) c += 1;
    }
  }
  return Status::ok();
}

struct Entry {
  const char* gpu;
  Status (*launch)(const Problem&, const Operands&, Stream);
};
static constexpr Entry kTiles[] = {
#include "tuned/fake.inc"
};

static Status accepts(const Problem& p, const Device&) {
  if (p.layout == Layout::kRowMajor && p.op_a == Op::kNone && p.op_b == Op::kNone)
    return Status::ok();
  return {Code::kUnsupportedProblem, "takes row-major operands without transposition"};
}
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  return kTiles[0].launch(p, o, stream);
}

static constexpr KernelInfo kKernels[] = {{.id = "fake",
                                           .rung = "fake",
                                           .idea = "for tests",
                                           .place = Place::kHost,
                                           .accepts = accepts,
                                           .launch = launch}};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::fake
