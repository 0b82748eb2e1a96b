// SPDX-License-Identifier: Apache-2.0
// How the functions of gemm.h end: a status, and the text of a failure.
#pragma once
#include <cuda_runtime_api.h>
#include <ladder/gemm.h>
#include <ladder/status.hpp>

#include <new>
#include <string>
#include <utility>

namespace ladder::api {

class [[nodiscard]] Outcome {
 public:
  Outcome() = default;  // ok
  Outcome(ladder_status status, std::string text) : status_(status), text_(std::move(text)) {}
  Outcome(const Status& status);  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return status_ == LADDER_STATUS_OK; }
  ladder_status status() const { return status_; }
  const std::string& text() const { return text_; }

 private:
  ladder_status status_ = LADDER_STATUS_OK;
  std::string text_;
};

inline Outcome invalid(std::string text) {
  return {LADDER_STATUS_INVALID_ARGUMENT, std::move(text)};
}
inline Outcome no_enumerator(const char* name, long long value) {
  return invalid(std::string(name) + ": " + std::to_string(value) + " is none of gemm.h's values");
}
inline Outcome cuda_outcome(const char* what, cudaError_t error) {
  if (error == cudaSuccess) return {};
  const auto status = error == cudaErrorMemoryAllocation ? LADDER_STATUS_OUT_OF_MEMORY
                                                         : LADDER_STATUS_EXECUTION_FAILED;
  return {status, std::string(what) + ": " + cudaGetErrorString(error)};
}

// Keeps the text for ladder_last_error() and returns the status.
ladder_status failed(ladder_status status, const char* text) noexcept;

// The body of a function of the interface: no exception leaves it, and a CUDA error of its own does
// not stay behind, while one that was there before does.
template <class Body>
ladder_status outcome_of(Body body) noexcept {
  const cudaError_t before = cudaPeekAtLastError();
  ladder_status status = LADDER_STATUS_OK;
  try {
    const Outcome outcome = body();
    if (outcome) return LADDER_STATUS_OK;
    status = failed(outcome.status(), outcome.text().c_str());
  } catch (const std::bad_alloc&) {
    status = failed(LADDER_STATUS_OUT_OF_MEMORY, "host memory is exhausted");
  } catch (...) {
    status = failed(LADDER_STATUS_INTERNAL, "an exception that the library does not expect");
  }
  if (before == cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace ladder::api
