// SPDX-License-Identifier: Apache-2.0
// The policy of a guarded product. Each block reads what the pre-pass found and reaches the same
// verdict. Where that is not fp16x3, the same launch computes the product otherwise: in FP64, or
// with three bf16 terms, for which its blocks first compute another pre-pass together. Verdicts
// other than fp16x3 are rare, and cost no launch of their own. See docs/guard.md, "What happens".
#pragma once
#include "device/ptx/cluster.cuh"
#include "device/ptx/library.cuh"
#include "device/ptx/tma.cuh"
#include "gemm/split/binary64.cuh"
#include "gemm/split/product.cuh"

#include <algorithm>

namespace ladder {

// The first kPassThreads threads of all blocks of the grid compute work(group) for groups of which
// each is taken by one block, and return once all are done: the terms that they wrote can be
// copied. A block waits only for blocks that have taken a group, hence are running and wait for
// none. gTaken and gDone are zero before.
template <class Work>
__device__ __forceinline__ void share_out(unsigned* gTaken, unsigned* gDone, unsigned groups,
                                          Work work) {
  __shared__ unsigned s_group;
  unsigned mine = 0;
  while (true) {
    sync_pass<kPassThreads>();  // the work of the preceding group, and its number, have been read
    if (threadIdx.x == 0) s_group = atomicAdd(gTaken, 1U);
    sync_pass<kPassThreads>();
    const unsigned group = s_group;
    if (group >= groups) break;
    work(static_cast<int>(group));
    ++mine;
  }
  ptx::fence_proxy_async_global();
  __threadfence();
  sync_pass<kPassThreads>();
  if (threadIdx.x == 0) {
    if (mine > 0) atomicAdd(gDone, mine);
    while (ptx::load_acquire(gDone) != groups) {
    }
  }
  sync_pass<kPassThreads>();
  __threadfence();
  ptx::fence_proxy_async_global();
}

// The pre-pass for terms of format F, by all blocks of a product's grid. Not inlined: the
// product with two FP16 terms then starts sooner (docs/lab/guard-cost.md).
template <class F>
__device__ __noinline__ void split_in_product(const SplitPass& pass, GuardState& state,
                                              char* shared) {
  constexpr int kWide = 32, kFloat4s = 8;
  const int first_a = first_groups<kWide>(pass.a);
  share_out(&state.taken[0], &state.done[0], first_a + first_groups<kWide>(pass.b), [&](int group) {
    first_group<F, kWide, kFloat4s, false>(
        pass, OperandGroup(pass, group, first_a),
        *reinterpret_cast<std::uint32_t(*)[kPassThreads / kEdge][kEdge]>(shared));
  });
  if (pass.a.along_k && pass.b.along_k) return;
  const int padded = pass.slabs * F::BK, second_a = groups_across(pass.a, padded);
  share_out(&state.taken[1], &state.done[1], second_a + groups_across(pass.b, padded),
            [&](int group) {
              const OperandGroup of(pass, group, second_a);
              split_group_across<F, false>(of.x, pass.k, pass.slabs, of.index,
                                           *reinterpret_cast<AcrossShared*>(shared));
            });
}

// Not inlined: with its registers, those of the product would not suffice.
static __device__ __noinline__ void binary64_tiles_apart(const SplitTarget& x, int first, int step,
                                                         Binary64Tile::Shared& s, int id) {
  binary64_tiles<false>(x, first, step, {}, {}, s, id);
}

// Tile_: the tile with three bf16 terms, of the same shape as the product's own.
template <class Tile_>
struct Guard {
  using T = Tile_;
  static constexpr bool kGuards = true;
  static constexpr int kBinary64Groups = kConsumers<T> / Binary64Tile::kThreads;
  static constexpr int kSharedBytes =
      std::max({static_cast<int>(sizeof(typename T::Shared)),
                kBinary64Groups* static_cast<int>(sizeof(Binary64Tile::Shared)),
                static_cast<int>(sizeof(AcrossShared))});
  static_assert(kPassThreads == kConsumers<T> && kConsumers<T> % Binary64Tile::kThreads == 0,
                "the consumers do the other kernels' work");

  int least_blocks;
  bool copies_at_once;  // before the verdict: the other terms have memory of their own
  int* gChoice;         // (kChoiceFields)
  GuardState* g;
  PlacesNeeded needed;
  // With three bf16 terms:
  CUtensorMap map_a, map_b;
  SplitTarget y;
  Tiling plan;
  Exchange exchange;

  // Waits for the verdict. Returns whether it is fp16x3.
  __device__ __forceinline__ bool proceeds(const Decision& s, float& up) const {
    ptx::mbarrier_wait(ptx::shared_address(&s.made), 0);
    up = s.verdict.up;
    return s.verdict.choice == SplitChoice::kFp16x3;
  }

  // By one warp, after the pre-pass. The verdict is the same in all blocks.
  __device__ __forceinline__ void decide(Decision& s, const SplitTarget& x) const {
    const Verdict verdict = verdict_of(*g, x.c.m, x.c.n, x.k, needed);
    if (threadIdx.x % 32 != 0) return;
    s.verdict = verdict;
    ptx::mbarrier_arrive(ptx::shared_address(&s.made));
    if (blockIdx.x != 0) return;
    gChoice[kWhichChoice] = static_cast<int>(verdict.choice);
    gChoice[kWhichMark] = kChoiceMark;
  }

  // By the warp that read it: of all blocks, the last one zeroes what the pre-pass found.
  __device__ __forceinline__ void clear_counts() const {
    const unsigned lane = threadIdx.x % 32;
    bool last = false;
    __threadfence();
    __syncwarp();
    if (lane == 0) last = atomicAdd(&g->have_read, 1U) == gridDim.x - 1;
    if (!__any_sync(0xFFFFFFFFU, last)) return;
    __threadfence();
    auto* const gWords = reinterpret_cast<unsigned*>(g->of);
    for (unsigned i = lane; i < sizeof g->of / sizeof(unsigned); i += 32) gWords[i] = 0;
    if (lane == 0) g->sample.growth = g->have_read = 0;
  }

  // Computes C with other terms than two of fp16, or with none. By the consumers, whose registers
  // the other kernels' functions need.
  __device__ __forceinline__ void compute_otherwise(SplitChoice choice, const SplitTarget& x,
                                                    char* shared) const {
    auto& s = *reinterpret_cast<typename T::Shared*>(shared);
    sync_pass<kPassThreads>();  // `shared` holds no barriers any more
    if (choice == SplitChoice::kBinary64) {
      const int group = static_cast<int>(threadIdx.x) / Binary64Tile::kThreads;
      binary64_tiles_apart(x, static_cast<int>(blockIdx.x) * kBinary64Groups + group,
                           static_cast<int>(gridDim.x) * kBinary64Groups,
                           reinterpret_cast<Binary64Tile::Shared*>(shared)[group], 1 + group);
      return;
    }
    split_in_product<typename T::Format>({y.a, y.b, y.k, plan.steps}, *g, shared);
    if (threadIdx.x == 0 && atomicAdd(&g->have_split, 1U) == gridDim.x - 1) {
      for (unsigned* const gCount :
           {&g->taken[0], &g->taken[1], &g->done[0], &g->done[1], &g->have_split})
        ptx::store_relaxed(gCount, 0);
    }
    ptx::fence_proxy_async();
    init_rings<T>(map_a, map_b, s);
    sync_block();  // the terms are complete
    if (static_cast<int>(blockIdx.x) >= plan.blocks) return;
    consume<T, false, false>(
        s, y, plan, exchange, [] {}, [](float& /*up*/) { return true; });
  }
  // The producer warpgroup's part of that.
  __device__ __forceinline__ void copy_otherwise(SplitChoice choice, char* shared,
                                                 int thread) const {
    if (choice == SplitChoice::kBinary64) return;
    sync_block();
    if (static_cast<int>(blockIdx.x) >= plan.blocks) return;
    const auto always = [] { return true; };
    produce<T, Schedule>(map_a, map_b, *reinterpret_cast<typename T::Shared*>(shared), plan, thread,
                         always, always, always);
  }
  __device__ __forceinline__ static void sync_block() {
    constexpr int kBarrier = 5;
    __syncwarp();
    ptx::barrier_sync(kBarrier, T::kThreads);
  }
};

}  // namespace ladder
