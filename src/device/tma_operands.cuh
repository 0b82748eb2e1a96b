// SPDX-License-Identifier: Apache-2.0
// Host code common to the products that use TMA. Operands whose rows are not 16-byte aligned are
// first copied to aligned rows. Problems that read neither A nor B only scale C.
#pragma once
#include "device/extents.cuh"
#include "device/launch_dependent.cuh"
#include "device/ptx/dependent.cuh"
#include "device/runtime.cuh"
#include "device/tensor_map.cuh"
#include "device/tile_store.cuh"
#include "problem/accept.hpp"

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace ladder {

namespace tma_detail {

constexpr int kThreads = 256;

// Copies rows of `used` elements to rows of ld_y elements, padded with zeros.
template <class Word>
struct RowCopy {
  const Word* gX;
  std::int64_t ld, lines, used;
  Word* gY;
  std::int64_t ld_y;
};
template <class Word>
struct RowCopies {
  RowCopy<Word> of[2];
};

// One copy per blockIdx.y, 16 bytes per thread.
template <class Word>
__global__ void __launch_bounds__(kThreads)
    copy_rows(const __grid_constant__ RowCopies<Word> copies) {
  constexpr int kWidth = 16 / static_cast<int>(sizeof(Word));
  const RowCopy<Word>& c = copies.of[blockIdx.y];
  const std::int64_t in_row = c.ld_y / kWidth, all = c.lines * in_row;
  ptx::launch_dependents();
  for (std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; at < all;
       at += std::int64_t{gridDim.x} * kThreads) {
    const std::int64_t line = at / in_row, col = at % in_row * kWidth;
    alignas(16) Word r[kWidth];
#pragma unroll
    for (int i = 0; i < kWidth; ++i)
      r[i] = col + i < c.used ? c.gX[line * c.ld + col + i] : Word{0};
    *reinterpret_cast<uint4*>(c.gY + line * c.ld_y + col) = *reinterpret_cast<const uint4*>(r);
  }
}

// C = beta C, if alpha or k is zero.
template <class Out>
__global__ void __launch_bounds__(kThreads) scale(const __grid_constant__ Target<Out> c) {
  const std::int64_t all = std::int64_t{c.m} * c.n;
  for (std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; at < all;
       at += std::int64_t{gridDim.x} * kThreads) {
    store_element(c, c.gC + at / c.n * c.ld + at % c.n, 0.0F);
  }
}

inline int blocks_for(std::int64_t elements) {
  constexpr std::int64_t kMost = 4096;
  return static_cast<int>(std::clamp<std::int64_t>(ceil_div(elements, kThreads), 1, kMost));
}

template <class In>
std::int64_t padded_row(std::int64_t used) {  // elements, rounded up to whole rows of the swizzle
  constexpr std::int64_t kElements = kSwizzleBytes / sizeof(In);
  return ceil_div(used, kElements) * kElements;
}

}  // namespace tma_detail

// Requires Hopper, row-major operands without transposition, sizes that fit int, and rows that fit
// a tensor map.
inline Status accept_tensor_maps(const Problem& p, const Device& device) {
  if (Status s = accept_hopper(device); !s) return s;
  return accept_for_tensor_maps(p);
}

// The arithmetic of tensor cores for operands of type T.
template <class T>
constexpr Precision kPrecisionOf = std::is_same_v<T, float>    ? Precision::kTf32
                                   : std::is_same_v<T, __half> ? Precision::kFp16
                                                               : Precision::kBf16;

// A rung's kernel for operands of In and results of Out.
template <class In, class Out>
constexpr KernelInfo tensor_kernel(std::string_view id, std::string_view rung,
                                   std::string_view idea,
                                   Status (*launch)(const Problem&, const Operands&, Stream)) {
  return {.id = id,
          .rung = rung,
          .idea = idea,
          .precision = kPrecisionOf<In>,
          .min_cc = 90,
          .in = kTypeOf<In>,
          .out = kTypeOf<Out>,
          .accepts = accept_tensor_maps,
          .launch = launch};
}

template <class Out>
Target<Out> target_of(const Problem& p, const Operands& o) {
  Out* const gC = o.c_as<Out>();
  const bool pairs =
      reinterpret_cast<std::uintptr_t>(gC) % (2 * sizeof(Out)) == 0 && p.ldc % 2 == 0;
  return {gC, p.ldc, static_cast<int>(p.m), static_cast<int>(p.n), p.alpha, p.beta, pairs};
}

// Scales C, for problems without a product. Errors: kLaunchFailed.
template <class Out>
Status scale_only(const Problem& p, const Operands& o, cudaStream_t stream) {
  if (p.m == 0 || p.n == 0) return Status::ok();
  return launch_kernel("scale", tma_detail::scale<Out>, tma_detail::blocks_for(p.m * p.n),
                       tma_detail::kThreads, 0, stream, target_of<Out>(p, o));
}

// Whether C may be stored by TMA, which permits alpha but no beta. TMA bounds a row only at
// multiples of 16 bytes: a store to a row that ends within 16 bytes continues to their end
// (observed on an H200; loads end at the element).
template <class Out>
bool stores_by_map(const Problem& p, const Operands& o) {
  constexpr std::int64_t kGrain = 16;
  return p.beta == 0.0F && p.n * static_cast<std::int64_t>(sizeof(Out)) % kGrain == 0 &&
         tensor_map_takes(o.c, p.ldc * static_cast<std::int64_t>(sizeof(Out)));
}

namespace tma_detail {

// Bytes of device memory that make_maps needs for copies of A and B; 0 if they are aligned.
template <class In>
std::size_t copy_bytes(const Problem& p, const Operands& o) {
  const auto of = [](const float* g, std::int64_t ld, std::int64_t lines, std::int64_t used) {
    if (tensor_map_takes(g, ld * static_cast<std::int64_t>(sizeof(In)))) return std::size_t{0};
    return static_cast<std::size_t>(lines * padded_row<In>(used)) * sizeof(In);
  };
  return of(o.a, p.lda, p.m, p.k) + of(o.b, p.ldb, p.k, p.n);
}

// Creates the tensor maps of A (boxes of T::kBoxRows rows), of B, and of C if it is stored by TMA.
// Enqueues copies of unaligned operands to `copies`, of copy_bytes(). Errors: kLaunchFailed.
template <class T>
Status make_maps(const Problem& p, const Operands& o, void* copies, cudaStream_t stream,
                 TensorMaps& maps) {
  using In = typename T::In;
  using Word = std::conditional_t<sizeof(In) == 2, std::uint16_t, std::uint32_t>;
  auto* free_rows = static_cast<Word*>(copies);
  RowCopies<Word> to_copy{};
  unsigned count = 0;
  std::int64_t most = 0;  // elements per copy
  const auto map_operand = [&](CUtensorMap& map, const float* g, std::int64_t ld,
                               std::int64_t lines, std::int64_t used, int box_rows) -> Status {
    const void* at = g;
    if (!tensor_map_takes(g, ld * static_cast<std::int64_t>(sizeof(In)))) {
      const std::int64_t ld_y = padded_row<In>(used);
      to_copy.of[count++] = {reinterpret_cast<const Word*>(g), ld, lines, used, free_rows, ld_y};
      most = std::max(most, lines * ld_y);
      at = free_rows;
      ld = ld_y;
      free_rows += lines * ld_y;
    }
    return make_tensor_map(map, kTypeOf<In>, at, lines, used, ld, box_rows, T::BK);
  };
  if (Status s = map_operand(maps.a, o.a, p.lda, p.m, p.k, T::kBoxRows); !s) return s;
  if (Status s = map_operand(maps.b, o.b, p.ldb, p.k, p.n, T::BK); !s) return s;
  if (count > 0) {
    const auto blocks =
        static_cast<unsigned>(blocks_for(most * static_cast<std::int64_t>(sizeof(In)) / 16));
    if (Status s = launch_kernel("copy_rows", copy_rows<Word>, dim3(blocks, count), kThreads, 0,
                                 stream, to_copy);
        !s)
      return s;
  }
  using Store = TileStore<T>;
  if (!stores_by_map<typename T::Out>(p, o)) return Status::ok();
  return make_tensor_map(maps.c, kTypeOf<typename T::Out>, o.c, p.m, p.n, p.ldc, Store::kRows,
                         Store::kCols);
}

}  // namespace tma_detail

// Launch parameters of a kernel that uses TMA.
template <class T>
struct TensorLaunch {
  TensorMaps maps;
  Target<typename T::Out> c;
  bool by_map;        // C may be stored by TMA
  CallMemory memory;  // its scratch begins with the requested bytes
};

// Prepares a problem that reads A and B. Enqueues copies of unaligned operands. Errors:
// kLaunchFailed.
template <class T>
Status prepare(const Problem& p, const Operands& o, cudaStream_t stream, TensorLaunch<T>& launch,
               std::int64_t scratch_bytes = 0, std::int64_t flags = 0) {
  using Out = typename T::Out;
  scratch_bytes = ceil_div(scratch_bytes, 256) * 256;
  const auto copies = static_cast<std::int64_t>(tma_detail::copy_bytes<typename T::In>(p, o));
  if (Status s = launch.memory.take(stream, scratch_bytes + copies, flags); !s) return s;
  launch.c = target_of<Out>(p, o);
  launch.by_map = stores_by_map<Out>(p, o);
  return tma_detail::make_maps<T>(p, o, launch.memory.scratch() + scratch_bytes, stream,
                                  launch.maps);
}

}  // namespace ladder
