// SPDX-License-Identifier: Apache-2.0
// Random calls of libladder beside cuBLAS's.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

#include "library.hpp"

namespace ladder::bench {
namespace {

constexpr double kHalfUlp = std::numeric_limits<float>::epsilon() / 2;
constexpr std::size_t kMostElements = std::size_t{1} << 21;
constexpr int kMostBatch = 6;

enum class BatchBy { kStrides, kHostPointers, kDevicePointers };

struct RandomCall {
  bool row;
  int op_a, op_b, m, n, k, lda, ldb, ldc, batch;
  std::size_t a, b, c;  // elements before the first matrix
  std::int64_t stride_a, stride_b, stride_c;
  float alpha, beta;
  ladder_precision precision;
  BatchBy batch_by;
  bool device_scalars, with_epilogue, with_residual;
  ladder_epilogue epilogue;

  std::int64_t at(int i, int j, std::int64_t ld) const { return row ? i * ld + j : j * ld + i; }
};

void draw_epilogue(Random& random, RandomCall& x) {
  ladder_epilogue& e = x.epilogue;
  e.activation = static_cast<ladder_activation>(random.below(4));
  e.bias_kind = static_cast<ladder_bias>(random.below(3));
  e.bias_stride = random.chance(0.5) ? 0 : std::max(x.m, x.n) + 1;
  x.with_residual = random.chance(0.5);
  e.ld_residual = x.ldc + static_cast<int>(random.below(3));
  e.residual_stride = (x.row ? x.m : x.n) * e.ld_residual + 1;
  e.scale = random.chance(0.5) ? 1.0F : static_cast<float>(2 * random.unit() - 1);
}

// Sizes are log-uniform, now and then 0; leading dimensions, strides and offsets exceed the least.
RandomCall draw(Random& random) {
  RandomCall x{};
  const auto size = [&](int most) {
    return random.chance(0.02) ? 0 : static_cast<int>(std::exp(random.unit() * std::log(most)));
  };
  x.row = random.chance(0.5);
  x.op_a = static_cast<int>(random.below(3));
  x.op_b = static_cast<int>(random.below(3));
  x.m = size(700);
  x.n = size(700);
  x.k = size(1200);
  x.batch = random.chance(0.3) ? 1 + static_cast<int>(random.below(kMostBatch)) : 1;
  x.batch_by = random.chance(0.3) ? static_cast<BatchBy>(random.below(3)) : BatchBy::kStrides;
  const auto leading = [&](int rows, int cols) {
    const int padding = random.chance(0.5) ? 0 : static_cast<int>(random.below(9));
    return std::max(1, x.row ? cols : rows) + padding;
  };
  const int rows_a = x.op_a != 0 ? x.k : x.m, cols_a = x.op_a != 0 ? x.m : x.k;
  const int rows_b = x.op_b != 0 ? x.n : x.k, cols_b = x.op_b != 0 ? x.k : x.n;
  x.lda = leading(rows_a, cols_a);
  x.ldb = leading(rows_b, cols_b);
  x.ldc = leading(x.m, x.n);
  x.stride_a = std::int64_t{x.row ? rows_a : cols_a} * x.lda;
  x.stride_b = std::int64_t{x.row ? rows_b : cols_b} * x.ldb;
  x.stride_c = std::int64_t{x.row ? x.m : x.n} * x.ldc + 3;
  x.a = random.below(5);
  x.b = random.below(5);
  x.c = random.below(5);
  const float scalars[] = {0, 1, -1, static_cast<float>(random.unit()), -1.75F};
  x.alpha = scalars[random.below(std::size(scalars))];
  x.beta = scalars[random.below(std::size(scalars))];
  x.precision = random.chance(0.5) ? LADDER_PRECISION_IEEE : LADDER_PRECISION_AUTO;
  x.device_scalars = random.chance(0.2);
  x.with_epilogue = random.chance(0.3);
  if (x.with_epilogue) draw_epilogue(random, x);
  return x;
}

// Operands of all calls, on the host and on the device.
struct Matrices {
  explicit Matrices(Random& random)
      : a(random.values(kMostElements)),
        b(random.values(kMostElements)),
        c(random.values(kMostElements)),
        bias(random.values(kMostElements)),
        residual(random.values(kMostElements)) {
    on_bias.set(bias, kMostElements);
    on_residual.set(residual, kMostElements);
  }
  std::vector<float> a, b, c, bias, residual;
  DeviceArray on_a{kMostElements}, on_b{kMostElements}, on_bias{kMostElements},
      on_residual{kMostElements}, scalars{2};
  DeviceArray pointers{3 * kMostBatch * sizeof(float*) / sizeof(float)};
};

void call_ladder(ladder_handle handle, const RandomCall& x, Matrices& on, float* c) {
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  call.layout = x.row ? LADDER_ROW_MAJOR : LADDER_COL_MAJOR;
  call.op_a = static_cast<ladder_op>(x.op_a);
  call.op_b = static_cast<ladder_op>(x.op_b);
  call.precision = x.precision;
  call.m = x.m, call.n = x.n, call.k = x.k;
  call.alpha = &x.alpha, call.beta = &x.beta;
  call.a = on.on_a.get() + x.a, call.b = on.on_b.get() + x.b, call.c = c + x.c;
  call.lda = x.lda, call.ldb = x.ldb, call.ldc = x.ldc;
  call.batch_count = x.batch;
  call.stride_a = x.stride_a, call.stride_b = x.stride_b, call.stride_c = x.stride_c;
  if (x.with_epilogue) {
    call.epilogue = x.epilogue;
    call.epilogue.bias = x.epilogue.bias_kind == LADDER_BIAS_NONE ? nullptr : on.on_bias.get();
    call.epilogue.residual = x.with_residual ? on.on_residual.get() : nullptr;
  }
  float* of[3 * kMostBatch] = {};
  if (x.batch_by != BatchBy::kStrides) {
    for (int i = 0; i < x.batch; ++i) {
      of[i] = on.on_a.get() + x.a + i * x.stride_a;
      of[kMostBatch + i] = on.on_b.get() + x.b + i * x.stride_b;
      of[2 * kMostBatch + i] = c + x.c + i * x.stride_c;
    }
    float** from = of;
    if (x.batch_by == BatchBy::kDevicePointers) {
      from = reinterpret_cast<float**>(on.pointers.get());
      require(cudaMemcpy(from, of, sizeof of, cudaMemcpyHostToDevice), "pointers");
    }
    call.a = call.b = nullptr;
    call.c = nullptr;
    call.a_pointers = from;
    call.b_pointers = from + kMostBatch;
    call.c_pointers = from + 2 * kMostBatch;
  }
  if (x.device_scalars) {
    on.scalars.set({x.alpha, x.beta}, 2);
    call.alpha = on.scalars.get();
    call.beta = on.scalars.get() + 1;
  }
  require(ladder_set_pointer_mode(
              handle, x.device_scalars ? LADDER_POINTER_MODE_DEVICE : LADDER_POINTER_MODE_HOST),
          "pointer mode");
  require(ladder_gemm(handle, &call), "ladder_gemm");
}

void call_cublas(cublasHandle_t cublas, const RandomCall& x, const Matrices& on, float* c) {
  if (x.m == 0 || x.n == 0) return;
  const auto op_a = static_cast<cublasOperation_t>(x.op_a);
  const auto op_b = static_cast<cublasOperation_t>(x.op_b);
  const float *const a = on.on_a.get() + x.a, *const b = on.on_b.get() + x.b;
  c += x.c;
  require(x.row ? cublasSgemmStridedBatched(cublas, op_b, op_a, x.n, x.m, x.k, &x.alpha, b, x.ldb,
                                            x.stride_b, a, x.lda, x.stride_a, &x.beta, c, x.ldc,
                                            x.stride_c, x.batch)
                : cublasSgemmStridedBatched(cublas, op_a, op_b, x.m, x.n, x.k, &x.alpha, a, x.lda,
                                            x.stride_a, b, x.ldb, x.stride_b, &x.beta, c, x.ldc,
                                            x.stride_c, x.batch),
          "cuBLAS");
}

// Whether both are NaN, the same infinity, or at most `bound` apart.
bool agree(double x, double y, double bound) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) == std::isnan(y);
  if (std::isinf(x) || std::isinf(y)) return x == y;
  return std::fabs(x - y) <= bound;
}

// Both results lie within gamma(k + 2) of the exact one, where operands are at most 1 and sums of k
// products at most k (Higham, "Accuracy and Stability of Numerical Algorithms", section 3.5).
double bound_of(const RandomCall& x) {
  const double steps = x.k + 2.0;
  return 2 * steps * kHalfUlp / (1 - steps * kHalfUlp) *
             (std::fabs(double{x.alpha}) * x.k + std::fabs(double{x.beta})) +
         2 * std::numeric_limits<float>::min();
}

double activated(ladder_activation activation, double y) {
  constexpr double kSqrtHalf = 0.70710678118654752, kSqrt2OverPi = 0.79788456080286536;
  switch (activation) {
    case LADDER_ACTIVATION_RELU: return y < 0 ? 0 : y;
    case LADDER_ACTIVATION_GELU: return y * (1 + std::erf(y * kSqrtHalf)) / 2;
    case LADDER_ACTIVATION_GELU_TANH:
      return y * (1 + std::tanh(kSqrt2OverPi * (y + 0.044715 * y * y * y))) / 2;
    default: return y;
  }
}

struct Expected {
  double value, bound;
};

// What element (i, j) of product z should be, given cuBLAS's. No activation's slope exceeds 1.13.
// The epilogue rounds at most eight times to a unit of the terms' magnitudes.
Expected expected(const RandomCall& x, const Matrices& on, double product, int z, int i, int j) {
  const double bound = bound_of(x);
  if (!x.with_epilogue) return {product, bound};
  const ladder_epilogue& e = x.epilogue;
  double y = product;
  if (e.bias_kind != LADDER_BIAS_NONE) {
    const std::int64_t element = e.bias_kind == LADDER_BIAS_PER_ROW ? i : j;
    y += on.bias[static_cast<std::size_t>(z * e.bias_stride + element)];
  }
  const double scaled = double{e.scale} * activated(e.activation, y);
  double value = scaled, residual = 0;
  if (x.with_residual) {
    const std::int64_t element = z * e.residual_stride + x.at(i, j, e.ld_residual);
    residual = on.residual[static_cast<std::size_t>(element)];
    value += residual;
  }
  const double sizes = std::fabs(y) + 1 + std::fabs(scaled) + std::fabs(residual);
  return {value, std::fabs(double{e.scale}) * 1.13 * bound + 8 * kHalfUlp * sizes};
}

struct Verdict {
  bool wrong = false, outside = false;
};

Verdict compare(const RandomCall& x, const Matrices& on, const std::vector<float>& ours,
                const std::vector<float>& theirs, std::size_t end) {
  Verdict verdict;
  std::vector<bool> inside(end);
  for (int z = 0; z < x.batch; ++z) {
    for (int i = 0; i < x.m; ++i) {
      for (int j = 0; j < x.n; ++j) {
        const std::size_t at = x.c + static_cast<std::size_t>(z * x.stride_c + x.at(i, j, x.ldc));
        inside[at] = true;
        const Expected e = expected(x, on, theirs[at], z, i, j);
        verdict.wrong |= !agree(ours[at], e.value, e.bound);
      }
    }
  }
  for (std::size_t e = 0; e < end; ++e)
    verdict.outside |= !inside[e] && std::memcmp(&ours[e], &on.c[e], sizeof(float)) != 0;
  return verdict;
}

// Whether the elements that the call reaches exist.
bool fits(const RandomCall& x) {
  const auto within = [&](std::size_t from, std::int64_t stride) {
    return from + static_cast<std::size_t>(stride * x.batch) + 8 <= kMostElements;
  };
  return within(x.a, x.stride_a) && within(x.b, x.stride_b) && within(x.c, x.stride_c) &&
         within(0, x.epilogue.residual_stride) && within(8192, x.epilogue.bias_stride);
}

void print_failure(const RandomCall& x, int number, Verdict verdict) {
  std::printf(
      "call %d: %s%s%s-major %dx%dx%d op %d %d ld %d %d %d alpha %g beta %g%s batch %d by %d %s",
      number, verdict.wrong ? "wrong " : "", verdict.outside ? "outside C " : "",
      x.row ? "row" : "col", x.m, x.n, x.k, x.op_a, x.op_b, x.lda, x.ldb, x.ldc, double{x.alpha},
      double{x.beta}, x.device_scalars ? " on the device" : "", x.batch,
      static_cast<int>(x.batch_by), ladder_precision_string(x.precision));
  if (x.with_epilogue) {
    std::printf(" epilogue activation %d bias %d residual %d scale %g",
                static_cast<int>(x.epilogue.activation), static_cast<int>(x.epilogue.bias_kind),
                x.with_residual, double{x.epilogue.scale});
  }
  std::printf("\n");
}

}  // namespace

bool check_random(ladder_handle handle, cublasHandle_t cublas, int calls, Random& random) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  constexpr float kSpecial[] = {std::numeric_limits<float>::quiet_NaN(), kInf, -kInf, 1e-42F};
  Matrices on(random);
  DeviceArray on_ours(kMostElements), on_theirs(kMostElements);
  std::vector<float> ours(kMostElements), theirs(kMostElements), again(kMostElements);
  int wrong = 0, outside = 0, special = 0, batches = 0, epilogues = 0, repeated = 0, changed = 0;
  for (int i = 0; i < calls;) {
    const RandomCall x = draw(random);
    if (!fits(x)) continue;
    ++i;
    const auto end = [&](std::size_t at, std::int64_t stride) {
      return at + static_cast<std::size_t>(stride * x.batch) + 8;
    };
    const std::size_t ends[] = {end(x.a, x.stride_a), end(x.b, x.stride_b), end(x.c, x.stride_c)};
    const bool with_special = random.chance(0.1);
    special += with_special;
    batches += x.batch > 1;
    epilogues += x.with_epilogue;
    float before[3] = {};
    std::size_t places[3] = {};
    std::vector<float>* const all[] = {&on.a, &on.b, &on.c};
    for (int j = 0; with_special && j < 3; ++j) {
      places[j] = random.below(ends[j]);
      before[j] = std::exchange((*all[j])[places[j]], kSpecial[random.below(4)]);
    }
    on.on_a.set(on.a, ends[0]);
    on.on_b.set(on.b, ends[1]);
    on_ours.set(on.c, ends[2]);
    on_theirs.set(on.c, ends[2]);
    call_ladder(handle, x, on, on_ours.get());
    call_cublas(cublas, x, on, on_theirs.get());
    on_ours.get(ours, ends[2]);
    on_theirs.get(theirs, ends[2]);
    const Verdict verdict = compare(x, on, ours, theirs, ends[2]);
    if (verdict.wrong || verdict.outside) print_failure(x, i, verdict);
    wrong += verdict.wrong;
    outside += verdict.outside;
    if (random.chance(0.1)) {
      on_ours.set(on.c, ends[2]);
      call_ladder(handle, x, on, on_ours.get());
      on_ours.get(again, ends[2]);
      ++repeated;
      changed += std::memcmp(ours.data(), again.data(), ends[2] * sizeof(float)) != 0;
    }
    for (int j = 0; with_special && j < 3; ++j) (*all[j])[places[j]] = before[j];
  }
  require(ladder_set_pointer_mode(handle, LADDER_POINTER_MODE_HOST), "pointer mode");
  std::printf(
      "random       %d calls beside cuBLAS (%d with special values, %d batches, %d epilogues): %d "
      "wrong, %d wrote outside C; %d of %d repeated calls gave other bits\n",
      calls, special, batches, epilogues, wrong, outside, changed, repeated);
  return wrong == 0 && outside == 0 && changed == 0;
}

}  // namespace ladder::bench
