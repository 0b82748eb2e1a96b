// SPDX-License-Identifier: Apache-2.0
// The work of a call: enqueued on its stream, and executed by the host.
#pragma once
#include <cublas_api.h>
#include <cstdint>
#include <functional>
#include <string>

#include "blas/value.hpp"
#include "include/host_call.hpp"

namespace vgpu::blas {

// Prints what is not supported, and returns CUBLAS_STATUS_NOT_SUPPORTED.
cublasStatus_t refuse(const char* function, const std::string& what);
// The same for functions with which programs search for an algorithm: prints each text once.
cublasStatus_t refuse_once(const char* function, const std::string& what);

// Enqueues the work behind what is on the stream, or adds it to the graph that captures the stream.
// CUBLAS_STATUS_EXECUTION_FAILED if an earlier fault makes that impossible.
cublasStatus_t submit(cudaStream_t stream, std::function<void()> work);

// A number in host or device memory. On the host it is read when the call is made.
class Scalar {
 public:
  Scalar() = default;
  Scalar(const void* pointer, cudaDataType type, bool is_on_device);
  bool valid() const { return pointer_ != nullptr; }
  bool on_device() const { return on_device_; }
  template <class W>
  W value() const {
    return load<W>(type_, on_device_ ? pointer_ : bits_, 0);
  }

 private:
  const void* pointer_ = nullptr;
  cudaDataType type_ = CUDA_R_32F;
  bool on_device_ = false;
  alignas(16) unsigned char bits_[16] = {};
};

inline bool is_op(cublasOperation_t op) {
  return op == CUBLAS_OP_N || op == CUBLAS_OP_T || op == CUBLAS_OP_C;
}

// Whether a range of elements is in device memory.
bool on_device(const void* data, std::int64_t elements, cudaDataType type);

void mark_written(void* data, std::int64_t elements, cudaDataType type);

// Versions and status codes that cuBLAS and cuBLASLt report.
cublasStatus_t property(libraryPropertyType type, int* value);
const char* name_of(cublasStatus_t status);  // "CUBLAS_STATUS_SUCCESS"
const char* text_of(cublasStatus_t status);

}  // namespace vgpu::blas
