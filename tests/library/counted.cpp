// SPDX-License-Identifier: Apache-2.0
// Counts what calls must not do: the program's functions take the place of the CUDA runtime's, also
// for libladder.so.
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <cstdlib>

#include "library/support.hpp"

namespace ladder::test {
namespace {

Counted counts;

template <class Function>
Function* next(const char* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  if (found == nullptr) std::abort();
  return reinterpret_cast<Function*>(found);
}

}  // namespace

Counted& counted() { return counts; }

}  // namespace ladder::test

using ladder::test::counted;
using ladder::test::next;

extern "C" {

cudaError_t cudaMalloc(void** at, size_t bytes) {
  ++counted().allocations;
  counted().bytes = bytes;
  static const auto real = next<cudaError_t(void**, size_t)>("cudaMalloc");
  return real(at, bytes);
}

cudaError_t cudaFree(void* at) {
  ++counted().frees;
  static const auto real = next<cudaError_t(void*)>("cudaFree");
  return real(at);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  ++counted().waits;
  static const auto real = next<cudaError_t(cudaStream_t)>("cudaStreamSynchronize");
  return real(stream);
}

cudaError_t cudaDeviceSynchronize() {
  ++counted().waits;
  static const auto real = next<cudaError_t()>("cudaDeviceSynchronize");
  return real();
}

}  // extern "C"
