// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set (foreach_target). Tile sizes follow from the number of vector
// registers. AVX-512 and NEON have 32: 14 x 2 or 9 x 3 accumulators, the vectors of B and one
// element of A. SSE4 and AVX2 have 16: 6 x 2 or 4 x 3. A multiply-add has a latency of 4 cycles and
// two issue per cycle, so eight accumulators hide the latency.
#include "host/micro_kernel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/micro_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/cache_control.h>

#include <algorithm>
#include <iterator>
#include <type_traits>
#include <utility>

HWY_BEFORE_NAMESPACE();
namespace ladder::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;
using Tag = hn::ScalableTag<float>;
using Vector = hn::Vec<Tag>;
using Mask = hn::Mask<Tag>;
inline constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag{}));
// 32 vector registers
inline constexpr bool kHas32 = HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_NEON;
inline constexpr int kRows[] = {kHas32 ? 14 : 6, kHas32 ? 14 : 6, kHas32 ? 9 : 4};  // [vectors - 1]
// before AVX2, a masked load may fault
inline constexpr bool kPartialLoads = HWY_TARGET <= HWY_AVX2;
inline constexpr bool kMasksAreFree = HWY_TARGET <= HWY_AVX3;  // masked stores: no branch is better
static_assert(kRows[0] <= MicroKernel::kMostRows && std::size(kRows) == MicroKernel::kMostVectors);

// Hides a pointer's origin from the compiler. Otherwise the compiler computes the addresses of all
// rows before it uses the first one; they exceed the registers and take as long as several steps of
// k.
template <class T>
HWY_INLINE T* opaque(T* pointer) {
#if defined(__GNUC__)
  asm("" : "+r"(pointer));
#endif
  return pointer;
}

// Updates the last vector of a row of C, of which only `used` lanes belong to C.
template <bool kReads>
HWY_INLINE void update_tail(Vector sum, const TileArgs& args, float* c, int used) {
  HWY_ALIGN float line[kLanes];
  hn::Store(sum, Tag{}, line);
  for (int j = 0; j < used; ++j)
    c[j] = kReads ? args.alpha * line[j] + args.beta * c[j] : args.alpha * line[j];
}

// How a row of C is updated: stored as is, scaled by alpha, or with beta C added.
enum class Finish : std::uint8_t { kStore, kScale, kAdd };

// `last`: mask of the lanes of the last vector that belong to C.
template <Finish kFinish, int kVectors>
HWY_INLINE void update(const Vector (&sum)[kVectors], const TileArgs& args, Mask last, float* c) {
  const Tag d;
  const Vector alpha = hn::Set(d, args.alpha), beta = hn::Set(d, args.beta);
#pragma GCC unroll 3
  for (int v = 0; v < kVectors; ++v) {
    const int used = args.cols - v * kLanes;
    float* line = c + v * kLanes;
    if (v + 1 < kVectors || (!kMasksAreFree && used == kLanes)) {
      Vector result = kFinish == Finish::kStore ? sum[v] : hn::Mul(alpha, sum[v]);
      if constexpr (kFinish == Finish::kAdd) result = hn::MulAdd(beta, hn::LoadU(d, line), result);
      hn::StoreU(result, d, line);
    } else if constexpr (kPartialLoads) {
      Vector result = kFinish == Finish::kStore ? sum[v] : hn::Mul(alpha, sum[v]);
      if constexpr (kFinish == Finish::kAdd)
        result = hn::MulAdd(beta, hn::MaskedLoad(last, d, line), result);
      hn::BlendedStore(result, last, d, line);
    } else {
      update_tail<kFinish == Finish::kAdd>(sum[v], args, line, used);
    }
  }
}

// Writes whole vectors with streaming stores that bypass the caches.
template <int kTileRows, int kVectors>
HWY_INLINE void stream(const Vector (&sum)[kTileRows][kVectors], const TileArgs& args) {
  const Tag d;
  const Vector alpha = hn::Set(d, args.alpha);
  float* c = args.c;
  const std::int64_t c_ld = args.c_ld;
#pragma GCC unroll 14
  for (int i = 0; i < kTileRows; ++i, c = opaque(c + c_ld)) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) hn::Stream(hn::Mul(alpha, sum[i][v]), d, c + v * kLanes);
  }
}

// Whether stream() can write the tile.
template <int kVectors>
HWY_INLINE bool can_stream(const TileArgs& args) {
  return args.cols == kVectors * kLanes &&
         reinterpret_cast<std::uintptr_t>(args.c) % (kLanes * sizeof(float)) == 0 &&
         args.c_ld % kLanes == 0;
}

template <Finish kFinish, int kTileRows, int kVectors>
HWY_INLINE void update(const Vector (&sum)[kTileRows][kVectors], const TileArgs& args, Mask last) {
  float* c = args.c;
  const std::int64_t c_ld = args.c_ld;
#pragma GCC unroll 14
  for (int i = 0; i < kTileRows; ++i, c = opaque(c + c_ld)) update<kFinish>(sum[i], args, last, c);
}

// Prefetches rows of C into L2, not L1: rows a power of two apart map to the same L1 sets, and
// there are more rows than a set has ways.
template <int kTileRows, int kVectors>
HWY_INLINE void prefetch(const TileArgs& args) {
  const float* c = args.c;
#pragma GCC unroll 14
  for (int i = 0; i < kTileRows; ++i, c = opaque(c + args.c_ld)) {
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v) __builtin_prefetch(c + v * kLanes, 0, 2);
    __builtin_prefetch(c + args.cols - 1, 0, 2);
  }
}

template <int kTileRows, int kVectors, Form kForm>
void tile(const TileArgs& args) {
  const Tag d;
  Vector sum[kTileRows][kVectors];
  if (args.c_is_far) prefetch<kTileRows, kVectors>(args);
  const std::int64_t a_ld = args.a_ld, b_ld = args.b_ld;
  constexpr bool kARows = kForm == Form::kInRows || kForm == Form::kInRowsCopyB;
  constexpr bool kCopies = kForm == Form::kInColumnsCopyB || kForm == Form::kInRowsCopyB;
  constexpr bool kPacked = kForm == Form::kPacked || kForm == Form::kPackedAhead;
  const std::int64_t a_step = kARows ? 1 : a_ld;
  // Rows of A read in place, in groups: addressing modes can add one or two row distances.
  constexpr int kGroup = 3, kGroups = kARows ? (kTileRows + kGroup - 1) / kGroup : 1;
  float* copy = args.b_copy;
  const auto last = hn::FirstN(d, static_cast<std::size_t>(args.cols - (kVectors - 1) * kLanes));

  constexpr std::int64_t kFar = 32;  // rows of B
  // One step of k: an outer product. A masked load occupies a multiply-add port, so only a partial
  // vector uses one.
  const auto step = [&](const float* const(&ak)[kGroups], std::int64_t k, const float* bk,
                        auto is_cut, auto is_first) HWY_ATTR {
    Vector bv[kVectors];
#pragma GCC unroll 3
    for (int v = 0; v < kVectors; ++v)
      bv[v] = is_cut && v + 1 == kVectors ? hn::MaskedLoad(last, d, bk + v * kLanes)
                                          : hn::LoadU(d, bk + v * kLanes);
    if constexpr (kCopies) {
      // Prefetches distant rows into L2; in L1, rows a page apart share sets.
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v) {
        __builtin_prefetch(bk + kFar * b_ld + v * kLanes, 0, 2);
        hn::Store(bv[v], d, copy + v * kLanes);
      }
      copy += kVectors * kLanes;
    }
#pragma GCC unroll 14
    for (int i = 0; i < kTileRows; ++i) {
      const Vector av =
          hn::Set(d, kARows ? ak[i / kGroup][i % kGroup * a_ld + k] : ak[0][k * a_ld + i]);
#pragma GCC unroll 3
      for (int v = 0; v < kVectors; ++v)
        sum[i][v] = is_first ? hn::Mul(av, bv[v]) : hn::MulAdd(av, bv[v], sum[i][v]);
    }
  };
  // Main loop. Operands in place need address updates per step and small tiles have few products,
  // so the loop is unrolled by two steps of k.
  const auto walk = [&](auto is_cut) HWY_ATTR {
    const std::false_type later;
    const float* a[kGroups] = {args.a};
#pragma GCC unroll 5
    for (int group = 1; group < kGroups; ++group) a[group] = opaque(a[group - 1] + kGroup * a_ld);
    const auto advance = [&](std::int64_t steps) HWY_ATTR {
#pragma GCC unroll 5
      for (int group = 0; group < kGroups; ++group) a[group] += steps * a_step;
    };
    const float* b = args.b + b_ld;
    std::int64_t k = args.depth - 1;
    step(a, 0, args.b, is_cut, std::true_type{});
    advance(1);
    if constexpr (kForm == Form::kPackedAhead) {
      constexpr int kLine = 64 / sizeof(float);
      for (const float* ahead = args.ahead; k >= kAheadSteps; k -= kAheadSteps, ahead += kLine) {
        __builtin_prefetch(ahead, 0, 3);
#pragma GCC unroll 1
        for (int i = 0; i < kAheadSteps; ++i) {
          step(a, 0, b, is_cut, later);
          advance(1);
          b += b_ld;
        }
      }
    }
    for (; !kPacked && !kCopies && k > 1; k -= 2) {
      step(a, 0, b, is_cut, later);
      step(a, 1, b + b_ld, is_cut, later);
      advance(2);
      b += 2 * b_ld;
    }
    for (; k > 0; --k) {
      step(a, 0, b, is_cut, later);
      advance(1);
      b += b_ld;
    }
  };
  if (kPartialLoads && !kPacked && args.cols != kVectors * kLanes) {
    walk(std::true_type{});
  } else {
    walk(std::false_type{});
  }

  if (args.beta != 0.0F) return update<Finish::kAdd>(sum, args, last);
  if (args.streams && can_stream<kVectors>(args)) return stream(sum, args);
  if (args.alpha != 1.0F) return update<Finish::kScale>(sum, args, last);
  update<Finish::kStore>(sum, args, last);
}

// Copies one row of a panel in whole vectors.
HWY_INLINE void copy_line(const float* from, int lines, float* to) {
  const Tag d;
  int i = 0;
  for (; i + kLanes <= lines; i += kLanes) hn::StoreU(hn::LoadU(d, from + i), d, to + i);
  const int rest = lines - i;
  if (rest == 0) return;
  if constexpr (kPartialLoads) {
    hn::StoreU(hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(rest)), d, from + i), d,
               to + i);
  } else {
    for (int j = 0; j < kLanes; ++j) to[i + j] = j < rest ? from[i + j] : 0.0F;
  }
}

void copy(const float* x, std::int64_t ld, int lines, std::int64_t depth, float* y,
          std::int64_t y_ld) {
  for (std::int64_t k = 0; k < depth; ++k) copy_line(x + k * ld, lines, y + k * y_ld);
}

#if HWY_TARGET != HWY_SCALAR
// Transposes 4 x 4 elements.
HWY_INLINE void transpose_4x4(const float* x, std::int64_t ld, float* y, std::int64_t y_ld) {
  const hn::CappedTag<float, 4> d4;
  const hn::RepartitionToWide<decltype(d4)> d2;
  const auto r0 = hn::LoadU(d4, x), r1 = hn::LoadU(d4, x + ld);
  const auto r2 = hn::LoadU(d4, x + 2 * ld), r3 = hn::LoadU(d4, x + 3 * ld);
  const auto p01l = hn::BitCast(d2, hn::InterleaveLower(d4, r0, r1));
  const auto p23l = hn::BitCast(d2, hn::InterleaveLower(d4, r2, r3));
  const auto p01u = hn::BitCast(d2, hn::InterleaveUpper(d4, r0, r1));
  const auto p23u = hn::BitCast(d2, hn::InterleaveUpper(d4, r2, r3));
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, p01l, p23l)), d4, y);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, p01l, p23l)), d4, y + y_ld);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveLower(d2, p01u, p23u)), d4, y + 2 * y_ld);
  hn::StoreU(hn::BitCast(d4, hn::InterleaveUpper(d2, p01u, p23u)), d4, y + 3 * y_ld);
}
#endif

#if HWY_TARGET <= HWY_AVX2
// Transposes a square of as many elements as a vector has lanes, from at most as many rows: first 4
// x 4 squares inside the vectors, then the squares themselves.
HWY_INLINE void transpose_square(const float* x, std::int64_t ld, int lines, float* y,
                                 std::int64_t y_ld) {
  const Tag d;
  const hn::RepartitionToWide<Tag> d2;
  constexpr int kSquares = kLanes / 4;
  static_assert(kSquares == 2 || kSquares == 4);
  const auto mask = hn::FirstN(d, static_cast<std::size_t>(lines));
  const auto store = [&](Vector v, int k) HWY_ATTR {
    lines == kLanes ? hn::StoreU(v, d, y + k * y_ld) : hn::BlendedStore(v, mask, d, y + k * y_ld);
  };
  Vector square[kSquares][4];  // of four rows: block b of [i] is step 4 b + i
#pragma GCC unroll 4
  for (int s = 0; s < kSquares; ++s) {
    const auto line = [&](int i) HWY_ATTR {
      return hn::LoadU(d, x + std::min(4 * s + i, lines - 1) * ld);
    };
    const Vector r0 = line(0), r1 = line(1), r2 = line(2), r3 = line(3);
    const auto p01l = hn::BitCast(d2, hn::InterleaveLower(d, r0, r1));
    const auto p23l = hn::BitCast(d2, hn::InterleaveLower(d, r2, r3));
    const auto p01u = hn::BitCast(d2, hn::InterleaveUpper(d, r0, r1));
    const auto p23u = hn::BitCast(d2, hn::InterleaveUpper(d, r2, r3));
    square[s][0] = hn::BitCast(d, hn::InterleaveLower(d2, p01l, p23l));
    square[s][1] = hn::BitCast(d, hn::InterleaveUpper(d2, p01l, p23l));
    square[s][2] = hn::BitCast(d, hn::InterleaveLower(d2, p01u, p23u));
    square[s][3] = hn::BitCast(d, hn::InterleaveUpper(d2, p01u, p23u));
  }
  if constexpr (kSquares == 2) {
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      store(hn::ConcatLowerLower(d, square[1][i], square[0][i]), i);
      store(hn::ConcatUpperUpper(d, square[1][i], square[0][i]), 4 + i);
    }
  } else {
    const auto interleave = [&](Vector even, Vector odd, int k) HWY_ATTR {
      store(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(odd), even), k);
      store(hn::OddEvenBlocks(odd, hn::SwapAdjacentBlocks(even)), k + 4);
    };
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) {
      interleave(hn::ConcatLowerLower(d, square[2][i], square[0][i]),
                 hn::ConcatLowerLower(d, square[3][i], square[1][i]), i);
      interleave(hn::ConcatUpperUpper(d, square[2][i], square[0][i]),
                 hn::ConcatUpperUpper(d, square[3][i], square[1][i]), 8 + i);
    }
  }
}
#endif

// The last group of four rows overlaps the one before. One cache line of each row is used up before
// the next four rows are read, since rows a power of two apart share L1 sets.
void transpose(const float* x, std::int64_t ld, int lines, std::int64_t depth, float* y,
               std::int64_t y_ld) {
  std::int64_t done = 0;
#if HWY_TARGET <= HWY_AVX2
  for (; done + kLanes <= depth; done += kLanes) {
    for (int i = 0; i < lines; i += kLanes)
      transpose_square(x + i * ld + done, ld, std::min(kLanes, lines - i), y + done * y_ld + i,
                       y_ld);
  }
#endif
#if HWY_TARGET != HWY_SCALAR
  if (lines >= 4) {
    constexpr std::int64_t kCacheLine = 16;
    for (; done + 4 <= depth; done = std::min(done + kCacheLine, depth / 4 * 4)) {
      const std::int64_t end = std::min(done + kCacheLine, depth / 4 * 4);
      for (int i = 0; i < lines; i += 4) {
        const int first = std::min(i, lines - 4);
        for (std::int64_t k = done; k < end; k += 4)
          transpose_4x4(x + first * ld + k, ld, y + k * y_ld + first, y_ld);
      }
    }
  }
#endif
  for (int i = 0; i < lines; ++i) {
    for (std::int64_t k = done; k < depth; ++k) y[k * y_ld + i] = x[i * ld + k];
  }
}

template <Form kForm, int kVectors, int... kRowsLessOne>
void fill(MicroKernel& out, std::integer_sequence<int, kRowsLessOne...>) {
  ((out.tiles[static_cast<int>(kForm)][kVectors - 1][kRowsLessOne] =
        tile<kRowsLessOne + 1, kVectors, kForm>),
   ...);
}

// The forms with an additional task exist only for tiles of one or two vectors with at least half
// of the maximum rows.
template <Form kForm, int kVectors, int... kRowsLess>
void fill_tall(MicroKernel& out, std::integer_sequence<int, kRowsLess...>) {
  constexpr int kMost = kRows[kVectors - 1];
  auto& tiles = out.tiles[static_cast<int>(kForm)][kVectors - 1];
  ((tiles[kMost - kRowsLess - 1] = tile<kMost - kRowsLess, kVectors, kForm>), ...);
}

template <Form kForm>
void fill_tall(MicroKernel& out) {
  fill_tall<kForm, 1>(out, std::make_integer_sequence<int, kRows[0] / 2 + 1>{});
  fill_tall<kForm, 2>(out, std::make_integer_sequence<int, kRows[1] / 2 + 1>{});
}

template <Form kForm>
void fill(MicroKernel& out) {
  fill<kForm, 1>(out, std::make_integer_sequence<int, kRows[0]>{});
  fill<kForm, 2>(out, std::make_integer_sequence<int, kRows[1]>{});
  fill<kForm, 3>(out, std::make_integer_sequence<int, kRows[2]>{});
}

MicroKernel describe() {
  MicroKernel out;
  out.target = hwy::TargetName(HWY_TARGET);
  out.lanes = kLanes;
  std::ranges::copy(kRows, out.rows);
  out.partial_loads = kPartialLoads;
  fill<Form::kPacked>(out);
  fill<Form::kInColumns>(out);
  fill<Form::kInRows>(out);
  fill_tall<Form::kPackedAhead>(out);
  fill_tall<Form::kInColumnsCopyB>(out);
  fill_tall<Form::kInRowsCopyB>(out);
  out.copy = copy;
  out.flush = hwy::FlushStream;
  out.transpose = transpose;
  return out;
}

}  // namespace ladder::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ladder::host {

HWY_EXPORT(describe);

MicroKernel choose_micro_kernel() { return HWY_DYNAMIC_DISPATCH(describe)(); }

const MicroKernel& micro_kernel() {
  static const MicroKernel kernel = choose_micro_kernel();
  return kernel;
}

}  // namespace ladder::host
#endif
