// SPDX-License-Identifier: Apache-2.0
// r16_persistent: blocks stay and take tile after tile.         NEW: pairs of blocks share copies, stores meanwhile
// WHY: r15's tensor cores idle while a block starts, fills its first stages and stores its tile; neighbours copy the
//      same operands twice.
// PREDICT: the next tile's copies start before this one is stored, a 16-bit tile leaves while the next is computed: 3 to
//          5% at 4096. Copies that serve two blocks take a third off L2's traffic; the tensor cores were not waiting
//          for it, so that this alone gives nothing.
// LIMITS: Hopper. bf16, fp16 (results of the same type or f32), tf32. Any m, n, k up to 2^30, alpha, beta; lines not on
//         16 bytes are copied first.                                NEXT: r17 leaves no SM idle in the last wave
#include "device/ptx/dependent.cuh"
#include "device/ptx/setmaxnreg.cuh"
#include "device/ring.cuh"
#include "device/tensor_cluster.cuh"
#include "device/tma_operands.cuh"

#include <span>
#include <type_traits>

namespace ladder::r16_persistent {

template <class In, class Out, int BM, int BN, int STAGES>
struct Tile
    : ClusterTile<In, Out, BM, BN, STAGES, BM <= BN ? Blocks::kPairAlongM : Blocks::kPairAlongN> {
  using Base = TensorTile<In, Out, BM, BN, STAGES>;
  using Store = TileStore<Base>;
  static constexpr int kThreads =
      (Base::kWarpgroups + 1) * kWarpgroup;  // the first copies, and sends C
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  static_assert(Base::kWarpgroups * kConsumerRegisters + kProducerRegisters <= 3 * 168,
                "registers at launch: 65,536 over 384 threads, by eights");

  struct Shared {
    typename Base::Stage stage[STAGES];
    typename Store::Buffers out[Base::kWarpgroups];
    std::uint64_t full[STAGES],
        empty[STAGES];  // barriers: the copies have landed; both blocks have read them
  };
  static_assert(sizeof(Shared) <= kMaxSharedBytes, "a block's shared memory");
};

template <class T>
__device__ __forceinline__ void produce(const TensorMaps& maps, typename T::Shared& s,
                                        const Plan& plan) {
  if (threadIdx.x != 0) return;
  ptx::launch_dependents();
  prefetch_maps(maps);
  ptx::wait_for_prerequisites();  // and with it all who wait for what is copied
  const int rank = rank_in_cluster<T>();
  auto ring = Ring<T::STAGES>::of_producer();
  Schedule schedule(plan, static_cast<int>(blockIdx.x) / T::kCluster);
  for (Work work; schedule.next(work);) {
    const Origin at = origin_of<T>(plan, work.tile, rank);
#pragma unroll 1
    for (int step = work.begin; step < work.end; ++step) {
      const std::uint32_t full = ptx::shared_address(&s.full[ring.stage()]);
      ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());
      ptx::mbarrier_arrive_expect(full, T::kBytes);
      load_cluster<T>(s.stage[ring.stage()], maps, full, rank, at, step * T::BK);
      ring.advance();
    }
  }
}

template <class T, bool kByMap>
__device__ __forceinline__ void consume(const TensorMaps& maps, typename T::Shared& s,
                                        const Target<typename T::Out>& c, const Plan& plan,
                                        int group) {
  using Store = typename T::Store;
  const int rank = rank_in_cluster<T>();
  Product<typename T::Base> product(group);  // (WM,WN)
  Store store(s.out[group], maps, group);
  auto ring = Ring<T::STAGES>::of_consumer();
  Schedule schedule(plan, static_cast<int>(blockIdx.x) / T::kCluster);
  Work work;
  bool more = schedule.next(work);
  Origin at = origin_of<T>(plan, work.tile, rank);
  while (more) {
    // Main loop. A stage's products start before those of the stage before have ended. What is left
    // of the tile before goes out while the first ones run.
    int step = work.begin, before = -1;  // the stage before
    const auto advance = [&](auto set, auto meanwhile) {
      ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
      product.template multiply<decltype(set)::value>(s.stage[ring.stage()], step > work.begin);
      meanwhile();
      product.wait_for_all_but_last();
      if (before >= 0) release_stage<T>(s.empty[before]);
      before = ring.stage();
      ring.advance();
      ++step;
    };
    constexpr int kMeanwhile = kByMap ? Store::kChunksLater : 0;
    const std::integral_constant<int, kMeanwhile % 2>
        first;  // sets of fragments: two groups in a row have two
    const std::integral_constant<int, 1 - kMeanwhile % 2> second;
#pragma unroll
    for (int h = 0; h < kMeanwhile; ++h) {
      if (step == work.end) {
        store.send(h);
      } else if ((kMeanwhile - h) % 2 == 0) {
        advance(first, [&] { store.send(h); });
      } else {
        advance(second, [&] { store.send(h); });
      }
    }
#pragma unroll 1
    while (step + 1 < work.end) {
      advance(first, [] {});
      advance(second, [] {});
    }
    if (step < work.end) advance(first, [] {});
    const Origin here = at;
    more = schedule.next(work);  // while the last products run
    at = origin_of<T>(plan, work.tile, rank);
    product.wait();
    release_stage<T>(s.empty[before]);

    // Epilogue
    if constexpr (kByMap) {
      store.template take<T::BN>(product, c, here);
    } else {
      store_tile(product, c, here.row, here.col);
    }
  }
  if constexpr (kByMap) {
    store.template finish<T::STAGES>([&](int i) { return product.own_lines(s.stage[i]); });
  }
}

template <class T, bool kByMap>
__global__ void __launch_bounds__(T::kThreads, 1)
    kernel(const __grid_constant__ TensorMaps maps,
           const __grid_constant__ Target<typename T::Out> c, const __grid_constant__ Plan plan) {
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  const int warp = warp_in_block();
  if (threadIdx.x == 0) {
    for (auto& out : s.out) T::Store::init(out);
    init_stages<T>(s);
  }
  sync_cluster<T>();  // before a neighbour copies to here or arrives here
  if (warp < 4) {
    ptx::release_registers<T::kProducerRegisters>();
    if (warp == 0) {
      produce<T>(maps, s, plan);
    } else if (kByMap && warp <= T::kWarpgroups && ptx::elect_one()) {
      T::Store::serve(s.out[warp - 1], maps);
    }
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    consume<T, kByMap>(maps, s, c, plan, warp / 4 - 1);
  }
  __syncwarp();
  sync_cluster<T>();  // nobody leaves whose shared memory a neighbour still needs
}

template <class T>
static Status launch(const Problem& p, const Operands& o, Stream stream) {
  if (!reads_ab(p)) return scale_only<typename T::Out>(p, o, stream);
  TensorLaunch<T> l;
  if (Status s = prepare<T>(p, o, stream, l); !s) return s;
  int sms = 0;
  if (Status s = sm_count(sms); !s) return s;
  const Plan plan = plan_whole_tiles(p.m, p.n, p.k, T::kPairM, T::kPairN, T::BK, sms / T::kCluster);
  const auto chosen = l.by_map ? kernel<T, true> : kernel<T, false>;
  return launch_dependent("r16_persistent", chosen, plan.blocks * T::kCluster, T::kCluster,
                          T::kThreads, sizeof(typename T::Shared), stream, l.maps, l.c, plan);
}

template <class T>
static constexpr KernelInfo info(std::string_view id) {
  return tensor_kernel<typename T::In, typename T::Out>(
      id, "r16_persistent", "blocks stay, pairs share copies, stores meanwhile", launch<T>);
}

template <class In, class Out>
using WideTile = Tile<In, Out, 128, 256, 4>;
using Tf32Tile = Tile<float, float, 256, 128, 4>;

static constexpr KernelInfo kKernels[] = {
    info<WideTile<__nv_bfloat16, __nv_bfloat16>>("r16_persistent_bf16"),
    info<WideTile<__nv_bfloat16, float>>("r16_persistent_bf16_f32"),
    info<WideTile<__half, __half>>("r16_persistent_fp16"),
    info<WideTile<__half, float>>("r16_persistent_fp16_f32"),
    info<Tf32Tile>("r16_persistent_tf32"),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::r16_persistent
