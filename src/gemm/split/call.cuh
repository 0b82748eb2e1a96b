// SPDX-License-Identifier: Apache-2.0
// Host code common to all products of split operands: accepted problems, workspace layout, launch.
#pragma once
#include "device/runtime.cuh"
#include "device/tensor_map.cuh"
#include "device/vector.cuh"
#include "gemm/call.hpp"
#include "gemm/plan/choice.hpp"
#include "gemm/plan/menus.hpp"
#include "gemm/split/pass.cuh"
#include "gemm/tensor/tensor_tile.cuh"
#include "problem/accept.hpp"

#include <cstdint>

namespace ladder {

// A kernel's tile, for comparison with the planner's menus.
template <class T>
constexpr TileShape kSplitShape{T::BM, T::BN, T::BK, 1};

// Enqueues a job's pre-pass and product. Errors: kLaunchFailed.
template <class Job>
Status launch_job(const Job& job, Stream stream) {
  CallMemory memory;
  if (Status s = memory.take(stream, job.scratch_bytes(), job.flags()); !s) return s;
  const auto x = job.target(memory.scratch());
  if (Status s = job.pass(x, stream); !s) return s;
  return job.product(x, memory.scratch(), memory.flags(), stream);
}

// An operand whose terms, scale exponents and largest magnitudes are consecutive from `at` on.
inline SplitOperand split_operand(const float* g, std::int64_t ld, std::int64_t vectors,
                                  bool along_k, char* at, const SplitBytes& bytes,
                                  Census* gCensus = nullptr, SharedExtremes* gExtremes = nullptr) {
  char* const exponents = at + bytes.terms;
  return {.g = g,
          .ld = ld,
          .vectors = static_cast<int>(vectors),
          .along_k = along_k,
          .aligned = has_aligned_rows(g, ld),
          .gTerms = at,
          .gExponent = reinterpret_cast<int*>(exponents),
          .gLargest = reinterpret_cast<std::uint32_t*>(exponents + bytes.exponents),
          .gCensus = gCensus,
          .gExtremes = gExtremes};
}

// Creates the tensor map of an operand's terms, with boxes of `vectors` rows or columns. Errors:
// kLaunchFailed.
template <class F>
Status map_terms(CUtensorMap& map, const SplitOperand& x, int slabs, int vectors) {
  const std::int64_t ld = std::int64_t{slabs} * F::kTerms * F::BK;
  return make_tensor_map(map, kTypeOf<typename F::Term>, x.gTerms, x.vectors, ld, ld, vectors,
                         F::BK);
}

}  // namespace ladder
