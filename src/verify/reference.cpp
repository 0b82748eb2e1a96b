// SPDX-License-Identifier: Apache-2.0
#include "verify/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <new>
#include <thread>
#include <utility>

#include "host/openblas.hpp"
#include "operands/buffer.hpp"
#include "operands/parallel.hpp"
#include "verify/proof_device.hpp"

namespace ladder {
namespace {

// Approximate FLOP/s per core; used only to choose the reference.
double host_flops() { return host::openblas() != nullptr ? 1e10 : 1e9; }
constexpr double kHostSeconds = 4;

// op(X) in double, dense and row-major.
std::vector<double> widen(const float* x, Op op, std::int64_t ld, std::int64_t rows,
                          std::int64_t columns) {
  std::vector<double> wide(static_cast<std::size_t>(rows * columns));
  parallel_for(rows, kParallelGrain / std::max<std::int64_t>(1, columns),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   for (std::int64_t j = 0; j < columns; ++j) {
                     wide[i * columns + j] = op == Op::kNone ? x[i * ld + j] : x[j * ld + i];
                   }
                 }
               });
  return wide;
}

void make_absolute(std::vector<double>& values) {
  for (double& value : values) value = std::abs(value);
}

// `reference` holds A B and |A||B|; scales both by alpha and adds beta C0.
void finish(const Operation& operation, Reference& reference) {
  const Problem& p = operation.problem;
  const double alpha = p.alpha;
  const double beta = p.beta;
  parallel_for(p.m, kParallelGrain / std::max<std::int64_t>(1, p.n),
               [&](std::int64_t begin, std::int64_t end) {
                 for (std::int64_t i = begin; i < end; ++i) {
                   for (std::int64_t j = 0; j < p.n; ++j) {
                     const std::int64_t at = i * p.n + j;
                     const double before = reads_c(p) ? beta * operation.c[i * p.ldc + j] : 0.0;
                     reference.c[at] = alpha * reference.c[at] + before;
                     reference.abs_products[at] *= std::abs(alpha);
                   }
                 }
               });
}

// C = A B in double, row-major and dense, all cores: OpenBLAS, or the blocked loop without it.
void host_dgemm(std::int64_t m, std::int64_t n, std::int64_t k, const double* a, const double* b,
                double* c) {
  if (const host::OpenBlas* blas = host::openblas()) {
    blas->set_num_threads(blas->get_num_procs());
    blas->dgemm(host::OpenBlas::kRowMajor, host::OpenBlas::kNoTrans, host::OpenBlas::kNoTrans,
                static_cast<int>(m), static_cast<int>(n), static_cast<int>(k), 1.0, a,
                static_cast<int>(k), b, static_cast<int>(n), 0.0, c, static_cast<int>(n));
    return;
  }
  // rows of B that stay in cache while all rows of A are processed
  constexpr std::int64_t kBlock = 256;
  parallel_for(m, std::max<std::int64_t>(1, kParallelGrain / std::max<std::int64_t>(1, n * k)),
               [&](std::int64_t begin, std::int64_t end) {
                 std::fill(c + begin * n, c + end * n, 0.0);
                 for (std::int64_t block = 0; block < k; block += kBlock) {
                   for (std::int64_t i = begin; i < end; ++i) {
                     for (std::int64_t l = block; l < std::min(k, block + kBlock); ++l) {
                       const double left = a[i * k + l];
                       for (std::int64_t j = 0; j < n; ++j) c[i * n + j] += left * b[l * n + j];
                     }
                   }
                 }
               });
}

Status host_reference(const Operation& operation, Reference& reference) {
  const Problem& p = operation.problem;
  reference.name = host::openblas() != nullptr ? "OpenBLAS dgemm" : "blocked FP64 loop";
  if (reads_ab(p)) {
    std::vector<double> a = widen(operation.a, p.op_a, p.lda, p.m, p.k);
    std::vector<double> b = widen(operation.b, p.op_b, p.ldb, p.k, p.n);
    host_dgemm(p.m, p.n, p.k, a.data(), b.data(), reference.c.data());
    make_absolute(a);
    make_absolute(b);
    host_dgemm(p.m, p.n, p.k, a.data(), b.data(), reference.abs_products.data());
  }
  return Status::ok();
}

double count(std::int64_t rows, std::int64_t columns) {
  return static_cast<double>(rows) * static_cast<double>(columns);
}

}  // namespace

Operation as_operation(const Problem& problem, const Images& images) {
  const RowMajor row_major = as_row_major(problem);
  Operation operation;
  operation.problem = row_major.problem;
  operation.a = row_major.swapped ? images.b.data() : images.a.data();
  operation.b = row_major.swapped ? images.a.data() : images.b.data();
  operation.c = images.c.data();
  operation.swapped = row_major.swapped;
  return operation;
}

ReferenceKind choose_reference(const Problem& problem, const Device& device) {
  const double wide_bytes = 8.0 * (count(problem.m, problem.k) + count(problem.k, problem.n)) +
                            16.0 * count(problem.m, problem.n);
  const double host_bytes = static_cast<double>(available_host_memory());
  const double seconds =
      2 * flops(problem) / (host_flops() * std::max(1U, std::thread::hardware_concurrency()));
  // below both, a transfer to the GPU is not worthwhile: the host compares about 1e8 bytes per s
  constexpr double kSmall = 0.05;  // seconds of host time for the products
  constexpr double kSmallBytes = 1 << 22;
  const bool fits_host = 1.5 * wide_bytes < host_bytes;
  if (fits_host && seconds < kSmall && wide_bytes < kSmallBytes) return ReferenceKind::kHost;
#ifdef LADDER_HAVE_CUBLAS
  if (device.has_cuda && !device.is_virtual &&
      16.0 * count(problem.m, problem.n) < 0.5 * host_bytes &&
      1.2 * wide_bytes < static_cast<double>(available_device_memory())) {
    return ReferenceKind::kCublas;
  }
#else
  (void)device;
#endif
  return fits_host && seconds < kHostSeconds ? ReferenceKind::kHost : ReferenceKind::kIdentity;
}

Result<Reference> make_reference(const Operation& operation, ReferenceKind kind) {
  const Problem& p = operation.problem;
  Reference reference;
  reference.c.assign(static_cast<std::size_t>(p.m * p.n), 0.0);
  reference.abs_products.assign(static_cast<std::size_t>(p.m * p.n), 0.0);
  const Status status = kind == ReferenceKind::kCublas ? cublas_reference(operation, reference)
                                                       : host_reference(operation, reference);
  if (!status) return status;
  finish(operation, reference);
  return reference;
}

#ifndef LADDER_HAVE_CUBLAS
Status cublas_reference(const Operation&, Reference&) {
  return {Code::kUnsupportedDevice, "the cuBLAS reference needs a build with cuBLAS"};
}
Status cublas_products(const Problem&, const void*, const void*, double*, double*) {
  return {Code::kUnsupportedDevice, "the cuBLAS reference needs a build with cuBLAS"};
}
#endif

ReferenceStore::ReferenceStore(std::size_t capacity_bytes)
    : capacity_(capacity_bytes > 0 ? capacity_bytes : available_host_memory() / 4) {}

namespace {

// Finds the store's entry for this problem and input and moves it to the front. `precision` matters
// only for the range of integers.
template <class Entry>
const Entry* find(std::list<Entry>& entries, const Problem& problem, const Input& input,
                  Precision precision, ReferenceKind kind) {
  const auto found = std::ranges::find_if(entries, [&](const Entry& entry) {
    return entry.problem == problem && entry.input == input && entry.precision == precision &&
           entry.kind == kind;
  });
  if (found == entries.end()) return nullptr;
  entries.splice(entries.begin(), entries, found);
  return &entries.front();
}

template <class Entry>
void keep(std::list<Entry>& entries, Entry entry, std::size_t capacity) {
  std::size_t total = entry.bytes;
  entries.remove_if([&](const Entry& other) {
    total += other.bytes;
    return total > capacity;
  });
  entries.push_front(std::move(entry));
}

Precision relevant(const Input& input, Precision precision) {
  return input.values == Values::kIntegers ? precision : Precision::kIeee;
}

}  // namespace

Result<std::shared_ptr<const Prepared>> ReferenceStore::get(const Problem& problem,
                                                            const Input& input, Precision precision,
                                                            ReferenceKind kind) {
  const Precision ranged = relevant(input, precision);
  if (const Entry* known = find(entries_, problem, input, ranged, kind)) return known->prepared;
  try {
    auto prepared = std::make_shared<Prepared>();
    auto images = make_images(problem, input, precision);
    if (!images) return images.status();
    prepared->images = std::move(images).value();
    prepared->operation = as_operation(problem, prepared->images);
    prepared->kind = kind;
    if (kind != ReferenceKind::kIdentity) {
      auto reference = make_reference(prepared->operation, kind);
      if (!reference) return reference.status();
      prepared->reference = std::move(reference).value();
    }
    const Images& i = prepared->images;
    const Reference& r = prepared->reference;
    const std::size_t bytes =
        4 * (i.a.size() + i.b.size() + i.c.size()) + 8 * (r.c.size() + r.abs_products.size());
    keep(entries_, {problem, input, ranged, kind, prepared, bytes}, capacity_);
    return std::shared_ptr<const Prepared>(prepared);
  } catch (const std::bad_alloc&) {
    return Status(Code::kOutOfMemory,
                  fmt::format("no host memory for the reference of {}", to_string(problem)));
  }
}

Result<std::shared_ptr<const DeviceProof>> ReferenceStore::on_device(const Problem& problem,
                                                                     const Input& input,
                                                                     Precision precision,
                                                                     ReferenceKind kind) {
  const Precision ranged = relevant(input, precision);
  if (const DeviceEntry* known = find(on_device_, problem, input, ranged, kind))
    return known->proof;
  auto made = DeviceProof::make(problem, input, precision, kind);
  if (!made) return made.status();
  auto proof = std::make_shared<const DeviceProof>(std::move(made).value());
  const std::size_t bytes = proof->bytes();
  keep(on_device_, {problem, input, ranged, kind, proof, bytes},
       (available_device_memory() + bytes) / 4);
  return proof;
}

namespace {

// For `count` rows of op(A) or columns of op(B) ("lines") of `k` elements. Element (line, k) is at
// line * ld + k, or, if `across`, at k * ld + line.
LineMagnitudes magnitudes(const float* matrix, std::int64_t ld, std::int64_t count, std::int64_t k,
                          bool across) {
  LineMagnitudes lines{std::vector<double>(count), std::vector<double>(count)};
  const auto add = [&](std::int64_t line, float value) {
    const double magnitude = std::abs(static_cast<double>(value));
    lines.largest[line] = std::max(lines.largest[line], magnitude);
    lines.sum[line] += magnitude;
  };
  for (std::int64_t i = 0; i < (across ? k : count); ++i) {
    for (std::int64_t j = 0; j < (across ? count : k); ++j) add(across ? j : i, matrix[i * ld + j]);
  }
  return lines;
}

}  // namespace

Lines lines_of(const Operation& operation) {
  const Problem& p = operation.problem;
  if (!reads_ab(p)) return {};
  return {magnitudes(operation.a, p.lda, p.m, p.k, p.op_a == Op::kTranspose),
          magnitudes(operation.b, p.ldb, p.n, p.k, p.op_b == Op::kNone),
          std::abs(static_cast<double>(p.alpha))};
}

}  // namespace ladder
