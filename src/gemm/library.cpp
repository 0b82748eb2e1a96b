// SPDX-License-Identifier: Apache-2.0
// The library's two FP32 calls as entries of the registry, so that they are verified and
// measured like any kernel.
#include <ladder/kernel.hpp>
#include <ladder/sgemm.hpp>

#include <span>

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
  return {.id = id,
          .rung = "library",
          .idea = idea,
          .role = Role::kLibrary,
          .precision = kPrecision,
          .min_cc = 75,
          .accepts = accepts<kPrecision>,
          .launch = launch<kPrecision>};
}

constexpr KernelInfo kKernels[] = {
    info<Precision::kIeee>("ladder_ieee",
                           "ladder::sgemm on CUDA cores: the kernel chosen by shape"),
    info<Precision::kAuto>("ladder_auto", "ladder::sgemm, the fastest that is as accurate as ieee"),
};

}  // namespace

extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::library
