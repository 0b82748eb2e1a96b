// SPDX-License-Identifier: Apache-2.0
// Matrices of the tests of cuSPARSE: by rows on the host, and in every format on the device. All
// values are small integers, so that every result is exact.
#pragma once
#include <cuda_fp16.h>
#include <cusparse.h>

#include <algorithm>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device_array.hpp"

using Number = std::complex<double>;
using Numbers = std::vector<Number>;
using Op = cusparseOperation_t;
inline constexpr Op kOps[] = {CUSPARSE_OPERATION_NON_TRANSPOSE, CUSPARSE_OPERATION_TRANSPOSE,
                              CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE};
inline constexpr cudaDataType kTypes[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F,
                                          CUDA_R_16F};

inline void status(cusparseStatus_t found, cusparseStatus_t expected = CUSPARSE_STATUS_SUCCESS,
                   int line = __builtin_LINE()) {
  if (found != expected) std::fprintf(stderr, "%s\n", cusparseGetErrorName(found));
  require(found == expected, "a status of cuSPARSE", line);
}

// The same numbers in each run.
inline int draw(int least, int most) {
  static unsigned state = 1;
  state = state * 1664525 + 1013904223;
  return least + static_cast<int>((state >> 8) % static_cast<unsigned>(most - least + 1));
}

// Memory that has never been written, until the end of the program.
inline std::vector<void*> allocations;
template <class T>
T* fresh(std::size_t count) {
  allocations.push_back(allocate<T>(count));
  return static_cast<T*>(allocations.back());
}

inline bool is_complex(cudaDataType type) { return type == CUDA_C_32F || type == CUDA_C_64F; }
inline std::vector<Op> operations(cudaDataType type) {
  return {kOps, kOps + (is_complex(type) ? 3 : 2)};
}
// Of alpha and beta, and what is computed with.
inline cudaDataType compute_type(cudaDataType type) {
  return type == CUDA_R_16F ? CUDA_R_32F : type;
}

inline Number number(cudaDataType type) {
  return {static_cast<double>(draw(-3, 3)), is_complex(type) ? draw(-3, 3) : 0.0};
}
inline Numbers numbers(std::size_t count, cudaDataType type) {
  Numbers values(count);
  for (Number& value : values) value = number(type);
  return values;
}

// Values of any type, as bytes.
inline std::vector<char> encode(const Numbers& values, cudaDataType type) {
  std::vector<char> bytes;
  const auto add = [&](auto value) {
    bytes.resize(bytes.size() + sizeof value);
    std::memcpy(&bytes[bytes.size() - sizeof value], &value, sizeof value);
  };
  for (const Number value : values) {
    switch (type) {
      case CUDA_R_16F: add(__half(value.real())); break;
      case CUDA_R_32F: add(static_cast<float>(value.real())); break;
      case CUDA_R_64F: add(value.real()); break;
      case CUDA_C_32F: add(std::complex<float>(value)); break;
      default: add(value); break;
    }
  }
  return bytes;
}
inline Numbers decode(const std::vector<char>& bytes, cudaDataType type) {
  Numbers values;
  const auto all = [&](auto zero) {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof zero) {
      std::memcpy(&zero, &bytes[at], sizeof zero);
      if constexpr (std::is_same_v<decltype(zero), __half>)
        values.emplace_back(static_cast<float>(zero));
      else
        values.emplace_back(zero);
    }
  };
  switch (type) {
    case CUDA_R_16F: all(__half()); break;
    case CUDA_R_32F: all(0.0f); break;
    case CUDA_R_64F: all(0.0); break;
    case CUDA_C_32F: all(std::complex<float>()); break;
    default: all(Number()); break;
  }
  return values;
}

struct Values : DeviceArray<char> {
  Values(const Numbers& values, cudaDataType type)
      : DeviceArray(encode(values, type)), type(type) {}
  Numbers read() const { return decode(DeviceArray::read(), type); }
  cudaDataType type;
};

inline std::vector<char> encode(const std::vector<int>& indices, cusparseIndexType_t type,
                                int base) {
  const std::size_t size = type == CUSPARSE_INDEX_64I ? 8 : 4;  // little-endian
  std::vector<char> bytes(indices.size() * size);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::int64_t value = indices[i] + base;
    std::memcpy(&bytes[i * size], &value, size);
  }
  return bytes;
}

// A matrix by rows.
struct Matrix {
  int rows, cols;
  Numbers values;
  Matrix(int rows, int cols) : rows(rows), cols(cols), values(std::size_t(rows) * cols) {}
  Number& at(int row, int col) { return values[std::size_t(row) * cols + col]; }
  Number at(int row, int col) const { return values[std::size_t(row) * cols + col]; }
};

inline Matrix random_matrix(int rows, int cols, cudaDataType type, int one_in = 1) {
  Matrix m(rows, cols);
  for (Number& value : m.values)
    if (draw(1, one_in) == 1) value = number(type);
  return m;
}

inline Matrix apply(const Matrix& m, Op op) {
  if (op == CUSPARSE_OPERATION_NON_TRANSPOSE) return m;
  Matrix turned(m.cols, m.rows);
  for (int i = 0; i < m.rows; ++i)
    for (int j = 0; j < m.cols; ++j)
      turned.at(j, i) = op == CUSPARSE_OPERATION_TRANSPOSE ? m.at(i, j) : std::conj(m.at(i, j));
  return turned;
}

inline Matrix product(const Matrix& a, const Matrix& b) {
  Matrix c(a.rows, b.cols);
  for (int i = 0; i < a.rows; ++i)
    for (int k = 0; k < a.cols; ++k)
      for (int j = 0; j < b.cols; ++j) c.at(i, j) += a.at(i, k) * b.at(k, j);
  return c;
}

inline void same(const Numbers& found, const Numbers& expected, const char* what, int line) {
  require(found == expected, what, line);
}

// A matrix on the device, by columns or by rows, with a gap between its lines.
struct Dense {
  Dense(const Matrix& m, cudaDataType type, cusparseOrder_t order)
      : m(m),
        order(order),
        ld((order == CUSPARSE_ORDER_COL ? m.rows : m.cols) + 3),
        values(spread(), type) {
    status(cusparseCreateDnMat(&descriptor, m.rows, m.cols, ld, values.get(), type, order));
  }
  ~Dense() { cusparseDestroyDnMat(descriptor); }
  std::size_t place(int i, int j) const {
    return order == CUSPARSE_ORDER_COL ? std::size_t(j) * ld + i : std::size_t(i) * ld + j;
  }
  Numbers spread() const {
    Numbers all(std::size_t(ld) * (order == CUSPARSE_ORDER_COL ? m.cols : m.rows), 7.0);
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j) all[place(i, j)] = m.at(i, j);
    return all;
  }
  Matrix read() const {
    Matrix found = m;
    const auto all = values.read();
    for (int i = 0; i < m.rows; ++i)
      for (int j = 0; j < m.cols; ++j) found.at(i, j) = all[place(i, j)];
    return found;
  }
  // Also that nothing between the lines has changed.
  void check(const Matrix& expected, const char* what, int line) {
    m = expected;
    same(values.read(), spread(), what, line);
  }
  Matrix m;
  cusparseOrder_t order;
  int ld;
  Values values;
  cusparseDnMatDescr_t descriptor;
};

struct Form {
  cusparseFormat_t format = CUSPARSE_FORMAT_CSR;
  cusparseIndexType_t index = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};
inline std::vector<Form> forms() {
  std::vector<Form> all;
  for (const auto format :
       {CUSPARSE_FORMAT_CSR, CUSPARSE_FORMAT_CSC, CUSPARSE_FORMAT_COO, CUSPARSE_FORMAT_BSR})
    for (const auto index : {CUSPARSE_INDEX_32I, CUSPARSE_INDEX_64I})
      for (const auto base : {CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_INDEX_BASE_ONE})
        all.push_back({format, index, base});
  return all;
}

// A sparse matrix on the device. Blocks of BSR are 2 x 2, by columns.
struct Sparse {
  Sparse(const Matrix& m, cudaDataType type, Form form) : form(form) {
    const bool by_columns = form.format == CUSPARSE_FORMAT_CSC;
    const int height = form.format == CUSPARSE_FORMAT_BSR ? 2 : 1, width = height,
              lines = by_columns ? m.cols : m.rows / height,
              across = by_columns ? m.rows : m.cols / width;
    std::vector<int> offsets{0}, rows, indices;
    Numbers stored;
    for (int line = 0; line < lines; ++line) {
      for (int i = 0; i < across; ++i) {
        Numbers block;
        for (int col = 0; col < width; ++col)
          for (int row = 0; row < height; ++row)
            block.push_back(by_columns ? m.at(i, line)
                                       : m.at(line * height + row, i * width + col));
        if (std::ranges::all_of(block, [](Number value) { return value == 0.0; })) continue;
        rows.push_back(line);
        indices.push_back(i);
        stored.insert(stored.end(), block.begin(), block.end());
      }
      offsets.push_back(static_cast<int>(indices.size()));
    }
    count = static_cast<int>(indices.size());
    const bool coo = form.format == CUSPARSE_FORMAT_COO;
    first = upload(encode(coo ? rows : offsets, form.index, form.base));
    index = upload(encode(indices, form.index, form.base));
    values = new Values(stored, type);
    const auto [format, kind, base] = form;
    if (coo)
      status(cusparseCreateCoo(&descriptor, m.rows, m.cols, count, first, index, values->get(),
                               kind, base, type));
    else if (format == CUSPARSE_FORMAT_BSR)
      status(cusparseCreateBsr(&descriptor, lines, across, count, height, width, first, index,
                               values->get(), kind, kind, base, type, CUSPARSE_ORDER_COL));
    else
      status((by_columns ? cusparseCreateCsc : cusparseCreateCsr)(
          &descriptor, m.rows, m.cols, count, first, index, values->get(), kind, kind, base, type));
  }
  ~Sparse() {
    status(cusparseDestroySpMat(descriptor));
    require(cudaFree(first));
    require(cudaFree(index));
    delete values;
  }
  Form form;
  int count;
  char *first, *index;
  Values* values;
  cusparseSpMatDescr_t descriptor;
};

inline cusparseHandle_t handle;

// alpha and beta, on the host or on the device.
struct Factor {
  Factor(Number value, cudaDataType type)
      : value(value), host(encode({value}, type)), device(host) {}
  operator const void*() const {
    cusparsePointerMode_t mode;
    status(cusparseGetPointerMode(handle, &mode));
    return mode == CUSPARSE_POINTER_MODE_HOST ? host.data() : device.get();
  }
  Number value;
  std::vector<char> host;
  DeviceArray<char> device;
};

inline Matrix combined(Number alpha, const Matrix& sum, Number beta, const Matrix& old) {
  Matrix c = sum;
  for (std::size_t i = 0; i < c.values.size(); ++i)
    c.values[i] = alpha * sum.values[i] + (beta == 0.0 ? 0.0 : beta * old.values[i]);
  return c;
}

// The memory that a function asks for.
struct Workspace {
  explicit Workspace(std::size_t bytes) { require(cudaMalloc(&data, bytes)); }
  ~Workspace() { cudaFree(data); }
  void* data;
};

// Asks for the size of a workspace, then calls with one: false if hardware does not support it.
template <class Ask, class Use>
inline bool with_workspace(Ask ask, Use use, int line) {
  std::size_t bytes = 0;
  const cusparseStatus_t answer = ask(&bytes);
  if (answer == CUSPARSE_STATUS_NOT_SUPPORTED && !on_virtual_gpu()) return false;
  status(answer, CUSPARSE_STATUS_SUCCESS, line);
  const Workspace work(bytes);
  const cusparseStatus_t found = use(work.data);
  if (found == CUSPARSE_STATUS_NOT_SUPPORTED && !on_virtual_gpu()) return false;
  status(found, CUSPARSE_STATUS_SUCCESS, line);
  require(cudaDeviceSynchronize());
  return true;
}

// A function that has a workspace as its last argument.
#define CALL(function, line, ...)                                                               \
  with_workspace([&](std::size_t* bytes) { return function##_bufferSize(__VA_ARGS__, bytes); }, \
                 [&](void* work) { return function(__VA_ARGS__, work); }, line)
// SpSV and SpSM.
#define SOLVE(function, line, ...)                                                              \
  with_workspace([&](std::size_t* bytes) { return function##_bufferSize(__VA_ARGS__, bytes); }, \
                 [&](void* work) {                                                              \
                   status(function##_analysis(__VA_ARGS__, work));                              \
                   return function##_solve(__VA_ARGS__);                                        \
                 },                                                                             \
                 line)

inline Matrix to_dense(const Sparse& sparse, int rows, int cols, int line) {
  Dense dense(Matrix(rows, cols), sparse.values->type, CUSPARSE_ORDER_ROW);
  constexpr auto kAlg = CUSPARSE_SPARSETODENSE_ALG_DEFAULT;
  CALL(cusparseSparseToDense, line, handle, sparse.descriptor, dense.descriptor, kAlg);
  return dense.read();
}
