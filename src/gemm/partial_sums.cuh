// SPDX-License-Identifier: Apache-2.0
// Synchronisation of blocks that share a tile of C along k. Either a block forwards its partial
// sums and another accumulates them (fix-up of stream-K), or all blocks write theirs and the last
// one to arrive adds them. The order of additions is fixed by the shape in both cases.
#pragma once
#include "device/ptx/cluster.cuh"

namespace ladder {

// Partial sums of the tiles that a block begins and does not end. A consumer only waits for a block
// of lower number, see schedule.cuh.
struct Exchange {
  float* gPartial;   // (blocks, tile)
  unsigned* gReady;  // (blocks, groups of threads): 1 when written, 0 when read
};

// Threads whose partial sums share a flag of gReady: Group::flag(x, block) is its address,
// Group::sync() synchronises them, Group::leads() is true for one of them. Announces what these
// threads have written.
template <class Group>
__device__ __forceinline__ void announce_partial(const Group& group, const Exchange& x, int block) {
  __threadfence();
  group.sync();
  if (group.leads()) ptx::store_relaxed(group.flag(x, block), 1);
}

// Waits until `block` has announced its partial sums, calls read() and resets the flag for the next
// launch.
template <class Group, class Read>
__device__ __forceinline__ void consume_partial(const Group& group, const Exchange& x, int block,
                                                Read read) {
  unsigned* const gReady = group.flag(x, block);
  while (__any_sync(0xffffffffU, ptx::load_acquire(gReady) == 0)) {
  }
  read();
  group.sync();
  if (group.leads()) ptx::store_relaxed(gReady, 0);
}

// Whether this block is the last of `blocks` to arrive; if so, it sees what all of them wrote. For
// all threads of the block; `s_last` is in shared memory, counter() is the address of the arrival
// counter, which the last block resets.
template <class Counter>
__device__ __forceinline__ bool arrives_last(Counter counter, unsigned blocks, bool& s_last) {
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) s_last = atomicAdd(counter(), 1U) == blocks - 1;
  __syncthreads();
  if (!s_last) return false;
  __threadfence();
  return true;
}

}  // namespace ladder
