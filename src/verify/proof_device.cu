// SPDX-License-Identifier: Apache-2.0
#include "verify/proof_device.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "operands/device_element.cuh"

namespace ladder {
namespace {

constexpr int kThreads = 256;
constexpr std::int64_t kMostBlocks = 2048;

unsigned blocks_for(std::int64_t items) {
  return static_cast<unsigned>(
      std::clamp<std::int64_t>((items + kThreads - 1) / kThreads, 1, kMostBlocks));
}

__device__ std::int64_t first_item() {
  return static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}
__device__ std::int64_t stride() { return static_cast<std::int64_t>(gridDim.x) * blockDim.x; }

// The initial value of an element of C, rounded to C's type. Only for problems that read C.
template <class E>
__device__ double c_before(const Drawing& drawing, std::int64_t line, std::int64_t column) {
  return E::value(E::bits(drawing.at(Matrix::kC, line, column)));
}

// Turns A B into alpha A B + beta C0, and |A||B| into |alpha| |A||B|.
template <class E>
__global__ void finish(Drawing drawing, std::int64_t m, std::int64_t n, double alpha, double beta,
                       double* c, double* abs_products) {
  for (std::int64_t at = first_item(); at < m * n; at += stride()) {
    const double before = beta != 0 ? beta * c_before<E>(drawing, at / n, at % n) : 0.0;
    c[at] = alpha * c[at] + before;
    abs_products[at] *= fabs(alpha);
  }
}

// Computes the largest magnitude and the sum of magnitudes of each of `count` lines of `k`
// elements.
template <class E>
__global__ void magnitudes(const typename E::Bits* matrix, std::int64_t count, std::int64_t k,
                           std::int64_t line_step, std::int64_t element_step, double* largest,
                           double* sum) {
  for (std::int64_t line = first_item(); line < count; line += stride()) {
    double most = 0;
    double total = 0;
    for (std::int64_t i = 0; i < k; ++i) {
      const double magnitude =
          fabs(static_cast<double>(E::value(matrix[line * line_step + i * element_step])));
      most = fmax(most, magnitude);
      total += magnitude;
    }
    largest[line] = most;
    sum[line] = total;
  }
}

struct Tally {
  // number of words that are proved: elements within their bound, and unchanged words elsewhere
  unsigned long long proved;
  double error_squares, reference_squares, componentwise, of_bound;
};

struct Question {
  Extent extent;  // of C
  std::int64_t guard;
  double beta;
  bool reads_c, exact, once_or_twice, narrow;
  ErrorBound bound;
  const double *c, *abs_products;
  const double *a_largest, *a_sum, *b_largest, *b_sum;  // null where the bound has no floor
  double scale;                                         // |alpha|
};

__device__ void join(Tally& tally, const Tally& other) {
  tally.proved += other.proved;
  tally.error_squares += other.error_squares;
  tally.reference_squares += other.reference_squares;
  tally.componentwise = fmax(tally.componentwise, other.componentwise);
  tally.of_bound = fmax(tally.of_bound, other.of_bound);
}

template <class E>
__device__ double rounded(double value) {
  return E::value(E::bits(static_cast<float>(value)));
}

template <class E>
__device__ void look_at(const Question& q, const Drawing& drawing, std::int64_t line,
                        std::int64_t column, typename E::Bits bits, Tally& tally) {
  if (!q.reads_c && bits == E::kPoison) return;
  const std::int64_t index = line * q.extent.used + column;
  const double value = E::value(bits);
  const double before = q.reads_c ? q.beta * c_before<E>(drawing, line, column) : 0.0;
  const double reference = q.c[index];
  double expected = reference;
  if (q.exact && q.narrow) {
    expected = rounded<E>(reference);
    if (q.once_or_twice && value != expected)
      expected = rounded<E>(rounded<E>(reference - before) + before);
  }
  const double error = fabs(value - expected);
  const double abs_c = fabs(before);
  const double abs_products = q.abs_products[index];
  double limit = 0;
  if (!q.exact) {
    const double floor =
        q.a_largest == nullptr
            ? 0.0
            : q.scale * (q.a_largest[line] * q.b_sum[column] + q.a_sum[line] * q.b_largest[column]);
    limit = q.bound.at(abs_products, abs_c, fabs(expected), floor);
  }
  if (error <= limit) ++tally.proved;  // false for NaN
  tally.error_squares += error * error;
  tally.reference_squares += expected * expected;
  if (error > 0) {
    tally.componentwise = fmax(tally.componentwise, error / (abs_products + abs_c));
    if (limit > 0) tally.of_bound = fmax(tally.of_bound, error / limit);
  }
}

// Each block writes its own tally, so that the sums are the same in every run.
template <class E>
__global__ void __launch_bounds__(kThreads)
    judge_words(Question q, Drawing drawing, const typename E::Bits* first,
                const typename E::Bits* second, std::int64_t words, Tally* tallies) {
  __shared__ Tally sTallies[kThreads];
  Tally tally{};
  const std::int64_t elements = words - 2 * q.guard;
  for (std::int64_t at = first_item(); at < words; at += stride()) {
    const typename E::Bits bits = first[at];
    if (second[at] != bits) continue;
    const std::int64_t place = at - q.guard;
    const bool inside = place >= 0 && place < elements;
    const std::int64_t line = inside ? place / q.extent.ld : 0;
    const std::int64_t column = place - line * q.extent.ld;
    if (!inside || column >= q.extent.used) {
      tally.proved += bits == E::kPoison ? 1 : 0;
    } else {
      look_at<E>(q, drawing, line, column, bits, tally);
    }
  }
  sTallies[threadIdx.x] = tally;
  for (unsigned half = kThreads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) join(sTallies[threadIdx.x], sTallies[threadIdx.x + half]);
  }
  if (threadIdx.x == 0) tallies[blockIdx.x] = sTallies[0];
}

Result<Buffer> on_device(std::size_t bytes) { return Buffer::allocate(Place::kCuda, bytes); }

Status allocate(Buffer& buffer, std::size_t bytes) {
  auto made = on_device(bytes);
  if (made) buffer = std::move(made).value();
  return made.status();
}

Status launched(const char* what) {
  if (Status status = cuda_status(cudaGetLastError(), what); !status) return status;
  return synchronize();
}

}  // namespace

Result<DeviceProof> DeviceProof::make(const Problem& problem, const Input& input,
                                      Precision precision, ReferenceKind kind) {
  const auto drawn = drawing_of(problem, input, precision);
  if (!drawn) return drawn.status();
  DeviceProof proof(problem, input, drawn.value());
  const RowMajor view = as_row_major(problem);
  const Problem& p = view.problem;
  if (!reads_ab(p) || p.m == 0 || p.n == 0)
    return Status(Code::kUnsupportedProblem,
                  "nothing to multiply: such problems are judged on the host");
  const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(p.m * p.n);
  if (Status s = allocate(proof.c_, bytes); !s) return s;
  if (Status s = allocate(proof.abs_products_, bytes); !s) return s;
  auto a = draw_on_device(proof.drawing_, view.swapped ? Matrix::kB : Matrix::kA, problem);
  if (!a) return a.status();
  auto b = draw_on_device(proof.drawing_, view.swapped ? Matrix::kA : Matrix::kB, problem);
  if (!b) return b.status();
  if (Status s = proof.find_lines(a.value(), b.value()); !s) return s;
  if (kind == ReferenceKind::kHost) {
    const auto images = make_images(problem, input, precision);
    if (!images) return images.status();
    const auto reference = make_reference(as_operation(problem, images.value()), kind);
    if (!reference) return reference.status();
    if (Status s = proof.c_.upload(reference.value().c.data(), bytes); !s) return s;
    if (Status s = proof.abs_products_.upload(reference.value().abs_products.data(), bytes); !s)
      return s;
    return Result<DeviceProof>(std::move(proof));
  }
  if (Status s = cublas_products(p, a->as<void>(), b->as<void>(), proof.c_.as<double>(),
                                 proof.abs_products_.as<double>());
      !s)
    return s;
  with_element(p.out, [&](auto element) {
    finish<decltype(element)><<<blocks_for(p.m * p.n), kThreads>>>(
        proof.drawing_, p.m, p.n, p.alpha, p.beta, proof.c_.as<double>(),
        proof.abs_products_.as<double>());
  });
  if (Status s = launched("finish"); !s) return s;
  return Result<DeviceProof>(std::move(proof));
}

Status DeviceProof::find_lines(const Buffer& a, const Buffer& b) {
  const Problem p = as_row_major(problem_).problem;
  if (Status s = allocate(lines_, 2 * sizeof(double) * static_cast<std::size_t>(p.m + p.n)); !s)
    return s;
  auto* lines = lines_.as<double>();
  with_element(p.in, [&](auto element) {
    using E = decltype(element);
    const bool a_across = p.op_a == Op::kTranspose;
    const bool b_across = p.op_b == Op::kNone;
    magnitudes<E><<<blocks_for(p.m), kThreads>>>(a.as<typename E::Bits>(), p.m, p.k,
                                                 a_across ? 1 : p.lda, a_across ? p.lda : 1, lines,
                                                 lines + p.m);
    magnitudes<E><<<blocks_for(p.n), kThreads>>>(b.as<typename E::Bits>(), p.n, p.k,
                                                 b_across ? 1 : p.ldb, b_across ? p.ldb : 1,
                                                 lines + 2 * p.m, lines + 2 * p.m + p.n);
  });
  return launched("magnitudes");
}

Result<std::optional<Errors>> DeviceProof::judge(const KernelInfo& kernel, const ErrorBound& bound,
                                                 Rounding rounding, std::size_t guard,
                                                 std::size_t operand_guard) const {
  auto a = draw_on_device(drawing_, Matrix::kA, problem_, operand_guard);
  if (!a) return a.status();
  auto b = draw_on_device(drawing_, Matrix::kB, problem_, operand_guard);
  if (!b) return b.status();
  const auto in_bytes = static_cast<std::size_t>(bytes_of(problem_.in)) * operand_guard;
  const auto out_bytes = static_cast<std::size_t>(bytes_of(problem_.out));
  Buffer runs[2];
  for (Buffer& c : runs) {
    auto drawn = draw_on_device(drawing_, Matrix::kC, problem_, guard);
    if (!drawn) return drawn.status();
    c = std::move(drawn).value();
    const Operands operands{a->as<float>(in_bytes), b->as<float>(in_bytes),
                            c.as<float>(out_bytes * guard)};
    if (Status s = kernel.launch(problem_, operands, nullptr); !s) {
      (void)synchronize();
      return s;
    }
    if (Status s = synchronize(); !s) return s;
  }

  const Problem p = as_row_major(problem_).problem;
  const auto words = static_cast<std::int64_t>(runs[0].bytes() / out_bytes);
  const unsigned blocks = blocks_for(words);
  std::vector<Tally> tallies(blocks);
  Buffer on_gpu;
  if (Status s = allocate(on_gpu, blocks * sizeof(Tally)); !s) return s;
  // The tallies are zeroed first, so that a launch without effect proves nothing.
  if (Status s = on_gpu.upload(tallies.data(), on_gpu.bytes()); !s) return s;
  const double* lines = bound.floor > 0 ? lines_.as<double>() : nullptr;
  Question question{extent_c(problem_),
                    static_cast<std::int64_t>(guard),
                    p.beta,
                    reads_c(p),
                    input_.values == Values::kIntegers,
                    rounding == Rounding::kOnceOrTwice,
                    p.out != Type::kF32,
                    bound,
                    c_.as<double>(),
                    abs_products_.as<double>(),
                    lines,
                    lines == nullptr ? nullptr : lines + p.m,
                    lines == nullptr ? nullptr : lines + 2 * p.m,
                    lines == nullptr ? nullptr : lines + 2 * p.m + p.n,
                    std::abs(static_cast<double>(p.alpha))};
  with_element(p.out, [&](auto element) {
    using E = decltype(element);
    judge_words<E><<<blocks, kThreads>>>(question, drawing_, runs[0].as<typename E::Bits>(),
                                         runs[1].as<typename E::Bits>(), words, on_gpu.as<Tally>());
  });
  if (Status s = launched("judge_words"); !s) return s;
  if (Status s = on_gpu.download(tallies.data(), on_gpu.bytes()); !s) return s;
  Tally all{};
  for (const Tally& tally : tallies) {
    all.proved += tally.proved;
    all.error_squares += tally.error_squares;
    all.reference_squares += tally.reference_squares;
    all.componentwise = std::max(all.componentwise, tally.componentwise);
    all.of_bound = std::max(all.of_bound, tally.of_bound);
  }
  if (all.proved != static_cast<unsigned long long>(words) || !(all.reference_squares > 0))
    return std::optional<Errors>();
  return std::optional<Errors>(Errors{true, std::sqrt(all.error_squares / all.reference_squares),
                                      all.componentwise, all.of_bound});
}

}  // namespace ladder
