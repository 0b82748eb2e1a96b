// SPDX-License-Identifier: Apache-2.0
// The library's two FP32 calls as entries of the registry, so that they are verified and
// measured like any kernel.
#include <ladder/kernel.hpp>
#include <ladder/sgemm.hpp>

#include <span>

#include "gemm/call.hpp"
#include "problem/accept.hpp"

namespace ladder::library {
namespace {

template <Precision kPrecision>
Status accepts(const Problem& problem, const Device& device) {
  return select(problem, Place::kCuda, kPrecision, device).status();
}

template <Precision kPrecision>
Status launch(const Problem& problem, const Operands& operands, Stream stream) {
  return sgemm(problem, operands, stream, kPrecision);
}

template <Precision kPrecision>
constexpr KernelInfo info(std::string_view id, std::string_view idea) {
  return library_kernel(id, "library", idea, kPrecision, kMinCc, accepts<kPrecision>,
                        launch<kPrecision>, Role::kLibrary);
}

constexpr KernelInfo kKernels[] = {
    info<Precision::kIeee>("ladder_ieee",
                           "ladder::sgemm on CUDA cores: the kernel chosen by shape"),
    info<Precision::kAuto>("ladder_auto", "ladder::sgemm, the fastest that is as accurate as ieee"),
};

}  // namespace

extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::library
