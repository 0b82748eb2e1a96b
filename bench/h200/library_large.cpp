// SPDX-License-Identifier: Apache-2.0
// Matrices of more than 2^31 elements, and rows of batch-invariant calls.
#include <algorithm>
#include <cstring>
#include <iterator>

#include "library.hpp"

namespace ladder::bench {
namespace {

// Element e of a matrix is value[e % kPeriod], a small integer: sums of up to 2^22 products are
// exact in FP32.
constexpr std::size_t kPeriod = 1009;

std::vector<float> small_integers(Random& random) {
  std::vector<float> value(kPeriod);
  for (float& v : value) v = static_cast<float>(static_cast<int>(random.below(5)) - 2);
  return value;
}

void fill(DeviceArray& to, const std::vector<float>& value) {
  const std::size_t count = to.bytes() / sizeof(float);
  to.set(value, std::min(kPeriod, count));
  for (std::size_t filled = kPeriod; filled < count; filled *= 2) {
    const std::size_t more = std::min(filled, count - filled);
    require(cudaMemcpy(to.get() + filled, to.get(), more * sizeof(float), cudaMemcpyDeviceToDevice),
            "copy");
  }
}

// C = A B of row-major matrices. Random elements of C, and those at its corners, are compared.
bool check_product(ladder_handle handle, ladder_precision precision, std::int64_t m, std::int64_t n,
                   std::int64_t k, Random& random) {
  constexpr int kSamples = 4096;
  DeviceArray a(static_cast<std::size_t>(m * k)), b(static_cast<std::size_t>(k * n)),
      c(static_cast<std::size_t>(m * n));
  const std::vector<float> of_a = small_integers(random), of_b = small_integers(random);
  fill(a, of_a);
  fill(b, of_b);
  require(cudaMemset(c.get(), 0xff, c.bytes()), "memset");  // NaN
  const float one = 1, zero = 0;
  require(ladder_set_precision(handle, precision), "precision");
  require(ladder_sgemm(handle, LADDER_ROW_MAJOR, LADDER_OP_N, LADDER_OP_N, m, n, k, &one, a.get(),
                       k, b.get(), n, &zero, c.get(), n),
          "ladder_sgemm");
  require(cudaDeviceSynchronize(), "synchronise");
  int wrong = 0;
  for (int s = 0; s < kSamples; ++s) {
    const auto place = [&](std::int64_t size, bool last) {
      if (s < 4) return last ? size - 1 : 0;
      return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(size)));
    };
    const std::int64_t i = place(m, (s & 1) != 0), j = place(n, (s & 2) != 0);
    float sum = 0, value = 0;
    for (std::int64_t l = 0; l < k; ++l) {
      sum += of_a[static_cast<std::size_t>(i * k + l) % kPeriod] *
             of_b[static_cast<std::size_t>(l * n + j) % kPeriod];
    }
    require(cudaMemcpy(&value, c.get() + i * n + j, sizeof value, cudaMemcpyDeviceToHost), "copy");
    wrong += value != sum;
  }
  std::printf("large        %-6s %lldx%lldx%lld: %d of %d elements wrong\n",
              ladder_precision_string(precision), static_cast<long long>(m),
              static_cast<long long>(n), static_cast<long long>(k), wrong, kSamples);
  require(ladder_set_precision(handle, LADDER_PRECISION_DEFAULT), "precision");
  return wrong == 0;
}

}  // namespace

bool check_large(ladder_handle handle) {
  constexpr std::int64_t kSide = 46351;  // its square exceeds 2^31
  Random random(1);
  bool right = true;
  for (const ladder_precision precision : {LADDER_PRECISION_IEEE, LADDER_PRECISION_AUTO}) {
    right &= check_product(handle, precision, kSide, kSide, 8, random);   // C
    right &= check_product(handle, precision, kSide, 24, kSide, random);  // A
    right &= check_product(handle, precision, 24, kSide, kSide, random);  // B
  }
  return right;
}

bool check_invariance(ladder_handle handle, Random& random) {
  constexpr std::int64_t kM[] = {1, 2, 17, 64, 129, 512}, kN = 384, kK = 777;
  const auto count = [](std::int64_t rows, std::int64_t cols) {
    return static_cast<std::size_t>(rows * cols);
  };
  const float one = 1, zero = 0;
  DeviceArray a(count(512, kK)), b(count(kK, kN)), c(count(512, kN));
  a.set(random.values(count(512, kK)), count(512, kK));
  b.set(random.values(count(kK, kN)), count(kK, kN));
  std::vector<float> first(count(1, kN)), row(count(1, kN));
  int differing = 0;
  for (const std::int64_t m : kM) {
    ladder_gemm_call call;
    ladder_gemm_call_init(&call);
    call.flags = LADDER_BATCH_INVARIANT;
    call.m = m, call.n = kN, call.k = kK;
    call.lda = kK, call.ldb = kN, call.ldc = kN;
    call.alpha = &one, call.beta = &zero;
    call.a = a.get(), call.b = b.get(), call.c = c.get();
    require(ladder_gemm(handle, &call), "ladder_gemm");
    c.get(m == 1 ? first : row, count(1, kN));
    differing += m != 1 && std::memcmp(first.data(), row.data(), count(1, kN) * sizeof(float)) != 0;
  }
  std::printf("invariance   row 0 for %d values of m: %d differ\n", static_cast<int>(std::size(kM)),
              differing);
  return differing == 0;
}

}  // namespace ladder::bench
