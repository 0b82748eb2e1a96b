// SPDX-License-Identifier: Apache-2.0
#include "blas/product.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <utility>
#ifdef VGPU_OPENBLAS
#include <cblas.h>
#endif

#include "blas/elements.hpp"

namespace vgpu::blas {
namespace {

const void* at(const Operand& operand, std::int64_t entry) {
  if (operand.is_array) return static_cast<const void* const*>(operand.data)[entry];
  const auto bytes = static_cast<std::int64_t>(bytes_of(operand.type));
  return static_cast<const char*>(operand.data) + entry * operand.stride * bytes;
}

bool is_on_device(const View& view, std::int64_t batch) {
  const Operand& operand = view.operand;
  if (view.elements() == 0) return true;
  if (operand.is_array)
    return on_device(operand.data, batch * 8, CUDA_R_8I);  // pointers of 8 bytes
  const std::int64_t last = (batch - 1) * operand.stride;
  const auto bytes = static_cast<std::int64_t>(bytes_of(operand.type));
  const auto* const first =
      static_cast<const char*>(operand.data) + std::min<std::int64_t>(0, last) * bytes;
  const std::int64_t count = std::abs(last) + view.elements();
  return on_device(first, count, operand.type) &&
         on_device(first + operand.plane_offset, count, operand.type);
}

cublasStatus_t refuse_operand(const char* function, char name, const View& view) {
  say(fmt::format("{}: {} at {}, {}x{} with leading dimension {}, is not wholly in device memory",
                  function, name, fmt::ptr(view.operand.data), view.stored_rows(),
                  view.stored_columns(), view.operand.ld)
          .c_str());
  return CUBLAS_STATUS_EXECUTION_FAILED;
}

View view_a(const Product& p) { return {p.a, p.op_a, p.m, p.k}; }
View view_b(const Product& p) { return {p.b, p.op_b, p.k, p.n}; }
View view_c(const Product& p) { return {p.c, CUBLAS_OP_N, p.m, p.n}; }
View view_d(const Product& p) { return {p.d, CUBLAS_OP_N, p.m, p.n}; }

template <class W>
struct Factor {
  const W* data;
  std::int64_t ld;
};

#ifdef VGPU_OPENBLAS
auto gemm_of(float) { return cblas_sgemm; }
auto gemm_of(double) { return cblas_dgemm; }
auto gemm_of(std::complex<float>) { return cblas_cgemm; }
auto gemm_of(std::complex<double>) { return cblas_zgemm; }
// Real factors are passed by value, complex ones by their address.
float gemm_factor(const float& value) { return value; }
double gemm_factor(const double& value) { return value; }
template <class T>
const void* gemm_factor(const std::complex<T>& value) {
  return &value;
}
#endif

// C = A B for column-major matrices, of which C is packed, by the host's BLAS where there is one.
template <class W>
void multiply(std::int64_t m, std::int64_t n, std::int64_t k, Factor<W> a, Factor<W> b, W* c) {
#ifdef VGPU_OPENBLAS
  const auto size = [](std::int64_t value) { return static_cast<blasint>(value); };
  const W one{1}, zero{0};
  if (m != 0 && n != 0 && k != 0 &&
      std::max({m, n, k, a.ld, b.ld}) <= std::numeric_limits<blasint>::max())
    return gemm_of(W{})(CblasColMajor, CblasNoTrans, CblasNoTrans, size(m), size(n), size(k),
                        gemm_factor(one), a.data, size(a.ld), b.data, size(b.ld), gemm_factor(zero),
                        c, size(m));
#endif
  std::fill_n(c, m * n, W{0});
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t l = 0; l < k; ++l) {
      const W factor = b.data[j * b.ld + l];
      for (std::int64_t i = 0; i < m; ++i) c[j * m + i] += a.data[l * a.ld + i] * factor;
    }
  }
}

template <class W>
W scale_of(const Operand& operand) {
  const bool none = operand.scale == nullptr || operand.scales != Scales::kOne;
  return none ? W{1} : load<W>(CUDA_R_32F, operand.scale, 0);
}

template <class W>
class Computation {
 public:
  explicit Computation(const Product& product) : p_(product) {}

  void run() {
    alpha_ = p_.alphas != nullptr ? W{1} : p_.alpha.template value<W>();
    beta_ = p_.beta.template value<W>();
    for (std::int64_t entry = 0; entry < p_.batch; ++entry) {
      if (!whole(entry)) return;
      run(entry);
    }
    if (p_.mantissa_bits != nullptr) {
      *p_.mantissa_bits = -1;
      mark_written(p_.mantissa_bits, 1, CUDA_R_32I);
    }
    if (p_.epilogue.largest == nullptr) return;
    store(CUDA_R_32F, p_.epilogue.largest, 0, static_cast<float>(largest_));
    mark_written(p_.epilogue.largest, 1, CUDA_R_32F);
  }

 private:
  // Pointers of an array are known only now.
  bool whole(std::int64_t entry) const {
    const std::pair<char, View> views[] = {{'A', view_a(p_)}, {'B', view_b(p_)}, {'C', view_d(p_)}};
    for (const auto& [name, view] : views) {
      if (!view.operand.is_array || (name != 'C' && !reads_operands()) ||
          on_device(at(view.operand, entry), view.elements(), view.operand.type))
        continue;
      say(fmt::format(
              "{}: {} of batch entry {} is not wholly in device memory; nothing more of the "
              "batch is computed",
              p_.function, name, entry)
              .c_str());
      return false;
    }
    return true;
  }

  bool reads_operands() const { return p_.k != 0 && alpha_ != W{0}; }

  // Whether the host's BLAS can read the operand where it is.
  bool is_in_place(const View& view, Rounding rounding) const {
    return p_.epilogue.is_default() && rounding == Rounding::kNone && view.op == CUBLAS_OP_N &&
           !view.operand.row_major && view.operand.scales == Scales::kOne &&
           is_stored_as<W>(view.operand);
  }
  static Factor<W> stored_factor(const Operand& operand, std::int64_t entry) {
    return {static_cast<const W*>(at(operand, entry)), operand.ld};
  }

  void run(std::int64_t entry) {
    const KnownSums known = known_sums(p_);
    if (known.sums != nullptr) {
      sums_ = *static_cast<const std::vector<W>*>(known.sums.get());
      scale(entry, sums_);
      write(entry, sums_);
      return;
    }
    const Rounding rounding = rounding_of(p_.compute);
    const bool needs_a = reads_operands() || p_.epilogue.has(CUBLASLT_EPILOGUE_BGRADA),
               needs_b = reads_operands() || p_.epilogue.has(CUBLASLT_EPILOGUE_BGRADB);
    const bool packs_a = needs_a && !is_in_place(view_a(p_), rounding),
               packs_b = needs_b && !is_in_place(view_b(p_), rounding);
    if (packs_a) pack(view_a(p_), at(p_.a, entry), rounding, a_);
    if (packs_b) pack(view_b(p_), at(p_.b, entry), rounding, b_);
    if (packs_a) scale_elements(view_a(p_), true, a_);
    if (packs_b) scale_elements(view_b(p_), false, b_);
    sums_.resize(static_cast<std::size_t>(p_.m * p_.n));
    if (reads_operands()) {
      const Factor<W> a = packs_a ? Factor<W>{a_.data(), p_.m} : stored_factor(p_.a, entry),
                      b = packs_b ? Factor<W>{b_.data(), p_.k} : stored_factor(p_.b, entry);
      multiply(p_.m, p_.n, p_.k, a, b, sums_.data());
    } else {
      std::fill(sums_.begin(), sums_.end(), W{0});
    }
    if (known.repeats)
      keep_sums(p_, std::make_shared<const std::vector<W>>(sums_), sums_.size() * sizeof(W));
    scale(entry, sums_);
    if constexpr (!kIsComplex<W>) {
      apply(p_.epilogue, entry, p_.m, p_.n, p_.k, a_, b_, sums_);
      if (p_.epilogue.largest != nullptr) {
        for (const W value : sums_) {
          const double magnitude = std::abs(static_cast<double>(value));
          if (!(magnitude <= largest_)) largest_ = magnitude;
        }
      }
    }
    write(entry, sums_);
  }

  void scale(std::int64_t entry, std::vector<W>& sums) const {
    const W of_operands = scale_of<W>(p_.a) * scale_of<W>(p_.b), of_c = beta_ * scale_of<W>(p_.c);
    const View c = view_c(p_);
    const void* const c_data = beta_ != W{0} ? at(p_.c, entry) : nullptr;  // else C is not read
    if (c_data == nullptr && p_.alphas == nullptr) {
      const W factor = alpha_ * of_operands;
      for (W& x : sums) x *= factor;
      return;
    }
    for (std::int64_t j = 0; j < p_.n; ++j) {
      for (std::int64_t i = 0; i < p_.m; ++i) {
        W& x = sums[static_cast<std::size_t>(j * p_.m + i)];
        const W factor = p_.alphas != nullptr ? load<W>(p_.scale_type, p_.alphas, i) : alpha_;
        x *= factor * of_operands;
        if (c_data != nullptr) x += of_c * load_element<W>(p_.c, c_data, c.offset(i, j));
      }
    }
  }

  void write(std::int64_t entry, const std::vector<W>& sums) const {
    const View d = view_d(p_);
    const W factor = scale_of<W>(p_.d);
    void* const data = const_cast<void*>(at(p_.d, entry));
    const bool by_columns = is_stored_as<W>(p_.d) && d.offset(1, 0) == 1;
    for (std::int64_t j = 0; j < p_.n; ++j) {
      if (by_columns) {
        std::transform(sums.data() + j * p_.m, sums.data() + (j + 1) * p_.m,
                       static_cast<W*>(data) + d.offset(0, j), [&](W x) { return factor * x; });
        continue;
      }
      for (std::int64_t i = 0; i < p_.m; ++i)
        store_element(p_.d, data, d.offset(i, j),
                      factor * sums[static_cast<std::size_t>(j * p_.m + i)]);
    }
    for (std::int64_t line = 0; line < d.lines(); ++line) {
      char* const first =
          static_cast<char*>(data) + static_cast<std::size_t>(line * p_.d.ld) * bytes_of(p_.d.type);
      mark_written(first, d.line(), p_.d.type);
      if (p_.d.is_planar()) mark_written(first + p_.d.plane_offset, d.line(), p_.d.type);
    }
  }

  const Product& p_;
  W alpha_{}, beta_{};
  std::vector<W> a_, b_, sums_;  // op(A) and op(B), where packed, and what becomes D
  double largest_ = 0;
};

template <class W>
cublasStatus_t enqueue(cudaStream_t stream, const Product& product) {
  return submit(stream, [product] {
    if (is_computed(product)) return;
    Computation<W>(product).run();
    note_computed(product);
  });
}

bool is_zero(const Scalar& scalar) {
  return !scalar.on_device() && scalar.template value<std::complex<double>>() == 0.0;
}

// Planar complex: half precision throughout, as on an H200.
bool is_planar_product(const Product& p) {
  const cudaDataType a = p.a.type;
  return p.a.is_planar() && p.b.is_planar() && p.c.is_planar() && p.d.is_planar() &&
         p.compute == CUBLAS_COMPUTE_32F && p.scale_type == CUDA_C_32F &&
         (a == CUDA_R_16F || a == CUDA_R_16BF) && p.b.type == a && p.c.type == a && p.d.type == a;
}

bool is_32f_to(cudaDataType a, cudaDataType c, cudaDataType d) {
  if (a == CUDA_R_16F || a == CUDA_R_16BF) return c == d && (c == a || c == CUDA_R_32F);
  return c == d && (a == CUDA_R_8I || a == CUDA_R_32F) && c == CUDA_R_32F;
}

bool is_fp8_product(const Product& p) {
  if (!is_fp8(p.a.type) || !is_fp8(p.b.type)) return false;
  if (p.a.type == CUDA_R_8F_E5M2 && p.b.type == CUDA_R_8F_E5M2) return false;
  const bool half = p.c.type == CUDA_R_16F || p.c.type == CUDA_R_16BF;
  return is_fp8(p.d.type) ? half : p.d.type == p.c.type && (half || p.c.type == CUDA_R_32F);
}

}  // namespace

cudaDataType scale_type_of(cublasComputeType_t compute, cudaDataType c) {
  switch (compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return CUDA_R_16F;
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return CUDA_R_32I;
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT: return is_complex(c) ? CUDA_C_64F : CUDA_R_64F;
    default: return is_complex(c) ? CUDA_C_32F : CUDA_R_32F;
  }
}

bool is_known(const Product& p) {
  if (p.a.is_planar() || p.b.is_planar() || p.c.is_planar() || p.d.is_planar())
    return is_planar_product(p);
  const cudaDataType a = p.a.type, c = p.c.type, d = p.d.type, scale = p.scale_type;
  const auto all = [&](cudaDataType type) {
    return a == type && p.b.type == type && c == type && d == type;
  };
  switch (p.compute) {
    case CUBLAS_COMPUTE_16F:
    case CUBLAS_COMPUTE_16F_PEDANTIC: return scale == CUDA_R_16F && all(CUDA_R_16F);
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC:
      if (a != CUDA_R_8I || p.b.type != CUDA_R_8I || c != d) return false;
      return scale == CUDA_R_32I ? c == CUDA_R_32I : scale == CUDA_R_32F && c == CUDA_R_8I;
    case CUBLAS_COMPUTE_32F:
    case CUBLAS_COMPUTE_32F_PEDANTIC:
      if (scale == CUDA_C_32F) return all(CUDA_C_32F);
      return scale == CUDA_R_32F && ((a == p.b.type && is_32f_to(a, c, d)) || is_fp8_product(p));
    case CUBLAS_COMPUTE_32F_FAST_16F:
    case CUBLAS_COMPUTE_32F_FAST_16BF:
    case CUBLAS_COMPUTE_32F_FAST_TF32:
    case CUBLAS_COMPUTE_32F_EMULATED_16BFX9:
      return (scale == CUDA_R_32F && all(CUDA_R_32F)) || (scale == CUDA_C_32F && all(CUDA_C_32F));
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      return (scale == CUDA_R_64F && all(CUDA_R_64F)) || (scale == CUDA_C_64F && all(CUDA_C_64F));
    default: return false;
  }
}

bool is_aligned(const Product& p) {
  if (p.compute != CUBLAS_COMPUTE_32I && p.compute != CUBLAS_COMPUTE_32I_PEDANTIC) return true;
  constexpr std::int64_t kUnit = 4;
  const auto is_aligned_operand = [&](const Operand& operand) {
    if (operand.ld % kUnit != 0) return false;
    if (operand.is_array) return true;
    return reinterpret_cast<std::uintptr_t>(operand.data) % kUnit == 0 &&
           (p.batch <= 1 || operand.stride % kUnit == 0);
  };
  return is_aligned_operand(p.a) && is_aligned_operand(p.b);
}

cublasStatus_t run(cudaStream_t stream, const Product& p) {
  if (!is_op(p.op_a) || !is_op(p.op_b) || p.m < 0 || p.n < 0 || p.k < 0 || p.batch < 0 ||
      !view_a(p).valid() || !view_b(p).valid() ||
      !(view_c(p).valid() || (p.repeats_c && p.c.ld == 0)) || !view_d(p).valid())
    return CUBLAS_STATUS_INVALID_VALUE;
  if (!is_known(p))
    return refuse(p.function,
                  fmt::format("cudaDataType {}, {}, {}, {} with compute type {} and scale type {}",
                              int{p.a.type}, int{p.b.type}, int{p.c.type}, int{p.d.type},
                              int{p.compute}, int{p.scale_type}));
  if (p.m == 0 || p.n == 0 || p.batch == 0) return submit(stream, [] {});  // or the sticky error
  if (!is_aligned(p))
    return refuse(p.function,
                  "32-bit sums of 8-bit integers, but for A and B at multiples of 4 bytes with "
                  "leading dimensions and strides that are multiples of 4");
  if ((p.alphas == nullptr && !p.alpha.valid()) || !p.beta.valid())
    return CUBLAS_STATUS_INVALID_VALUE;
  const bool reads_operands = p.k != 0 && (p.alphas != nullptr || !is_zero(p.alpha));
  if (reads_operands && !is_on_device(view_a(p), p.batch))
    return refuse_operand(p.function, 'A', view_a(p));
  if (reads_operands && !is_on_device(view_b(p), p.batch))
    return refuse_operand(p.function, 'B', view_b(p));
  if (!is_zero(p.beta) && !is_on_device(view_c(p), p.batch))
    return refuse_operand(p.function, 'C', view_c(p));
  if (!is_on_device(view_d(p), p.batch)) return refuse_operand(p.function, 'C', view_d(p));
  switch (p.compute) {
    case CUBLAS_COMPUTE_64F:
    case CUBLAS_COMPUTE_64F_PEDANTIC:
    case CUBLAS_COMPUTE_64F_EMULATED_FIXEDPOINT:
      if (is_complex(p.d.type)) return enqueue<std::complex<double>>(stream, p);
      return enqueue<double>(stream, p);
    case CUBLAS_COMPUTE_32I:
    case CUBLAS_COMPUTE_32I_PEDANTIC: return enqueue<double>(stream, p);  // exact
    default:
      if (is_complex(p.d.type) || p.d.is_planar()) return enqueue<std::complex<float>>(stream, p);
      return enqueue<float>(stream, p);
  }
}

}  // namespace vgpu::blas
