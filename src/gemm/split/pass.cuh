// SPDX-License-Identifier: Apache-2.0
// The split pre-pass. A "vector" in this folder is a row of op(A) or a column of op(B),
// with one scale. The pre-pass writes the terms of each vector contiguously: per slab of BK
// elements all first terms w0, then w1 (then w2), zero-padded to the end of the last slab. This
// order suits tensor maps, whatever the operand's leading dimension, alignment and transposition.
//
// A K-major operand is read once. Of an M- or N-major operand, the clusters of the same kernel read
// strips (register_strip.cuh). If k is larger, the first kernel finds the largest magnitudes, and a
// second one splits, starting with the elements read last, which are still in L2.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/runtime.cuh"
#include "gemm/plan/choice.hpp"
#include "gemm/split/pass_kernels.cuh"

#include <algorithm>
#include <cstdint>

namespace ladder {

// Bytes of an operand's terms, scale exponents and largest magnitudes, each a multiple of 1024.
struct SplitBytes {
  std::int64_t terms, exponents, largest;
  std::int64_t all() const { return terms + exponents + largest; }
};
template <class F>
SplitBytes split_bytes(std::int64_t vectors, std::int64_t k, bool along_k) {
  constexpr std::int64_t kGrain = 1024;
  constexpr std::int64_t kTileVectors = 256;  // product kernels read exponents of whole tiles
  const auto whole = [](std::int64_t bytes) { return ceil_div(bytes, kGrain) * kGrain; };
  const std::int64_t slabs = ceil_div(k, F::BK);
  return {whole(vectors * slabs * F::kTerms * F::kSlabBytes),
          whole(ceil_div(vectors, kTileVectors) * kTileVectors * 4),
          along_k ? 0 : whole(std::int64_t{kChunks} * vectors * 4)};
}

template <class F, int kWide, int kFloat4s, Extra kExtra>
Status launch_first(const SplitPass& pass, cudaStream_t stream) {
  const int groups_a = first_groups<kWide>(pass.a), all = groups_a + first_groups<kWide>(pass.b);
  if (all == 0 && kExtra == Extra::kNone) return Status::ok();
  return launch_dependent("split pre-pass", first_pass<F, kWide, kFloat4s, kExtra>,
                          std::int64_t{all} + (kExtra != Extra::kNone ? sample_blocks(pass.k) : 0),
                          1, kBlockOf<kWide>, 0, stream, pass, groups_a, all);
}

// Splits K-major operands and finds the largest magnitudes of the others, if any remain.
template <class F, Extra kExtra>
Status launch_along(const SplitPass& pass, cudaStream_t stream) {
  const auto first = pass.k <= 256    ? launch_first<F, 32, 2, kExtra>
                     : pass.k <= 512  ? launch_first<F, 32, 4, kExtra>
                     : pass.k <= 1024 ? launch_first<F, 64, 4, kExtra>
                     : pass.k <= 2048 ? launch_first<F, 64, 8, kExtra>
                     : pass.k <= 4096 ? launch_first<F, 256, 4, kExtra>
                     : pass.k <= 8192 ? launch_first<F, 256, 8, kExtra>
                                      : launch_first<F, 512, 8, kExtra>;
  return first(pass, stream);
}

template <class F, int kWide, int kFloat4s, Extra kExtra>
Status launch_at_once(const SplitPass& pass, cudaStream_t stream) {
  const std::int64_t all_tiles = ceil_div(pass.k, kEdge);
  // Of at least two blocks: st.async needs a cluster.
  const auto cluster = static_cast<int>(std::clamp<std::int64_t>(all_tiles, 2, kMostBlocks));
  const auto blocks = [&](const SplitOperand& x) {
    return x.along_k ? 0 : static_cast<int>(ceil_div(x.vectors, kStripVectors)) * cluster;
  };
  const auto groups = [&](const SplitOperand& x) {
    return x.along_k ? static_cast<int>(ceil_div(x.vectors, kPassThreads / kWide)) : 0;
  };
  const Strips strips{blocks(pass.a), blocks(pass.a) + blocks(pass.b), cluster,
                      static_cast<int>(ceil_div(all_tiles, cluster))};
  const int groups_a = groups(pass.a), all = groups_a + groups(pass.b);
  return launch_dependent(
      "split pre-pass", split_at_once<F, kWide, kFloat4s, kExtra>,
      strips.blocks + whole_clusters(all, cluster) +
          (kExtra != Extra::kNone ? whole_clusters(sample_blocks(pass.k), cluster) : 0),
      cluster, kPassThreads, 0, stream, pass, strips, groups_a, all);
}

template <class F, bool kCount>
Status launch_across(const SplitPass& pass, cudaStream_t stream) {
  const int padded = pass.slabs * F::BK;
  const int groups_a = groups_across(pass.a, padded);
  return launch_dependent("split pre-pass, second kernel", split_across<F, kCount>,
                          groups_a + groups_across(pass.b, padded), 1, kPassThreads, 0, stream,
                          pass, groups_a);
}

// Enqueues the pre-pass of both operands. One with `vectors` = 0 is skipped: it is split already.
// Errors: kLaunchFailed.
template <class F, Extra kExtra = Extra::kNone>
Status split_operands(const SplitPass& pass, cudaStream_t stream) {
  const bool across = (!pass.a.along_k && pass.a.vectors > 0) ||
                      (!pass.b.along_k && pass.b.vectors > 0);  // M- or N-major
  if (across && pass.k <= kStripDepth) {
    if (pass.k <= 256) return launch_at_once<F, 32, 2, kExtra>(pass, stream);
    if constexpr (kExtra == Extra::kCount) {  // counts need registers
      if (pass.k <= 1024) return launch_at_once<F, 64, 4, kExtra>(pass, stream);
      return launch_at_once<F, 128, 4, kExtra>(pass, stream);
    } else {
      if (pass.k <= 1024) return launch_at_once<F, 256, 1, kExtra>(pass, stream);
      return launch_at_once<F, 64, 8, kExtra>(pass, stream);
    }
  }
  if (across && pass.k <= kStripsDepth) return launch_at_once<F, 256, 4, kExtra>(pass, stream);
  if (Status s = launch_along<F, kExtra>(pass, stream); !s || !across) return s;
  return launch_across<F, kExtra == Extra::kCount>(pass, stream);
}

}  // namespace ladder
