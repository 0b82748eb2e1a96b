// SPDX-License-Identifier: Apache-2.0
// Clock and power of a bf16 product, part by part: wgmma on operands that stay in shared memory;
// the same with copies from L2 or device memory, by single blocks or by clusters of two or four;
// and the last rungs and cuBLAS on the same data. Each load runs alone until clocks and power are
// steady. Prints CSV, one line per load: TFLOP/s; the fraction of the tensor cores' peak products
// per clock; the SM clock, as cycles over the global timer and as NVML reports it; watts; joules
// per TFLOP. For a comparison with cuBLAS at the same clock use cycles (bench_cycles).
//   bench_power [SECONDS]    per load, default 1; bench/h200/csv.sh power runs it
#include "device/ptx/sync.cuh"
#include "device/ptx/wgmma_registers.cuh"
#include "device/ring.cuh"
#include "gemm/tensor/tensor_cluster.cuh"
#include "gemm/tensor/tensor_launch.cuh"

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "measure/telemetry.hpp"

#include "clocks.cuh"
#include "matrices.cuh"

namespace {

using namespace ladder;
using namespace ladder::bench;
using In = __nv_bfloat16;

constexpr double kFlopsPerClock = 4096;  // per SM: m64n256k16 in 128 cycles
constexpr int kStepsALaunch = 1024;      // per block and launch

enum class Feed : unsigned char { kResident, kCopied };
enum class From : unsigned char {
  kShared,
  kSharedKMajor,
  kHalves,
  kRegisters
};  // what wgmma reads

struct NoNarrowTiles {
  static constexpr int kNarrow = 256;
};
template <Blocks kBlocks>
struct Tile : ClusterTile<In, In, 128, 256, 4, kBlocks>, NoNarrowTiles {
  using Base = TensorTile<In, In, 128, 256, 4>;
  static constexpr int kThreads = (Base::kWarpgroups + 1) * kWarpgroup;
  static constexpr int kConsumerRegisters = 232, kProducerRegisters = 40;
  struct Shared {
    typename Base::Stage stage[4];
    std::uint64_t full[4], empty[4];
  };
};

// The wgmma group of one stage, as in the rungs, or a variant: B K-major; B also in two halves of
// n, which read A twice; and both with A in registers that all stages share.
template <From kFrom, class Base>
__device__ __forceinline__ void multiply(Product<Base>& product, const typename Base::Stage& s,
                                         const std::uint32_t (&rA)[4][4], int group, bool add) {
  if constexpr (kFrom == From::kShared) {
    product.template multiply<0>(s, add);
  } else {
    const std::uint32_t a = ptx::shared_address(s.a[group * 64]), b = ptx::shared_address(s.b);
    auto& low = reinterpret_cast<float(&)[64]>(product.sums[0]);
    auto& high = reinterpret_cast<float(&)[64]>(product.sums[64]);
    ptx::wgmma_fence();
#pragma unroll
    for (int k = 0; k < 4; ++k) {
      const auto at_a = ptx::matrix_descriptor(a + k * 32, 8 * kSwizzleBytes);
      const auto at_b = ptx::matrix_descriptor(b + k * 32, 8 * kSwizzleBytes);
      const auto at_high =
          ptx::matrix_descriptor(b + k * 32 + 128 * kSwizzleBytes, 8 * kSwizzleBytes);
      if constexpr (kFrom == From::kSharedKMajor) {
        ptx::wgmma_shared<In, false>(product.sums, at_a, at_b, k > 0 || add);
      } else if constexpr (kFrom == From::kHalves) {
        ptx::wgmma_shared<In, false>(low, at_a, at_b, k > 0 || add);
        ptx::wgmma_shared<In, false>(high, at_a, at_high, k > 0 || add);
      } else {
        ptx::wgmma_registers<In>(low, rA[k], at_b, k > 0 || add);
        ptx::wgmma_registers<In>(high, rA[k], at_high, k > 0 || add);
      }
    }
    ptx::wgmma_commit();
  }
}

// `tiles` per cluster, round robin, with plan.steps each. Results are stored only if c.m is
// non-zero; the condition keeps ptxas from removing unused products.
template <Blocks kBlocks, Feed kFeed, From kFrom>
__global__ void __launch_bounds__(Tile<kBlocks>::kThreads, 1)
    product_loop(const __grid_constant__ TensorMaps maps, const __grid_constant__ Target<In> c,
                 const __grid_constant__ Tiling plan, int tiles) {
  using T = Tile<kBlocks>;
  extern __shared__ __align__(1024) char shared[];
  auto& s = *reinterpret_cast<typename T::Shared*>(shared);
  if (threadIdx.x == 0) init_stages<T>(s);
  sync_cluster<T>();
  const int rank = rank_in_cluster<T>(), unit = static_cast<int>(blockIdx.x) / T::kCluster;
  const int units = static_cast<int>(gridDim.x) / T::kCluster;
  const auto tile_of = [&](int i) { return (unit + i * units) % plan.whole_tiles; };
  const auto load = [&](Ring<4>& ring, const TileOrigin& at, int step) {
    const std::uint32_t full = ptx::shared_address(&s.full[ring.stage()]);
    ptx::mbarrier_wait(ptx::shared_address(&s.empty[ring.stage()]), ring.parity());
    ptx::mbarrier_arrive_expect(full, T::kBytes);
    load_cluster<T>(s.stage[ring.stage()], maps, full, rank, at, step * T::BK, T::BN / T::BK);
    ring.advance();
  };
  if (threadIdx.x < kWarpgroup) {
    ptx::release_registers<T::kProducerRegisters>();
    if (threadIdx.x == 0) {
      auto ring = Ring<4>::of_producer();
      for (int i = 0; i < (kFeed == Feed::kResident ? 1 : tiles); ++i) {
        const TileOrigin at = origin_in<T>(place_of<T::kBand>(plan, tile_of(i)), rank);
#pragma unroll 1
        for (int step = 0; step < (kFeed == Feed::kResident ? 4 : plan.steps); ++step)
          load(ring, at, step);
      }
    }
  } else {
    ptx::claim_registers<T::kConsumerRegisters>();
    const int group = static_cast<int>(threadIdx.x) / kWarpgroup - 1;
    Product<typename T::Base> product(group);
    auto ring = Ring<4>::of_consumer();
    std::uint32_t rA[4][4] = {};
    if constexpr (kFeed == Feed::kResident) {
      for (auto& full : s.full) ptx::mbarrier_wait(ptx::shared_address(&full), 0);
      const auto* words = reinterpret_cast<const std::uint32_t*>(s.stage);
#pragma unroll
      for (int i = 0; i < 16; ++i) rA[i / 4][i % 4] = words[threadIdx.x * 16 + i];
    }
    for (int i = 0; i < tiles; ++i) {
      int before = -1;
#pragma unroll 1
      for (int step = 0; step < plan.steps; ++step) {
        if constexpr (kFeed != Feed::kResident) {
          ptx::mbarrier_wait(ptx::shared_address(&s.full[ring.stage()]), ring.parity());
        }
        multiply<kFrom>(product, s.stage[ring.stage()], rA, group, step > 0);
        product.wait_for_all_but_last();
        if constexpr (kFeed != Feed::kResident) {
          if (before >= 0) release_stage<T>(s.empty[before]);
          before = ring.stage();
        }
        ring.advance();
      }
      product.wait();
      if constexpr (kFeed != Feed::kResident) release_stage<T>(s.empty[before]);
      if (c.m > 0) store_columns<0, T::BN>(product, c, 0, 0);
    }
  }
  __syncwarp();
  sync_cluster<T>();
}

using Work = std::function<void()>;

double seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Board : Gpu {
  Board() {
    std::string why;
    nvml = Nvml::open(0, &why);
    if (nvml == nullptr) std::fprintf(stderr, "power: no NVML: %s\n", why.c_str());
  }
  std::unique_ptr<Nvml> nvml;
};

void steady(const Board& gpu, const char* name, double flops, double for_s, const Work& work) {
  constexpr double kBatchS = 0.02, kWarmS = 0.5;
  const auto wait = [] { require(cudaDeviceSynchronize(), "work"); };
  Readings readings(gpu, 2);
  work();
  wait();
  double begin = seconds();
  for (int i = 0; i < 5; ++i) work();
  wait();
  const int batch = std::max(1, static_cast<int>(kBatchS * 5 / (seconds() - begin)));
  const auto batches = [&](double until) {
    int launches = 0;
    for (begin = seconds(); seconds() - begin < until; launches += batch) {
      for (int i = 0; i < batch; ++i) work();
      wait();
    }
    return launches;
  };
  batches(kWarmS);
  readings.take(0);
  const int launches = batches(for_s);
  readings.take(1);
  wait();
  for (int i = 0; i < batch; ++i) work();  // the sensors must read under load
  const Telemetry now = gpu.nvml ? gpu.nvml->read() : Telemetry{};
  wait();
  readings.fetch();
  const Between all = readings(0, 1);
  const double rate = flops * launches / all.ns * 1e-3;
  const double watts = now.power_w.value_or(0);  // the mean of about a second
  std::printf("%s,%.1f,%.4f,%.0f,%.0f,%.0f,%.3f\n", name, rate,
              flops * launches / (all.cycles * gpu.sms * kFlopsPerClock), all.cycles / all.ns * 1e3,
              now.sm_clock_mhz.value_or(0), watts, watts / rate);
  std::fflush(stdout);
}

template <Blocks kBlocks, Feed kFeed, From kFrom = From::kShared>
void loop(const Board& gpu, const char* name, double for_s, const Matrices& x) {
  using T = Tile<kBlocks>;
  const auto kernel = product_loop<kBlocks, kFeed, kFrom>;
  TensorLaunch<T> l;
  require(prepare<T>(x.p, x.operands(), nullptr, l), name);
  l.c.m = 0;  // stores nothing
  const Tiling plan =
      plan_whole_tiles(x.p.m, x.p.n, x.p.k, T::kPairM, T::kPairN, T::BK, gpu.sms / T::kCluster);
  require(allow_shared(reinterpret_cast<const void*>(kernel), sizeof(typename T::Shared)), name);
  const int tiles = kStepsALaunch / plan.steps;
  // 30 of an H200's 33 clusters of four run at once: its GPCs have 10 to 18 SMs.
  const int blocks =
      T::kCluster == 4 ? gpu.sms / 4 * 92 / 100 * 4 : gpu.sms / T::kCluster * T::kCluster;
  const double flops = 2.0 * T::BM * T::BN * T::BK * tiles * plan.steps * blocks;
  steady(gpu, name, flops, for_s, [&] {
    require(launch_dependent(name, kernel, blocks, T::kCluster, T::kThreads,
                             sizeof(typename T::Shared), nullptr, l.maps, l.c, plan, tiles),
            name);
  });
}

}  // namespace

int main(int argc, char** argv) {
  const double for_s = argc > 1 ? std::atof(argv[1]) : 1;
  const Board gpu;
  const std::vector kernels{&kernel_named("r16_persistent_bf16"), &kernel_named("ladder_bf16"),
                            &kernel_named("cublas_bf16")};
  std::printf("load,tflops,of_peak_a_clock,effective_mhz,nvml_mhz,watts,joules_a_tflop\n");
  {
    const Matrices small(2048, Type::kBf16, Type::kBf16), large(8192, Type::kBf16, Type::kBf16);
    using enum Blocks;
    loop<kAlone, Feed::kResident>(gpu, "resident", for_s, large);
    loop<kAlone, Feed::kResident, From::kSharedKMajor>(gpu, "resident; B K-major", for_s, large);
    loop<kAlone, Feed::kResident, From::kHalves>(gpu, "resident; B K-major; halves of n", for_s,
                                                 large);
    loop<kAlone, Feed::kResident, From::kRegisters>(
        gpu, "resident; B K-major; halves of n; A in registers", for_s, large);
    loop<kAlone, Feed::kCopied>(gpu, "copied from L2; alone", for_s, small);
    loop<kPairAlongM, Feed::kCopied>(gpu, "copied from L2; pairs", for_s, small);
    loop<kFourAlongN, Feed::kCopied>(gpu, "copied from L2; fours", for_s, small);
    loop<kAlone, Feed::kCopied>(gpu, "copied of 8192; alone", for_s, large);
    loop<kPairAlongM, Feed::kCopied>(gpu, "copied of 8192; pairs", for_s, large);
  }
  for (const int n : {4096, 8192, 16384}) {
    const Matrices x(n, Type::kBf16, Type::kBf16);
    for (const auto* kernel : kernels) {
      const std::string name = std::string(kernel->id) + " " + std::to_string(n);
      steady(gpu, name.c_str(), flops(x.p), for_s,
             [&] { require(kernel->launch(x.p, x.operands(), nullptr), "launch"); });
    }
  }
  return 0;
}
