// SPDX-License-Identifier: Apache-2.0
// One entry of the registry. Rungs and baselines are the same kind of thing, so that all take the
// same path through verification, measurement and reports.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>
#include <ladder/status.hpp>

#include <span>
#include <string_view>

struct CUstream_st;  // cudaStream_t without the CUDA headers

namespace ladder {

using Stream = CUstream_st*;

enum class Place : unsigned char { kHost, kCuda };  // where operands lie and the work is done
// kLibrary: a call of libladder in one precision, which chooses among kernels. kLibraryKernel: one
// of those, by itself.
enum class Role : unsigned char { kRung, kLibrary, kLibraryKernel, kBaseline };
// Named as PyTorch, JAX and Triton name them. kIeee: every product and sum is an IEEE binary32
// operation. kTf32: operands rounded or cut to 10 explicit mantissa bits, FP32 accumulation on
// tensor cores. kBf16, kFp16: operands of that type, exact products, FP32 accumulation on tensor
// cores. The others stand in for kIeee: each operand is a sum of words of the type named first, and
// so many products of words are added, in short sums that are then added to nearest. kAuto: the
// fastest whose error bound on the operands at hand is no larger than kIeee's, chosen on the
// device.
enum class Precision : unsigned char {
  kIeee,
  kTf32,
  kBf16,
  kFp16,
  kTf32x3,
  kBf16x3,
  kBf16x6,
  kBf16x9,
  kFp16x3,
  kAuto,
};

const char* to_string(Place place);
const char* to_string(Role role);
const char* to_string(Precision precision);
std::span<const Precision> precisions();    // all of them
Precision stands_for(Precision precision);  // the one whose baseline a kernel is compared with

// Device pointers for Place::kCuda, host pointers for Place::kHost. a or b may be null where
// reads_ab() is false. Where the problem's types are others than f32, they are addresses only, to
// be used through the accessors.
struct Operands {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;

  template <class In>
  const In* a_as() const {
    return reinterpret_cast<const In*>(a);
  }
  template <class In>
  const In* b_as() const {
    return reinterpret_cast<const In*>(b);
  }
  template <class Out>
  Out* c_as() const {
    return reinterpret_cast<Out*>(c);
  }
};

struct KernelInfo {
  std::string_view
      id;  // "r03_smem_tile_32": unique; a rung's variants share the file's name as prefix
  std::string_view rung;  // "r03_smem_tile": the file's name
  std::string_view idea;  // that idea in a few words
  Place place = Place::kCuda;
  Role role = Role::kRung;
  Precision precision = Precision::kIeee;
  int min_cc = 0;  // least compute capability, 80 for 8.0; 0 for host kernels
  Type in = Type::kF32, out = Type::kF32;  // the only types of operands that it takes
  bool all_cores = false;                  // host kernels: one core, or all of them

  // Pure. Not ok (kUnsupportedProblem, kUnsupportedDevice) with the reason if the kernel cannot
  // take the problem, whose types are the kernel's. Callers ask accepts() below.
  Status (*accepts)(const Problem& problem, const Device& device) = nullptr;
  // Enqueues (kCuda) or does (kHost, which ignores the stream) the work of an accepted, valid
  // problem. Errors: kLaunchFailed.
  Status (*launch)(const Problem& problem, const Operands& operands, Stream stream) = nullptr;
};

// The same problem in the kernel's types.
Problem in_types_of(const KernelInfo& kernel, Problem problem);

// Whether the kernel takes the problem: its types, then its own rules. Errors as
// KernelInfo::accepts.
Status accepts(const KernelInfo& kernel, const Problem& problem, const Device& device);

}  // namespace ladder
