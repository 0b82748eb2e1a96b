// SPDX-License-Identifier: Apache-2.0
// SGEMM on CUDA cores for small, thin and deep problems: small tiles whose k-splits are added
// within a cluster of blocks, and products with few rows or columns.
#include "device/launch_dependent.cuh"
#include "gemm/call.hpp"
#include "gemm/simt/direct_product.cuh"
#include "gemm/simt/dot_product.cuh"
#include "gemm/simt/part_tile.cuh"
#include "gemm/simt/thin_product.cuh"
#include "problem/accept.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>
#include <type_traits>

namespace ladder::simt_parts {

// Launches `kernel` in clusters of x.cluster blocks, with workspace for `sums` partial sums of
// k-splits. A kernel that needs none takes the stream's lock, too: it must not come between the
// kernels of another call on the stream.
template <class Kernel>
static Status launch_alone(const char* name, Kernel kernel, const Grid& grid, std::int64_t sums,
                           int threads, int bytes, PartJob x, Stream stream) {
  CallMemory memory;
  if (Status s = memory.take(stream, 0, sums); !s) return s;
  if (sums > 0) x.gSums = memory.flags();
  return launch_dependent(name, kernel, grid, x.cluster, threads, bytes, stream, x);
}

using LaunchTile = Status (*)(PartJob, Stream);
template <class T>
static Status launch_tile(PartJob x, Stream stream) {
  x.tiles_m = static_cast<int>(ceil_div(x.m, T::BM));
  const std::int64_t tiles = x.tiles_m * ceil_div(x.n, T::BN);
  return with_copies<T>(x, [&]<Copies kA, Copies kB>() {
    return launch_alone("split-K", part_tile<T, kA, kB>, tiles * x.parts * x.cluster,
                        tiles * (x.parts - 1) * T::BM * T::BN, T::kThreads, T::bytes(x.cluster), x,
                        stream);
  });
}

static constexpr std::array kLaunch =
    part_tiles([]<class T>(std::type_identity<T>, auto) -> LaunchTile { return launch_tile<T>; });

using LaunchBatch = Status (*)(PartJob, std::int64_t, PartStrides, Stream);
template <class T>
static Status launch_tile_of_batch(PartJob x, std::int64_t count, PartStrides stride,
                                   Stream stream) {
  x.tiles_m = static_cast<int>(ceil_div(x.m, T::BM));
  const std::int64_t blocks = x.tiles_m * ceil_div(x.n, T::BN) * x.cluster,
                     at_once = std::max<std::int64_t>(1, kMaxExtent / blocks);
  stride.blocks = static_cast<int>(blocks);
  for (std::int64_t i = 0; i < count; i += at_once) {
    Status s = with_copies<T>(x, [&]<Copies kA, Copies kB>() {
      return launch_dependent("products of a batch", part_tile_of_batch<T, kA, kB>,
                              blocks * std::min(count - i, at_once), x.cluster, T::kThreads,
                              T::bytes(x.cluster), stream, x, stride);
    });
    if (!s) return s;
    x.a.g += at_once * stride.a;
    x.b.g += at_once * stride.b;
    x.gC += at_once * stride.c;
  }
  return Status::ok();
}

static constexpr std::array kLaunchBatch = part_tiles(
    []<class T, bool kOfBatch>(std::type_identity<T>, std::bool_constant<kOfBatch>) -> LaunchBatch {
      if constexpr (kOfBatch) {
        return launch_tile_of_batch<T>;
      } else {
        return nullptr;
      }
    });

// The job with A and B exchanged: C^T = B^T A^T.
static PartJob swap_sides(PartJob x) {
  std::swap(x.a, x.b);
  std::swap(x.m, x.n);
  std::swap(x.row_step, x.col_step);
  return x;
}

template <class T>
static Status launch_thin(PartJob x, const ThinPlan& plan, Stream stream) {
  x.lanes = plan.lanes;
  x.parts = plan.parts;
  const int columns = 1 << T::log_columns(plan.lanes);
  const std::int64_t tiles = ceil_div(x.n, columns);
  constexpr auto* kKernel = [] {
    if constexpr (T::kAlongK) {
      return &thin_along<T>;
    } else {
      return &thin_across<T>;
    }
  }();
  return launch_alone("few rows", kKernel, tiles * x.parts, tiles * (x.parts - 1) * T::R * columns,
                      T::kThreads, T::kBytes, x, stream);
}

static Status launch_direct(PartJob x, const ThinPlan& plan, int sms, Stream stream) {
  x.lanes = plan.lanes;
  const bool wide = plan.along_k ? x.b.aligned && x.a.aligned && x.a.k_step == 1 && x.k % 4 == 0
                                 : x.b.aligned && x.n % 4 == 0;
  const auto kernel = plan.along_k ? (wide ? direct_along<true> : direct_along<false>)
                                   : (wide ? direct_across<true> : direct_across<false>);
  const std::int64_t threads =
      plan.along_k ? std::int64_t{x.n} << plan.lanes : ceil_div(x.n, wide ? 4 : 1);
  const Grid grid(ceil_div(threads, kDirectThreads), x.m);
  x.early = releases_early(std::int64_t{grid.x} * grid.y, sms);
  return launch_alone("direct product", kernel, grid, 0, kDirectThreads, 0, x, stream);
}

// The kernels for a tile, by how A and B are read. Square tiles have none in which B is read by
// wider loads than A: the operands are exchanged.
struct DotKernel {
  int outputs, at_once;
  DotLoads a, b;
  void (*kernel)(PartJob);
};
template <int kOutputs, DotLoads kA, DotLoads kB, int kAtOnce = 1>
static constexpr DotKernel dot_kernel() {
  return {kOutputs, kAtOnce, kA, kB,
          dot_product<dot_rows(kOutputs), dot_columns(kOutputs), kAtOnce, kA, kB>};
}
static constexpr auto kDotKernels = [] {
  using enum DotLoads;
  return std::array{dot_kernel<1, kAlongK, kAlongK, 2>(), dot_kernel<1, kAlongK, kSingle, 2>(),
                    dot_kernel<1, kSingle, kSingle, 2>(), dot_kernel<1, kAlongK, kAlongK>(),
                    dot_kernel<1, kAlongK, kSingle>(),    dot_kernel<1, kSingle, kSingle>(),
                    dot_kernel<4, kAlongK, kAlongK>(),    dot_kernel<4, kAlongK, kAcrossK>(),
                    dot_kernel<4, kAlongK, kSingle>(),    dot_kernel<4, kSingle, kAlongK>(),
                    dot_kernel<4, kSingle, kAcrossK>(),   dot_kernel<4, kSingle, kSingle>(),
                    dot_kernel<16, kAlongK, kAlongK>(),   dot_kernel<16, kAlongK, kAcrossK>(),
                    dot_kernel<16, kAlongK, kSingle>(),   dot_kernel<16, kAcrossK, kAcrossK>(),
                    dot_kernel<16, kAcrossK, kSingle>(),  dot_kernel<16, kSingle, kSingle>()};
}();

static Status launch_dots(PartJob x, const ThinPlan& plan, int sms, Stream stream) {
  const int rows = dot_rows(plan.outputs), columns = dot_columns(plan.outputs);
  const auto loads_of = [&](const PartOperand& side, int vectors) {
    if (side.k_step == 1 && side.aligned && x.k % 4 == 0) return DotLoads::kAlongK;
    const bool across = side.vector_step == 1 && side.aligned && side.vectors % 4 == 0;
    return across && vectors == 4 ? DotLoads::kAcrossK : DotLoads::kSingle;
  };
  if (rows == columns && loads_of(x.b, columns) < loads_of(x.a, rows)) x = swap_sides(x);
  const DotLoads a = loads_of(x.a, rows), b = loads_of(x.b, columns);
  const auto* const found = std::ranges::find_if(kDotKernels, [&](const DotKernel& one) {
    return one.outputs == plan.outputs && one.at_once == dots_at_once(plan) && one.a == a &&
           one.b == b;
  });
  x.tiles_m = static_cast<int>(ceil_div(x.m, rows));
  const std::int64_t blocks = x.tiles_m * ceil_div(x.n, columns);
  x.early = releases_early(blocks, sms);
  return launch_alone("dot products", found->kernel, blocks, 0, 1 << plan.lanes, 0, x, stream);
}

template <int R, bool kFloat4>
static Status launch_rows(const PartJob& x, const ThinPlan& plan, Stream stream) {
  if (!plan.along_k) return launch_thin<ThinAcross<R, kFloat4>>(x, plan, stream);
  return launch_thin<ThinAlong<R, kFloat4>>(x, plan, stream);
}

// By the number of rows, rounded up to a power of two.
template <bool kFloat4>
static constexpr std::array kLaunchRows{launch_rows<1, kFloat4>, launch_rows<2, kFloat4>,
                                        launch_rows<4, kFloat4>, launch_rows<8, kFloat4>,
                                        launch_rows<16, kFloat4>};

static Status launch_outer(PartJob x, Stream stream) {
  x.tiles_m = static_cast<int>(ceil_div(x.n, kOuterCols));
  return launch_alone("outer product", outer_product, x.tiles_m * ceil_div(x.m, kOuterBlockRows), 0,
                      kOuterThreads, 0, x, stream);
}

static Status accepts(const Problem& p, const Device& device) {
  if (Status s = accept_split(p, device); !s) return s;
  if (fits_split_k(p)) return Status::ok();
  return {Code::kUnsupportedProblem, "takes C of at most 2^30 tiles, not " + to_string(p)};
}

static PartJob job_of(const Problem& p, const Operands& o) {
  const auto side = [&](const float* g, std::int64_t ld, std::int64_t vectors, bool along_k) {
    // One vector along k has no next one, which would have to be aligned, too.
    return PartOperand{g, along_k ? ld : 1, along_k ? 1 : ld, static_cast<int>(vectors),
                       has_aligned_rows(g, along_k && vectors == 1 ? 4 : ld)};
  };
  const bool reads = reads_ab(p), a_along = is_a_k_major(p), b_along = is_b_k_major(p);
  return {.a = side(o.a, p.lda, p.m, a_along),
          .b = side(o.b, p.ldb, p.n, b_along),
          .gC = o.c,
          .row_step = p.ldc,
          .col_step = 1,
          .aligned = has_aligned_rows(o.c, p.ldc),
          .m = static_cast<int>(p.m),
          .n = static_cast<int>(p.n),
          .k = static_cast<int>(reads ? p.k : 0),
          .alpha = reads ? p.alpha : 0.0F,
          .beta = p.beta,
          .tiles_m = 1,
          .cluster = 1,
          .parts = 1,
          .gSums = nullptr};
}

static Status launch(const Problem& original, const Operands& given, Stream stream) {
  RowMajorCall call;
  if (Status s = row_major_call(original, given, call); !s) return s;
  const auto& [p, o, device, at] = call;
  if (p.m == 0 || p.n == 0) return Status::ok();
  const PartJob x = job_of(p, o);
  const SmallPlan plan = plan_small(p, at, device);
  if (plan.kernel == SmallKernel::kOuterProduct) return launch_outer(x, stream);
  PartJob job = plan.sided.swapped ? swap_sides(x) : x;
  if (plan.kernel == SmallKernel::kThin) {
    if (plan.thin.kind == ThinKind::kDirect)
      return launch_direct(job, plan.thin, device.sms, stream);
    if (plan.thin.kind == ThinKind::kDots) return launch_dots(job, plan.thin, device.sms, stream);
    const std::int64_t tiles = ceil_div(job.n, thin_columns(plan.thin));
    job.early =
        releases_early(tiles * plan.thin.parts, thin_capacity(plan.thin, job.m, device.sms));
    const auto& launch_of = job.b.aligned ? kLaunchRows<true> : kLaunchRows<false>;
    return launch_of[std::bit_width(static_cast<unsigned>(job.m - 1))](job, plan.thin, stream);
  }
  const PartPlan& part = plan.sided.part;
  const PartTileCost& tile = kPartTiles[static_cast<std::size_t>(part.tile)];
  job.cluster = part.cluster;
  job.parts = part.parts;
  job.early = releases_early(
      ceil_div(job.m, tile.bm) * ceil_div(job.n, tile.bn) * part.cluster * part.parts,
      part_capacity(device.sms, tile.of_sm(part.cluster), part.cluster));
  return kLaunch[static_cast<std::size_t>(part.tile)](job, stream);
}

static constexpr KernelInfo kKernels[] = {
    library_kernel("ladder_split_k", "simt_parts", "split-K, added within a cluster",
                   Precision::kIeee, kHopper, accepts, launch),
};
extern const std::span<const KernelInfo> kInfo{kKernels};

}  // namespace ladder::simt_parts

namespace ladder {

Status launch_batch(const Problem& original, const Operands& given, const Batch& batch,
                    Stream stream) {
  using namespace simt_parts;
  RowMajorCall call;
  if (Status s = row_major_call(original, given, call); !s) return s;
  const auto& [p, o, device, at] = call;
  if (p.m == 0 || p.n == 0 || batch.count == 0) return Status::ok();
  PartStrides stride{batch.stride_a, batch.stride_b, batch.stride_c, 0};
  if (original.layout == Layout::kColMajor) std::swap(stride.a, stride.b);
  PartJob x = job_of(p, o);
  x.a.aligned &= stride.a % 4 == 0;
  x.b.aligned &= stride.b % 4 == 0;
  x.aligned &= stride.c % 4 == 0;
  const Alignment shared{stride.a % 4 == 0 ? at.a : 4, stride.b % 4 == 0 ? at.b : 4};
  const SidedPartPlan plan = plan_batch(p, shared, batch.count, device);
  if (plan.swapped) {
    x = swap_sides(x);
    std::swap(stride.a, stride.b);
  }
  x.cluster = plan.part.cluster;
  return kLaunchBatch[static_cast<std::size_t>(plan.part.tile)](x, batch.count, stride, stream);
}

}  // namespace ladder
