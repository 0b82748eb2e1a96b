// SPDX-License-Identifier: Apache-2.0
// The opaque types of cuSPARSE, and calls that use them.
#pragma once
#pragma GCC visibility push(default)
#include <cusparse.h>
#pragma GCC visibility pop

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <stdexcept>

#include "blas/value.hpp"
#include "include/host_call.hpp"

namespace vgpu::sparse {

using i64 = std::int64_t;

constexpr std::size_t index_bytes(cusparseIndexType_t type) {
  return type == CUSPARSE_INDEX_64I ? 8 : type == CUSPARSE_INDEX_32I ? 4 : 0;
}

// Indices in device memory, counted from 0 here.
struct Indices {
  void* data = nullptr;
  cusparseIndexType_t type = CUSPARSE_INDEX_32I;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;

  i64 operator[](i64 i) const {
    return (type == CUSPARSE_INDEX_64I ? static_cast<const std::int64_t*>(data)[i]
                                       : static_cast<const std::int32_t*>(data)[i]) -
           base;
  }
  void set(i64 i, i64 index) const {
    if (type == CUSPARSE_INDEX_64I)
      static_cast<std::int64_t*>(data)[i] = index + base;
    else
      static_cast<std::int32_t*>(data)[i] = static_cast<std::int32_t>(index + base);
  }
};

}  // namespace vgpu::sparse

struct cusparseContext {
  cudaStream_t stream = nullptr;
  cusparsePointerMode_t mode = CUSPARSE_POINTER_MODE_HOST;
};

struct cusparseMatDescr {
  cusparseMatrixType_t type = CUSPARSE_MATRIX_TYPE_GENERAL;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
  cusparseIndexBase_t base = CUSPARSE_INDEX_BASE_ZERO;
};

struct cusparseDnVecDescr {
  std::int64_t size;
  void* values;
  cudaDataType type;
};

struct cusparseSpVecDescr {
  std::int64_t size, nnz;
  vgpu::sparse::Indices indices;
  void* values;
  cudaDataType type;
};

struct cusparseDnMatDescr {
  std::int64_t rows, cols, ld;
  void* values;
  cudaDataType type;
  cusparseOrder_t order;
  int batches = 1;
  std::int64_t stride = 0;

  bool by_columns() const { return order == CUSPARSE_ORDER_COL; }
  std::int64_t place(std::int64_t row, std::int64_t col) const {
    return by_columns() ? col * ld + row : row * ld + col;
  }
};

struct cusparseSpMatDescr {
  cusparseFormat_t format;
  std::int64_t rows, cols, nnz;        // of BSR in blocks
  vgpu::sparse::Indices first, index;  // offsets and indices; of COO both indices
  void* values;
  cudaDataType type;
  std::int64_t block = 1;                      // rows and columns of a block of BSR
  cusparseOrder_t order = CUSPARSE_ORDER_ROW;  // in a block of BSR
  int batches = 1;
  std::int64_t first_stride = 0, index_stride = 0, value_stride = 0;
  cusparseFillMode_t fill = CUSPARSE_FILL_MODE_LOWER;
  cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
};

namespace vgpu::sparse {

using Status = cusparseStatus_t;
using SpMat = cusparseSpMatDescr;
using DnMat = cusparseDnMatDescr;

// A workspace's size. Programs take a null pointer for the question how large it is to be.
constexpr std::size_t kRoom = 16;

using Objects = vgpu::Objects<Status>;
inline Status known(const void* handle) { return Objects::known(handle); }
inline Status tell_room(const void* handle, std::size_t* bytes) {
  if (handle != nullptr && bytes == nullptr) return CUSPARSE_STATUS_INVALID_VALUE;
  if (handle != nullptr) *bytes = kRoom;
  return known(handle);
}

// A factor in host or device memory, by the handle's mode. On the host it is read at the call.
class Scalar {
 public:
  template <class W>
  W value() const {
    return blas::load<W>(type_, device_ != nullptr ? device_ : bits_, 0);
  }

 private:
  friend class Call;
  cudaDataType type_ = CUDA_R_32F;
  const void* device_ = nullptr;
  alignas(16) unsigned char bits_[16] = {};
};

static_assert(Objects::kInvalid == CUSPARSE_STATUS_INVALID_VALUE &&
              Objects::kFailed == CUSPARSE_STATUS_EXECUTION_FAILED);

class Call : public HostCall<Status> {
 public:
  template <class... Descriptors>
  Call(const char* name, cusparseHandle_t handle, const Descriptors*... descriptors)
      : HostCall(name, handle != nullptr ? handle->stream : nullptr), handle_(handle) {
    require(handle != nullptr);
    require((... && (descriptors != nullptr)));
  }
  bool on_device() const { return handle_->mode == CUSPARSE_POINTER_MODE_DEVICE; }

  // Every type is one that this library computes with, and the last two are complex if any is.
  template <class... Types>
  Call& types(Types... types) {
    const cudaDataType all[] = {types...};
    constexpr std::size_t kLast = sizeof...(types) - 1;
    const bool any = (... || blas::is_complex(types)),
               known = (... && (blas::bytes_of(types) != 0 && !blas::is_fp8(types)));
    if (*this && (!known || any != blas::is_complex(all[kLast]) ||
                  any != blas::is_complex(all[kLast == 0 ? 0 : kLast - 1]))) {
      say(std::string(name()) + ": these types are not supported");
      require(false, CUSPARSE_STATUS_NOT_SUPPORTED);
    }
    return *this;
  }
  Scalar scalar(const void* pointer, cudaDataType type) {
    Scalar scalar;
    require(pointer != nullptr);
    if (!*this) return scalar;
    scalar.type_ = type;
    if (!on_device()) {
      std::memcpy(scalar.bits_, pointer, blas::bytes_of(type));
    } else {
      in(pointer, blas::bytes_of(type));
      scalar.device_ = pointer;
    }
    return scalar;
  }
  Call& in(const DnMat& m) { return dense(m, false); }
  Call& out(const DnMat& m) { return dense(m, true); }
  Call& in(const SpMat& m) { return structure(m, false).values(m, false); }
  Call& out(const SpMat& m) { return structure(m, true).values(m, true); }
  Call& out_values(const SpMat& m) { return structure(m, false).values(m, true); }
  // Offsets and indices, which are read or written.
  Call& structure(const SpMat& m, bool written);
  Call& values(const SpMat& m, bool written);
  using HostCall::in, HostCall::out;

 private:
  Call& dense(const DnMat& m, bool written);
  // `count` elements in each matrix of a batch.
  void arrays(const SpMat& m, void* data, std::size_t bytes, i64 stride, i64 count, bool written);

  cusparseHandle_t handle_;
};

// body(W()): W is what is computed with, double or a complex number of doubles.
template <class Body>
auto by_number(cudaDataType type, Body body) {
  return blas::is_complex(type) ? body(std::complex<double>()) : body(double());
}

}  // namespace vgpu::sparse
