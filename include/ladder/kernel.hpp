// SPDX-License-Identifier: Apache-2.0
// KernelInfo is one entry of the registry. Rungs and baselines have the same type, so that all take
// the same path through verification, measurement and reports.
#pragma once
#include <ladder/device.hpp>
#include <ladder/problem.hpp>
#include <ladder/status.hpp>

#include <span>
#include <string_view>

struct CUstream_st;  // cudaStream_t without the CUDA headers

namespace ladder {

using Stream = CUstream_st*;

enum class Place : unsigned char { kHost, kCuda };  // where the operands are and the work is done
// kLibrary: a call of libladder in one precision, which selects a kernel. kLibraryKernel: one of
// the kernels that such a call selects from.
enum class Role : unsigned char { kRung, kLibrary, kLibraryKernel, kBaseline };
// Names follow PyTorch, JAX and Triton. kIeee: every product and sum is an IEEE binary32 operation.
// kTf32: operands rounded or truncated to 10 explicit mantissa bits, FP32 accumulation on tensor
// cores. kBf16, kFp16: operands of that type, exact products, FP32 accumulation on tensor cores.
// kFp8: operands of e4m3 or e5m2 with scales, exact products, partial sums on tensor cores.
// The others emulate kIeee: each operand is split into terms of the named type, and the number
// after the x says how many products of terms are added. Short partial sums of the tensor core are
// promoted to FP32 accumulators with rounding to nearest. kAuto: the device selects the fastest
// whose error bound for the given operands is no larger than kIeee's.
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
  kFp8,
  kAuto,
};

const char* to_string(Place place);
const char* to_string(Role role);
const char* to_string(Precision precision);
std::span<const Precision> precisions();  // all precisions
// the precision whose baseline a kernel is compared with
Precision stands_for(Precision precision);

// Device pointers for Place::kCuda, host pointers for Place::kHost. a and b may be null where
// reads_ab() is false. If the problem's types are not f32, the pointers are only addresses; use the
// accessors a_as(), b_as() and c_as().
struct Operands {
  const float* a = nullptr;
  const float* b = nullptr;
  float* c = nullptr;
  // As extent_scales_a() and extent_scales_b() say; null without scales.
  const float* scales_a = nullptr;
  const float* scales_b = nullptr;

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
  std::string_view idea;  // the rung's one new idea, in a few words
  Place place = Place::kCuda;
  Role role = Role::kRung;
  Precision precision = Precision::kIeee;
  int min_cc = 0;  // minimum compute capability, 80 for 8.0; 0 for host kernels
  Type in = Type::kF32, out = Type::kF32;  // operand types: of A and B; of C
  Scaling scaling = Scaling::kNone;        // of A and B
  bool k_major = false;    // A and B are K-major: op(A) stored by rows, op(B) by columns
  bool all_cores = false;  // host kernels: all cores (true) or one core (false)

  // Pure. Returns an error (kUnsupportedProblem, kUnsupportedDevice) with the reason if the kernel
  // does not support the problem. The problem must have the kernel's types; callers use accepts()
  // below, which checks that.
  Status (*accepts)(const Problem& problem, const Device& device) = nullptr;
  // Enqueues (kCuda) or executes (kHost, which ignores the stream) an accepted, valid problem.
  // Errors: kLaunchFailed.
  Status (*launch)(const Problem& problem, const Operands& operands, Stream stream) = nullptr;
};

// Returns the problem with the kernel's operand types. For a kernel with K-major operands, NN
// becomes NT, with the same gaps between the lines of B.
Problem in_types_of(const KernelInfo& kernel, Problem problem);

// Ok if the kernel supports the problem: its operand types first, then its own rules. Errors: as
// KernelInfo::accepts.
Status accepts(const KernelInfo& kernel, const Problem& problem, const Device& device);

}  // namespace ladder
