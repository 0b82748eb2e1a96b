// SPDX-License-Identifier: Apache-2.0
// C++20 over gemm.h: an owning handle, matrices as pointer and strides or as mdspan, results that
// hold a value or a failure. Header only; everything is inline over the C interface.
#pragma once
#ifndef __cpp_concepts
#error "ladder/gemm.hpp needs C++20; ladder/gemm.h is for C and any C++"
#else
#include <ladder/gemm.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace ladder {

struct Failure {
  ladder_status status = LADDER_STATUS_OK;
  std::string text;  // names the argument and the rule
};

// A value or a failure, as std::expected of C++23.
template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : value_(std::move(value)) {}              // NOLINT: as std::expected
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT

  bool has_value() const { return value_.has_value(); }
  explicit operator bool() const { return has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Failure& error() const { return failure_; }

 private:
  std::optional<T> value_;
  Failure failure_;
};

template <>
class [[nodiscard]] Expected<void> {
 public:
  Expected() = default;
  Expected(Failure failure) : failure_(std::move(failure)) {}  // NOLINT: as std::expected

  bool has_value() const { return failure_.status == LADDER_STATUS_OK; }
  explicit operator bool() const { return has_value(); }
  const Failure& error() const { return failure_; }

 private:
  Failure failure_;
};

namespace detail {

inline Expected<void> result_of(ladder_status status) {
  if (status == LADDER_STATUS_OK) return {};
  return Failure{status, ladder_last_error()};
}

// std::mdspan, cuda::std::mdspan and what looks like them, of 2 or 3 dimensions.
template <class M, class T>
concept Mdspan = requires(const M& m) {
  { m.data_handle() } -> std::convertible_to<T*>;
  m.extent(0);
  m.stride(0);
  requires M::rank()
  == 2 || M::rank() == 3;
};

}  // namespace detail

// Owns a ladder_handle.
class Handle {
 public:
  static Expected<Handle> create() {
    Handle made;
    if (auto result = detail::result_of(ladder_create(&made.handle_)); !result)
      return result.error();
    return made;
  }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { static_cast<void>(ladder_destroy(handle_)); }

  ladder_handle get() const { return handle_; }
  Expected<void> set_stream(CUstream_st* stream) {
    return detail::result_of(ladder_set_stream(handle_, stream));
  }
  Expected<void> set_precision(ladder_precision precision) {
    return detail::result_of(ladder_set_precision(handle_, precision));
  }
  Expected<void> set_workspace(void* memory, std::size_t bytes) {
    return detail::result_of(ladder_set_workspace(handle_, memory, bytes));
  }

 private:
  Handle() = default;
  ladder_handle handle_ = nullptr;
};

// A matrix, or a batch of them: element (i, j) of number b is at
// b * batch_step + i * row_step + j * col_step. One of the steps of a matrix must be 1.
template <class T>
struct View {
  T* at = nullptr;
  std::int64_t rows = 0, cols = 0;
  std::int64_t row_step = 0, col_step = 1;
  std::int64_t count = 1, batch_step = 0;

  View() = default;
  View(T* from, std::int64_t m, std::int64_t n) : View(from, m, n, n, 1) {}  // dense, row-major
  View(T* from, std::int64_t m, std::int64_t n, std::int64_t step_of_rows,
       std::int64_t step_of_cols)
      : at(from), rows(m), cols(n), row_step(step_of_rows), col_step(step_of_cols) {}
  template <class Other>
  requires std::is_convertible_v<Other*, T*> View(
      const View<Other>& other)  // NOLINT(google-explicit-constructor)
      : View(other.at, other.rows, other.cols, other.row_step, other.col_step) {
    count = other.count;
    batch_step = other.batch_step;
  }
  // A third dimension in front is the batch.
  template <detail::Mdspan<T> M>
  View(const M& m)  // NOLINT(google-explicit-constructor)
      : View(m.data_handle(), extent(m, M::rank() - 2), extent(m, M::rank() - 1),
             step(m, M::rank() - 2), step(m, M::rank() - 1)) {
    if constexpr (M::rank() == 3) {
      count = extent(m, 0);
      batch_step = step(m, 0);
    }
  }

  View transposed() const {
    View view = *this;
    std::swap(view.rows, view.cols);
    std::swap(view.row_step, view.col_step);
    return view;
  }
  View batch(std::int64_t matrices, std::int64_t step_of_batch) const {
    View view = *this;
    view.count = matrices;
    view.batch_step = step_of_batch;
    return view;
  }
  // Whether rows are contiguous; a step over one element counts for nothing.
  bool is_row_major() const { return col_step == 1 || cols <= 1; }
  bool is_col_major() const { return row_step == 1 || rows <= 1; }

 private:
  template <class M>
  static std::int64_t extent(const M& m, std::size_t r) {
    return static_cast<std::int64_t>(m.extent(r));
  }
  template <class M>
  static std::int64_t step(const M& m, std::size_t r) {
    return static_cast<std::int64_t>(m.stride(r));
  }
};

struct Options {
  float alpha = 1.0F, beta = 0.0F;
  ladder_precision precision = LADDER_PRECISION_DEFAULT;
  std::uint32_t flags = 0;
  // activation, bias, residual, scale; the residual has the layout of C
  ladder_epilogue epilogue = {
      LADDER_ACTIVATION_NONE, LADDER_BIAS_NONE, nullptr, 0, nullptr, 0, 0, 1.0F};
};

namespace detail {

inline Failure invalid(std::string text) {
  return {LADDER_STATUS_INVALID_ARGUMENT, std::move(text)};
}

// How an operand lies relative to C's layout.
template <class T>
Expected<void> place(const char* name, const View<T>& x, ladder_layout layout, ladder_op* op,
                     std::int64_t& ld, std::int64_t& stride) {
  const bool as_c = layout == LADDER_ROW_MAJOR ? x.is_row_major() : x.is_col_major();
  const bool turned = layout == LADDER_ROW_MAJOR ? x.is_col_major() : x.is_row_major();
  if (!as_c && (!turned || op == nullptr))
    return invalid(std::string(name) + ": neither its rows nor its columns are contiguous");
  const bool rows = (layout == LADDER_ROW_MAJOR) == as_c;  // lie one after the other
  const std::int64_t lines = rows ? x.rows : x.cols, used = rows ? x.cols : x.rows;
  ld = lines <= 1 ? std::max<std::int64_t>(1, used) : rows ? x.row_step : x.col_step;
  stride = x.batch_step;
  if (op != nullptr) *op = as_c ? LADDER_OP_N : LADDER_OP_T;
  return {};
}

inline Expected<ladder_gemm_call> call_of(const View<const float>& a, const View<const float>& b,
                                          const View<float>& c, const Options& options) {
  ladder_gemm_call call;
  ladder_gemm_call_init(&call);
  const auto differ = [](const char* what, std::int64_t x, const char* other, std::int64_t y) {
    return invalid(std::string(what) + " " + std::to_string(x) + ", but " + other + " " +
                   std::to_string(y));
  };
  if (a.rows != c.rows) return differ("a: its rows are", a.rows, "those of c are", c.rows);
  if (b.cols != c.cols) return differ("b: its columns are", b.cols, "those of c are", c.cols);
  if (a.cols != b.rows) return differ("b: its rows are", b.rows, "the columns of a are", a.cols);
  for (const auto& [name, count] : {std::pair{"a", a.count}, std::pair{"b", b.count}}) {
    if (count != c.count && count != 1)
      return invalid(std::string(name) + ": a batch of " + std::to_string(count) +
                     ", but c has one of " + std::to_string(c.count));
  }
  call.layout = c.is_row_major() ? LADDER_ROW_MAJOR : LADDER_COL_MAJOR;
  call.m = c.rows;
  call.n = c.cols;
  call.k = a.cols;
  call.batch_count = c.count;
  if (auto r = place("a", a, call.layout, &call.op_a, call.lda, call.stride_a); !r)
    return r.error();
  if (auto r = place("b", b, call.layout, &call.op_b, call.ldb, call.stride_b); !r)
    return r.error();
  if (auto r = place("c", c, call.layout, nullptr, call.ldc, call.stride_c); !r) return r.error();
  if (a.count == 1) call.stride_a = 0;
  if (b.count == 1) call.stride_b = 0;
  call.a = a.at;
  call.b = b.at;
  call.c = c.at;
  call.precision = options.precision;
  call.flags = options.flags;
  call.alpha = &options.alpha;
  call.beta = &options.beta;
  call.epilogue = options.epilogue;
  return call;
}

}  // namespace detail

// Enqueues C = alpha A B + beta C, with options.epilogue, in the handle's stream. A and B may be
// transposed views; a matrix beside a batch is shared. alpha and beta are values: the handle's
// pointer mode is LADDER_POINTER_MODE_HOST.
inline Expected<void> multiply(const Handle& handle, const View<const float>& a,
                               const View<const float>& b, const View<float>& c,
                               const Options& options = {}) {
  const auto call = detail::call_of(a, b, c, options);
  if (!call) return call.error();
  return detail::result_of(ladder_gemm(handle.get(), &*call));
}

// What multiply() would do.
inline Expected<ladder_gemm_plan> plan(const Handle& handle, const View<const float>& a,
                                       const View<const float>& b, const View<float>& c,
                                       const Options& options = {}) {
  const auto call = detail::call_of(a, b, c, options);
  if (!call) return call.error();
  ladder_gemm_plan planned{};
  planned.struct_size = sizeof planned;
  if (auto result = detail::result_of(ladder_plan(handle.get(), &*call, &planned)); !result)
    return result.error();
  return planned;
}

}  // namespace ladder
#endif
