// SPDX-License-Identifier: Apache-2.0
// Bulk copies, tensor maps and clusters: each instruction alone, pipelines of them, and each defect
// that the checks must find.

namespace {

using u16 = unsigned short;
using u32 = unsigned;
using u64 = unsigned long long;

struct alignas(64) Map {
  u64 words[16];
};

__device__ u32 address(const void* shared) {
  return static_cast<u32>(__cvta_generic_to_shared(shared));
}
__device__ void init(u64* b, int count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address(b)), "r"(count) : "memory");
}
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void expect(u64* b, int bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(address(b)),
               "r"(bytes)
               : "memory");
}
__device__ void arrive(u64* b) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address(b)) : "memory");
}
__device__ void arrive_at(u64* b, int rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1;"
      " mbarrier.arrive.release.cluster.shared::cluster.b64 _, [remote]; }" ::"r"(address(b)),
      "r"(rank)
      : "memory");
}
__device__ void wait(u64* b, u32 parity) {
  u32 done = 0;
  while (done == 0) {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, "
        "p; }"
        : "=r"(done)
        : "r"(address(b)), "r"(parity)
        : "memory");
  }
}
__device__ void fence_proxy() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }
__device__ void commit() { asm volatile("cp.async.bulk.commit_group;" ::: "memory"); }
template <int kPending>
__device__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}
template <int kPending>
__device__ void wait_done() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}
__device__ void cluster_arrive() {
  asm volatile("barrier.cluster.arrive.release.aligned;" ::: "memory");
}
__device__ void cluster_wait() {
  asm volatile("barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
__device__ void cluster_sync() {
  cluster_arrive();
  cluster_wait();
}
__device__ int cluster_rank() {
  int rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

__device__ void load(int rank, void* to, const Map& map, u64* b, const int* at) {
  const u32 s = address(to), barrier = address(b);
  const u64 m = reinterpret_cast<u64>(&map);
#define LOAD(dims, coordinates, ...)                                                       \
  asm volatile(                                                                            \
      "cp.async.bulk.tensor." dims                                                         \
      ".shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {" coordinates \
      "}], [%2];" ::"r"(s),                                                                \
      "l"(m), "r"(barrier), __VA_ARGS__                                                    \
      : "memory")
  switch (rank) {
    case 1: LOAD("1d", "%3", "r"(at[0])); break;
    case 2: LOAD("2d", "%3, %4", "r"(at[0]), "r"(at[1])); break;
    case 3: LOAD("3d", "%3, %4, %5", "r"(at[0]), "r"(at[1]), "r"(at[2])); break;
    case 4: LOAD("4d", "%3, %4, %5, %6", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3])); break;
    default:
      LOAD("5d", "%3, %4, %5, %6, %7", "r"(at[0]), "r"(at[1]), "r"(at[2]), "r"(at[3]), "r"(at[4]));
  }
#undef LOAD
}
__device__ void load_2d(void* to, const Map& map, u64* b, int x, int y) {
  const int at[] = {x, y};
  load(2, to, map, b, at);
}
__device__ void load_2d_all(void* to, const Map& map, u64* b, int x, int y, u16 blocks) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::"
      "cluster"
      " [%0], [%1, {%3, %4}], [%2], %5;" ::"r"(address(to)),
      "l"(&map), "r"(address(b)), "r"(x), "r"(y), "h"(blocks)
      : "memory");
}
__device__ void store_2d(const Map& map, const void* from, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
          &map),
      "r"(address(from)), "r"(x), "r"(y)
      : "memory");
}

struct Coordinates {
  int at[5];
};

}  // namespace

// Copies the box at `at` out of shared memory unchanged.
extern "C" __global__ void load_box(u32* out, const __grid_constant__ Map map, int rank,
                                    Coordinates c, int bytes) {
  extern __shared__ __align__(1024) u32 tile[];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    init(&full, 1);
    fence_init();
    expect(&full, bytes);
    load(rank, tile, map, &full, c.at);
  }
  __syncthreads();
  wait(&full, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = tile[i];
}

// The same with a tensor map in global memory.
extern "C" __global__ void load_by_global_map(u32* out, const Map* map, int x, int y, int bytes) {
  extern __shared__ __align__(1024) u32 tile[];
  __shared__ u64 full;
  if (threadIdx.x == 0) {
    asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
    init(&full, 1);
    fence_init();
    expect(&full, bytes);
    load_2d(tile, *map, &full, x, y);
  }
  __syncthreads();
  wait(&full, 0);
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) out[i] = tile[i];
}

// Stores a box of 32-bit words 1, 2, 3... at (x, y). Defects: 1, no fence; 2, the buffer is written
// again before the store has read it; 3, the block ends before it has been read.
extern "C" __global__ void store_box(const __grid_constant__ Map map, int x, int y, int bytes,
                                     int flaw) {
  extern __shared__ __align__(1024) u32 tile[];
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) tile[i] = i + 1;
  if (flaw != 1) fence_proxy();
  __syncthreads();
  if (threadIdx.x == 0) {
    store_2d(map, tile, x, y);
    commit();
    if (flaw != 2 && flaw != 3) wait_read<0>();
  }
  __syncthreads();
  if (flaw == 3) return;
  for (int i = threadIdx.x; i < bytes / 4; i += blockDim.x) tile[i] = 0;
  if (flaw == 2 && threadIdx.x == 0) wait_read<0>();
}

// Copies bytes through shared memory without a tensor map; `sum` is updated by a reduction.
extern "C" __global__ void linear(u32* out, u32* sum, const u32* in, int bytes) {
  extern __shared__ __align__(1024) u32 tile[];
  __shared__ u64 full;
  if (threadIdx.x != 0) return;
  init(&full, 1);
  fence_init();
  expect(&full, bytes);
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(address(tile)),
      "l"(in), "r"(bytes), "r"(address(&full))
      : "memory");
  wait(&full, 0);
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out),
               "r"(address(tile)), "r"(bytes)
               : "memory");
  commit();
  asm volatile(
      "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(sum),
      "r"(address(tile)), "r"(bytes)
      : "memory");
  commit();
  wait_done<0>();
}

// Adds eight elements of each type to `to`, and takes the maximum of 32-bit integers.
extern "C" __global__ void reduce(char* to, const char* from) {
  __shared__ alignas(128) char tile[64];
  if (threadIdx.x != 0) return;
  for (int i = 0; i < 64; ++i) tile[i] = from[i];
  fence_proxy();
#define REDUCE(operation, offset)                                              \
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." operation \
               " [%0], [%1], 16;" ::"l"(to + (offset)),                        \
               "r"(address(tile + (offset)))                                   \
               : "memory")
  REDUCE("add.noftz.f16", 0);
  REDUCE("add.noftz.bf16", 16);
  REDUCE("add.f32", 32);
  REDUCE("max.s32", 48);
#undef REDUCE
  commit();
  wait_done<0>();
}

// Transposes tiles of 32 x 32 elements with two buffers each way. Defects: 1, a stage is read
// before its barrier; 2, a stage is loaded again while it may still be read; 3, no fence before the
// store; 4, a buffer is written while the store before last may still read it; 5, bytes are
// expected that never arrive; 6, one arrival too many; 7, only the storing thread executes the
// fence, before the barrier with the others. 8, no defect: it executes the fence after that
// barrier.
extern "C" __global__ void transpose(const __grid_constant__ Map in,
                                     const __grid_constant__ Map out, int tiles, int flaw) {
  struct Stage {
    alignas(1024) u32 words[32][32];
  };
  __shared__ Stage loaded[2], turned[2];
  __shared__ u64 full[2], empty[2];
  const int t = threadIdx.x, warps = blockDim.x / 32, row = blockIdx.x;
  if (t == 0) {
    for (int s = 0; s < 2; ++s) {
      init(&full[s], 1);
      init(&empty[s], warps - 1);
    }
    fence_init();
  }
  __syncthreads();
  if (t < 32) {
    if (t != 0) return;
    for (int i = 0; i < tiles; ++i) {
      const int s = i % 2, round = i / 2;
      if (flaw != 2) wait(&empty[s], (round & 1) ^ 1);
      expect(&full[s], flaw == 5 && i == 3 ? 4096 + 16 : 4096);
      load_2d(loaded[s].words, in, &full[s], 32 * i, 32 * row);
    }
    return;
  }
  const int c = t - 32, consumers = blockDim.x - 32;
  for (int i = 0; i < tiles; ++i) {
    const int s = i % 2, round = i / 2;
    if (flaw != 1 || i != 2) wait(&full[s], round & 1);
    if (c == 0 && flaw != 4) wait_read<1>();
    asm volatile("bar.sync 1, %0;" ::"r"(consumers) : "memory");
    for (int k = c; k < 1024; k += consumers) {
      const int y = k / 32, x = k % 32;
      turned[s].words[x][(y / 4 ^ x % 8) * 4 + y % 4] =
          loaded[s].words[y][(x / 4 ^ y % 8) * 4 + x % 4];
    }
    __syncwarp();
    if (c % 32 == 0) arrive(&empty[s]);
    if (flaw == 6 && c == 0 && i == 1) arrive(&empty[s]);
    if (flaw != 3 && flaw != 8 && (flaw != 7 || c == 0)) fence_proxy();
    asm volatile("bar.sync 1, %0;" ::"r"(consumers) : "memory");
    if (c == 0) {
      if (flaw == 8) fence_proxy();
      store_2d(out, turned[s].words, 32 * row, 32 * i);
      commit();
    }
  }
  if (c == 0) wait_read<0>();
}

// Special registers of clusters.
extern "C" __global__ void __cluster_dims__(2, 2, 1) places(int* out) {
  int r[14];
  asm volatile("mov.u32 %0, %%clusterid.x;" : "=r"(r[0]));
  asm volatile("mov.u32 %0, %%clusterid.y;" : "=r"(r[1]));
  asm volatile("mov.u32 %0, %%nclusterid.x;" : "=r"(r[2]));
  asm volatile("mov.u32 %0, %%nclusterid.y;" : "=r"(r[3]));
  asm volatile("mov.u32 %0, %%cluster_ctaid.x;" : "=r"(r[4]));
  asm volatile("mov.u32 %0, %%cluster_ctaid.y;" : "=r"(r[5]));
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(r[6]));
  asm volatile("mov.u32 %0, %%cluster_nctaid.y;" : "=r"(r[7]));
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r[8]));
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(r[9]));
  __shared__ int word;
  u32 remote;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(remote) : "r"(address(&word)), "r"(3));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r[10]) : "r"(remote));
  asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(r[11]) : "r"(address(&word)));
  u64 generic;
  asm volatile("mapa.u64 %0, %1, %2;" : "=l"(generic) : "l"(&word), "r"(1));
  asm volatile("getctarank.u64 %0, %1;" : "=r"(r[12]) : "l"(generic));
  r[13] = static_cast<int>(blockIdx.x + 100 * blockIdx.y);
  const int block = static_cast<int>(blockIdx.y * gridDim.x + blockIdx.x);
  for (int i = 0; i < 14; ++i) out[block * 14 + i] = r[i];
}

// The sum of `n` integers by a cluster: each block sums its share, and rank 0 collects the sums by
// loads (how 0) or generic loads (1), or they are sent to it by stores (2) or atomics (3). Defects:
// 1, a block exits before its memory has been read; 2, no wait for the shares.
extern "C" __global__ void cluster_sum(int* out, const int* in, int n, int how, int flaw) {
  __shared__ int share, shares[16], sum;
  int blocks;
  asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(blocks));
  const int rank = cluster_rank(), t = threadIdx.x, cluster = static_cast<int>(blockIdx.x) / blocks;
  if (t == 0) {
    share = 0;
    sum = 0;
  }
  __syncthreads();
  int mine = 0;
  for (int i = rank * blockDim.x + t; i < n; i += blocks * blockDim.x) mine += in[cluster * n + i];
  atomicAdd(&share, mine);
  __syncthreads();
  if (flaw != 2) cluster_sync();
  if (how >= 2 && t == 0) {
    u32 to;
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;"
                 : "=r"(to)
                 : "r"(address(how == 2 ? &shares[rank] : &sum)));
    if (how == 2)
      asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(to), "r"(share) : "memory");
    else
      asm volatile("red.relaxed.cluster.shared::cluster.add.u32 [%0], %1;" ::"r"(to), "r"(share)
                   : "memory");
  }
  if (how >= 2) cluster_sync();
  if (rank == 0 && t == 0) {
    int total = how == 3 ? sum : 0;
    for (int r = 0; r < blocks && how != 3; ++r) {
      int part = 0;
      if (how == 0) {
        asm volatile(
            "{ .reg .b32 a; mapa.shared::cluster.u32 a, %1, %2; ld.shared::cluster.u32 %0, [a]; }"
            : "=r"(part)
            : "r"(address(&share)), "r"(r)
            : "memory");
      } else if (how == 1) {
        u64 at;
        asm volatile("mapa.u64 %0, %1, %2;" : "=l"(at) : "l"(&share), "r"(r));
        part = *reinterpret_cast<volatile int*>(at);
      } else {
        part = shares[r];
      }
      total += part;
    }
    out[cluster] = total;
  }
  if (flaw != 1) cluster_sync();
}

// Each block of a pair loads half a tile for both, in rounds. Defect 1: loads do not wait for the
// neighbour.
extern "C" __global__ void multicast(u32* out, const __grid_constant__ Map map, int rounds,
                                     int flaw) {
  __shared__ alignas(1024) u32 tile[2][512];  // (half, words)
  __shared__ u64 full, empty;
  const int rank = cluster_rank(), t = threadIdx.x;
  if (t == 0) {
    init(&full, 1);
    init(&empty, 2);
    fence_init();
  }
  cluster_sync();
  u32 sum = 0;
  for (int i = 0; i < rounds; ++i) {
    if (t == 0) {
      if (flaw != 1) wait(&empty, (i & 1) ^ 1);
      expect(&full, 4096);
      load_2d_all(tile[rank], map, &full, 0, 32 * i + 16 * rank, 3);
    }
    wait(&full, i & 1);
    for (int k = t; k < 1024; k += blockDim.x)
      sum += tile[k / 512][k % 512] * static_cast<u32>(k + 1);
    __syncthreads();
    if (t < 2) arrive_at(&empty, t);
  }
  out[blockIdx.x * blockDim.x + t] = sum;
  cluster_sync();
}

// A copy from each block to its neighbour's shared memory.
extern "C" __global__ void send(u32* out) {
  __shared__ alignas(16) u32 from[64], to[64];
  __shared__ u64 full;
  const int rank = cluster_rank(), t = threadIdx.x;
  from[t] = 1000 * rank + t;
  if (t == 0) {
    init(&full, 1);
    fence_init();
  }
  fence_proxy();
  cluster_sync();
  if (t == 0) {
    expect(&full, 256);
    asm volatile(
        "{ .reg .b32 a, b; mapa.shared::cluster.u32 a, %0, %3; mapa.shared::cluster.u32 b, %1, %3;"
        " cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [a], [%2], 256, "
        "[b]; }" ::"r"(address(to)),
        "r"(address(&full)), "r"(address(from)), "r"(1 - rank)
        : "memory");
  }
  wait(&full, 0);
  out[blockIdx.x * 64 + t] = to[t];
  cluster_sync();
}

// 32-bit words from each thread's registers to the neighbour's shared memory: 16 bytes as four
// elements, as two of 64 bits, or one of 32. Defects: 1, another block's barrier; 2, misaligned; 3,
// no wait.
extern "C" __global__ void send_words(u32* out, int how, int flaw) {
  __shared__ alignas(16) u32 to[260];
  __shared__ u64 full;
  const u32 rank = cluster_rank(), t = threadIdx.x, bytes = how == 2 ? 4 : 16;
  if (t == 0) {
    init(&full, 1);
    fence_init();
  }
  cluster_sync();
  if (t == 0) expect(&full, 64 * bytes);
  const u32 first = 1000 * rank + t * (bytes / 4);
  u32 there, barrier;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(address(to) + t * bytes), "r"(1 - rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(barrier)
               : "r"(address(&full)), "r"(flaw == 1 ? rank : 1 - rank));
  if (flaw == 2) there += 4;
  if (how == 0) {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%0], {%1, %2, %3, %4}, "
        "[%5];" ::"r"(there),
        "r"(first), "r"(first + 1), "r"(first + 2), "r"(first + 3), "r"(barrier)
        : "memory");
  } else if (how == 1) {
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.u64 [%0], {%1, %2}, [%3];" ::"r"(
            there),
        "l"(first | u64{first + 1} << 32), "l"(first + 2 | u64{first + 3} << 32), "r"(barrier)
        : "memory");
  } else {
    asm volatile(
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(
            there),
        "r"(first), "r"(barrier)
        : "memory");
  }
  if (flaw != 3) wait(&full, 0);
  for (u32 i = t; i < 64 * bytes / 4; i += 64) out[blockIdx.x * 256 + i] = to[i];
  cluster_sync();
}

// Every thread reduces words of the neighbour's shared memory. Defect 1: no wait.
#define RED_ASYNC(operation, constraint, word, value)                                              \
  asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." operation \
               " [%0], %1, [%2];" ::"r"(there + 8 * (word)),                                       \
               constraint(value), "r"(barrier)                                                     \
               : "memory")
extern "C" __global__ void reduce_words(u64* out, int flaw) {
  __shared__ u64 words[12];
  __shared__ u64 full;
  const u32 t = threadIdx.x, rank = cluster_rank();
  const u64 first[] = {0, 0, 100, 5, 3, 0xffffff9c, 1, 1, 1, 0xffffffff, 0x100000, 0xabc};
  for (u32 i = t; i < 12; i += blockDim.x) words[i] = first[i];
  if (t == 0) {
    init(&full, 1);
    fence_init();
  }
  fence_proxy();
  cluster_sync();
  if (t == 0) expect(&full, 64 * (11 * 4 + 8));
  u32 there, barrier;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(there)
               : "r"(address(words)), "r"(1 - rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(barrier)
               : "r"(address(&full)), "r"(1 - rank));
  RED_ASYNC("inc.u32", "r", 0, 9);
  RED_ASYNC("dec.u32", "r", 1, 9);
  RED_ASYNC("min.u32", "r", 2, t + 20);
  RED_ASYNC("max.u32", "r", 3, t + 20);
  RED_ASYNC("min.s32", "r", 4, t - 40);
  RED_ASYNC("max.s32", "r", 5, t - 90);
  RED_ASYNC("add.u32", "r", 6, t);
  RED_ASYNC("add.s32", "r", 7, 0 - t);
  RED_ASYNC("add.u64", "l", 8, u64{t} << 33);
  RED_ASYNC("and.b32", "r", 9, ~(1u << t % 16));
  RED_ASYNC("or.b32", "r", 10, 1u << t % 16);
  RED_ASYNC("xor.b32", "r", 11, 3 * t);
  if (flaw != 1) wait(&full, 0);
  for (u32 i = t; i < 12; i += blockDim.x) out[12 * rank + i] = words[i];
  cluster_sync();
}

// One block waits at the cluster barrier, the other waits elsewhere for ever. One warp initialises
// an mbarrier while the others arrive at the cluster barrier, relaxed; then all use the neighbour's
// mbarrier. Defects: 1, no fence after the initialisation; 2, initialisation after the fence; 3, a
// word beside it is written and read in the same way.
extern "C" __global__ void relaxed(u32* out, int flaw) {
  __shared__ u64 met;
  __shared__ u32 word;
  const u32 t = threadIdx.x;
  if (t == 32) {
    if (flaw != 2) init(&met, 64);
    word = 7;
    asm volatile("" ::"r"(address(&word)) : "memory");  // so that it may be read elsewhere
    if (flaw != 1) fence_init();
    if (flaw == 2) init(&met, 64);
  }
  __syncwarp();
  asm volatile("barrier.cluster.arrive.relaxed.aligned;" ::: "memory");
  cluster_wait();
  if (flaw == 3) out[64 * blockIdx.x + t] = word;
  arrive_at(&met, 1 - cluster_rank());
  wait(&met, 0);
  if (flaw != 3) out[64 * blockIdx.x + t] = t;
  cluster_sync();
}

extern "C" __global__ void never(int how) {
  __shared__ u64 full;
  if (threadIdx.x == 0) init(&full, 1);
  __syncthreads();
  if (cluster_rank() == 0) {
    if (how == 0) wait(&full, 0);
    if (how == 1) cluster_arrive();
    if (how == 1) cluster_arrive();
  }
  if (how == 2) cluster_wait();
  cluster_sync();
}
