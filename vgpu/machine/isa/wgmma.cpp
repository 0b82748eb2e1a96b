// SPDX-License-Identifier: Apache-2.0
// Products of wgmma. Operands are decoded once into the order in which the multiplication reads
// them; accumulators stay in the instruction's registers. Register 4 j + 2 h + e of a lane (f32) is
// row 16 warp + lane / 4 + 8 h, column 8 j + 2 (lane % 4) + e. One register of all lanes is
// therefore the product of rows, each repeated for four lanes, and four columns, repeated.
// Numerics: as in matrix.cpp or hopper_sums.hpp.
#include "machine/wgmma.hpp"

#include "machine/isa/hopper_sums.hpp"
#include "machine/isa/synchronise.hpp"
#include "machine/isa/tensor_values.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

constexpr u32 kRows = 64, kRowsOfWarp = 16, kMostN = 256, kMostDepth = 32,
              kColumns = 8;  // columns per step of n

// What a sparse A has besides.
template <bool kSparse>
struct Along {
  u8 of[kMostDepth][2][kLanes];  // of one warp: the step along k of the element of A there
  u32 operator()(u32 k, u32 h, u32 lane) const { return of[k][h][lane]; }
};
template <>
struct Along<false> {
  constexpr u32 operator()(u32 k, u32, u32) const { return k; }
};

// kSparse: A's rows have half of k.
template <class Value, bool kSparse>
struct Operands {
  static constexpr u32 kMostSteps = kSparse ? 2 * kMostDepth : kMostDepth;
  alignas(64) Value a[kMostDepth][2][kLanes];  // of one warp: [k][h][lane]
  alignas(
      64) Value b[kMostN / kColumns][kMostSteps][2][kColumns];  // [j][k][e]: four columns, twice
  Value rows[kRows][kMostDepth];
  [[no_unique_address]] Along<kSparse> along;

  // The factors in columns 8 j + 2 (lane % 4) + e of B for element k of A's row.
  Value met(u32 j, u32 k, u32 e, u32 h, u32 lane) const {
    return b[j][along(k, h, lane)][e][lane % kColumns];
  }
};

template <class In>
[[gnu::always_inline]] inline In element_at(const std::byte* piece, u32 i) {
  In value;
  __builtin_memcpy(&value, piece + i * sizeof(In), sizeof(In));
  return value;
}

template <class In, class Value, bool kSparse>
void read_a(const WgmmaStep& step, Operands<Value, kSparse>& to) {
  constexpr u32 kDepth = kWgmmaBytesOfA / sizeof(In), kInPiece = 16 / sizeof(In);
  const u32 flags = step.insn->sub;
  if ((flags & kWgmmaRegisters) != 0) {
    const u32* const slots = step.lists + step.insn->list +
                             wgmma_registers_of_d(static_cast<WgmmaType>(step.insn->vector),
                                                  static_cast<u32>(step.insn->imm));
    constexpr u32 kInRegister = 4 / sizeof(In);
    for (u32 r = 0; r < 4; ++r) {
      for (u32 warp = 0; warp < Block::kWarpsOfGroup; ++warp) {
        const u32* const from = slot<u32>(step.windows[warp], slots[r]);
        for (u32 lane = 0; lane < kLanes; ++lane) {
          const u32 row = warp * kRowsOfWarp + lane / 4 + 8 * (r % 2);
          for (u32 i = 0; i < kInRegister; ++i) {
            const u32 k = (lane % 4 + 4 * (r / 2)) * kInRegister + i;
            to.rows[row][k] =
                value_of(element_at<In>(reinterpret_cast<const std::byte*>(from + lane), i));
          }
        }
      }
    }
  } else if (sizeof(In) == 2 && (flags & kWgmmaTransposeA) != 0) {
    for (u32 k = 0; k < kDepth; ++k) {
      for (u32 piece = 0; piece < kRows / kInPiece; ++piece) {
        const std::byte* const at = step.shared + step.a.along_mn(k, piece);
        for (u32 i = 0; i < kInPiece; ++i)
          to.rows[piece * kInPiece + i][k] = value_of(element_at<In>(at, i));
      }
    }
  } else {
    for (u32 row = 0; row < kRows; ++row) {
      for (u32 piece = 0; piece < 2; ++piece) {
        const std::byte* const at = step.shared + step.a.along_k(row, piece);
        for (u32 i = 0; i < kInPiece; ++i)
          to.rows[row][piece * kInPiece + i] = value_of(element_at<In>(at, i));
      }
    }
  }
  if ((flags & (kWgmmaNegateA | kWgmmaNegateB)) == 0 ||
      (flags & (kWgmmaNegateA | kWgmmaNegateB)) == (kWgmmaNegateA | kWgmmaNegateB)) {
    return;
  }
  for (u32 row = 0; row < kRows; ++row) {
    for (u32 k = 0; k < kDepth; ++k) to.rows[row][k] = negated(to.rows[row][k]);
  }
}

template <class In, class Value, bool kSparse>
void read_b(const WgmmaStep& step, Operands<Value, kSparse>& to) {
  constexpr u32 kBytes = wgmma_bytes_of_b(kSparse ? kWgmmaSparse : 0);
  constexpr u32 kDepth = kBytes / sizeof(In), kInPiece = 16 / sizeof(In);
  const u32 n = static_cast<u32>(step.insn->imm);
  const auto put = [&to](u32 j, u32 k, u32 column, Value value) {
    to.b[j][k][column % 2][column / 2] = value;
    to.b[j][k][column % 2][column / 2 + 4] = value;
  };
  for (u32 j = 0; j < n / kColumns; ++j) {
    if (sizeof(In) == 2 && (step.insn->sub & kWgmmaTransposeB) != 0) {
      for (u32 k = 0; k < kDepth; ++k) {
        const std::byte* const at = step.shared + step.b.along_mn(k, j);
        for (u32 i = 0; i < kColumns; ++i) put(j, k, i, value_of(element_at<In>(at, i)));
      }
    } else {
      for (u32 i = 0; i < kColumns; ++i) {
        for (u32 piece = 0; piece < kBytes / 16; ++piece) {
          const std::byte* const at = step.shared + step.b.along_k(j * kColumns + i, piece);
          for (u32 k = 0; k < kInPiece; ++k) {
            put(j, piece * kInPiece + k, i, value_of(element_at<In>(at, k)));
          }
        }
      }
    }
  }
}

template <class Value, bool kSparse>
void spread_rows(u32 warp, u32 depth, Operands<Value, kSparse>& operands) {
  for (u32 k = 0; k < depth; ++k) {
    for (u32 h = 0; h < 2; ++h) {
      for (u32 lane = 0; lane < kLanes; ++lane) {
        operands.a[k][h][lane] = operands.rows[warp * kRowsOfWarp + lane / 4 + 8 * h][k];
      }
    }
  }
}

// Where the elements of a warp's rows are along k.
void place_rows(const WgmmaStep& step, u32 warp, WgmmaType type, u32 depth, Along<true>& along) {
  const Insn& insn = *step.insn;
  const SparseLayout layout = wgmma_metadata(type);
  const u32 of_chunk = depth / layout.chunks;  // elements that are kept
  const u32* const words =
      slot<u32>(step.windows[warp], step.lists[insn.list + wgmma_register_of_metadata(insn)]);
  for (u32 k = 0; k < depth; ++k) {
    for (u32 h = 0; h < 2; ++h) {
      const auto at = layout.place((insn.sub & kWgmmaSecondPair) != 0 ? 1 : 0, h, k / of_chunk);
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const u32 group = lane / kThreadsOfRow * kThreadsOfRow;
        const u32 metadata = words[group + at.thread] >> at.bit & 15;
        const u32 position = position_in_chunk(metadata, k % of_chunk);
        along.of[k][h][lane] =
            static_cast<u8>(of_chunk == 1 ? 2 * k + position / 2 : k / 2 * 4 + position);
      }
    }
  }
}

// sums[h][lane] += product of A[h] and column 8 j + 2 (lane % 4) + e of B.
void multiply(const Operands<float, false>& operands, u32 depth, u32 j, u32 e,
              float (&sums)[2][kLanes]) {
  using Vector = Floats;
  constexpr u32 kVectors = 2 * kLanes / Vector::kWidth;
  Vector total[kVectors];
  for (u32 v = 0; v < kVectors; ++v) total[v] = Vector::load(&sums[0][0] + v * Vector::kWidth);
  for (u32 k = 0; k < depth; ++k) {
    const Vector columns = Vector::load_repeated(operands.b[j][k][e]);
    const float* const rows = operands.a[k][0];
#pragma GCC unroll 16
    for (u32 v = 0; v < kVectors; ++v) {
      total[v] = multiply_add(Vector::load(rows + v * Vector::kWidth), columns, total[v]);
    }
  }
  for (u32 v = 0; v < kVectors; ++v) total[v].store(&sums[0][0] + v * Vector::kWidth);
}

void multiply(const Operands<float, true>& operands, u32 depth, u32 j, u32 e,
              float (&sums)[2][kLanes]) {
  for (u32 k = 0; k < depth; ++k) {
    for (u32 h = 0; h < 2; ++h) {
      for (u32 lane = 0; lane < kLanes; ++lane) {
        sums[h][lane] =
            __builtin_fmaf(operands.a[k][h][lane], operands.met(j, k, e, h, lane), sums[h][lane]);
      }
    }
  }
}

template <bool kSparse>
void multiply(const Operands<float, kSparse>& operands, u32 depth, u32 j, u32 e,
              const HopperFormat& format, float (&sums)[2][kLanes]) {
  HopperProducts<kLanes> products;
  for (u32 h = 0; h < 2; ++h) {
    for (u32 k = 0; k < depth; ++k) {
      __builtin_memcpy(products.a[k], operands.a[k][h], sizeof(products.a[k]));
      if (!kSparse && h != 0) continue;  // the same for all rows
      for (u32 lane = 0; lane < kLanes; ++lane)
        products.b[k][lane] = operands.met(j, k, e, h, lane);
    }
    hopper_sums(products, depth, format, sums[h]);
  }
}

template <bool kSparse>
void multiply(const Operands<i32, kSparse>& operands, u32 depth, u32 j, u32 e,
              i64 (&sums)[2][kLanes]) {
  for (u32 k = 0; k < depth; ++k) {
    for (u32 h = 0; h < 2; ++h) {
      for (u32 lane = 0; lane < kLanes; ++lane)
        sums[h][lane] += i64{operands.a[k][h][lane]} * operands.met(j, k, e, h, lane);
    }
  }
}

// One register of D for all lanes, or half of one if D is f16. `slots`: slots of D.
template <class Out, class Sum>
[[gnu::always_inline]] inline void load_sums(std::byte* window, const u32* slots, u32 j, u32 e,
                                             Sum (&sums)[2][kLanes]) {
  for (u32 h = 0; h < 2; ++h) {
    if constexpr (sizeof(Out) == 2) {
      const u32* const from = slot<u32>(window, slots[2 * j + h]);
      for (u32 i = 0; i < kLanes; ++i)
        sums[h][i] = to_float(f16{static_cast<u16>(from[i] >> 16 * e)});
    } else {
      const Out* const from = slot<Out>(window, slots[4 * j + 2 * h + e]);
      for (u32 i = 0; i < kLanes; ++i) sums[h][i] = from[i];
    }
  }
}
template <class Out, class Sum>
[[gnu::always_inline]] inline void store_sums(std::byte* window, const u32* slots, u32 j, u32 e,
                                              bool saturates, const Sum (&sums)[2][kLanes]) {
  for (u32 h = 0; h < 2; ++h) {
    if constexpr (sizeof(Out) == 2) {
      u32* const to = slot<u32>(window, slots[2 * j + h]);
      const u32 keep = 0xffffu << 16 * (1 - e);
      for (u32 i = 0; i < kLanes; ++i)
        to[i] = (to[i] & keep) | static_cast<u32>(to_half(sums[h][i]).bits) << 16 * e;
    } else if constexpr (std::is_same_v<Out, float>) {
      float* const to = slot<float>(window, slots[4 * j + 2 * h + e]);
      for (u32 i = 0; i < kLanes; ++i) to[i] = canonical(sums[h][i]);
    } else {
      i32* const to = slot<i32>(window, slots[4 * j + 2 * h + e]);
      constexpr i64 kMost = 0x7fffffff, kLeast = -kMost - 1;
      for (u32 i = 0; i < kLanes; ++i) {
        const i64 sum = sums[h][i];
        to[i] = static_cast<i32>(!saturates     ? sum
                                 : sum > kMost  ? kMost
                                 : sum < kLeast ? kLeast
                                                : sum);
      }
    }
  }
}

template <class A, class B, class Out, bool kSparse>
void product(const WgmmaStep& step) {
  using Value = std::conditional_t<std::is_same_v<Out, i32>, i32, float>;
  using Sum = std::conditional_t<std::is_same_v<Out, i32>, i64, float>;
  constexpr u32 kDepth = kWgmmaBytesOfA / sizeof(A);
  Operands<Value, kSparse> operands;
  read_a<A>(step, operands);
  read_b<B>(step, operands);
  const u32 n = static_cast<u32>(step.insn->imm);
  const u32* const slots = step.lists + step.insn->list;
  for (u32 warp = 0; warp < Block::kWarpsOfGroup; ++warp) {
    spread_rows(warp, kDepth, operands);
    if constexpr (kSparse)
      place_rows(step, warp, static_cast<WgmmaType>(step.insn->bytes), kDepth, operands.along);
    std::byte* const window = step.windows[warp];
    for (u32 j = 0; j < n / kColumns; ++j) {
      for (u32 e = 0; e < 2; ++e) {
        alignas(64) Sum sums[2][kLanes] = {};
        if (step.adds) load_sums<Out>(window, slots, j, e, sums);
        if constexpr (std::is_same_v<Value, float>) {
          constexpr HopperFormat kFormat = hopper_format<A, B, Out>();
          if (step.hopper)
            multiply(operands, kDepth, j, e, kFormat, sums);
          else
            multiply(operands, kDepth, j, e, sums);
        } else {
          multiply(operands, kDepth, j, e, sums);
        }
        store_sums<Out>(window, slots, j, e, (step.insn->sub & kWgmmaSaturate) != 0, sums);
      }
    }
  }
}

template <class A, class B, class Out>
WgmmaKernel kernel_for(const Insn& insn) {
  return (insn.sub & kWgmmaSparse) != 0 ? &product<A, B, Out, true> : &product<A, B, Out, false>;
}

// Two types of 8 bits.
template <class First, class Second, class Out>
WgmmaKernel narrow_kernel(const Insn& insn, WgmmaType first) {
  const auto a = static_cast<WgmmaType>(insn.bytes), b = static_cast<WgmmaType>(insn.width);
  if (a == first)
    return b == first ? kernel_for<First, First, Out>(insn) : kernel_for<First, Second, Out>(insn);
  return b == first ? kernel_for<Second, First, Out>(insn) : kernel_for<Second, Second, Out>(insn);
}

WgmmaKernel kernel_of(const Insn& insn) {
  const bool half = static_cast<WgmmaType>(insn.vector) == WgmmaType::kF16;
  switch (static_cast<WgmmaType>(insn.bytes)) {
    case WgmmaType::kF16:
      return half ? kernel_for<f16, f16, f16>(insn) : kernel_for<f16, f16, float>(insn);
    case WgmmaType::kBf16: return kernel_for<bf16, bf16, float>(insn);
    case WgmmaType::kTf32: return kernel_for<tf32, tf32, float>(insn);
    case WgmmaType::kE4m3:
    case WgmmaType::kE5m2:
      return half ? narrow_kernel<e4m3, e5m2, f16>(insn, WgmmaType::kE4m3)
                  : narrow_kernel<e4m3, e5m2, float>(insn, WgmmaType::kE4m3);
    default: return narrow_kernel<i8, u8, i32>(insn, WgmmaType::kS8);
  }
}

void multiply_async(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  warp.block->warpgroups->begin(warp, insn, kernel_of(insn));
  ++warp.pc;
}

void fence(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.block->warpgroups->fence(warp);
  ++warp.pc;
}

// Replaces another instruction: checks its registers, then executes it.
void watched(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  const Launch& launch = warp.block->launch;
  warp.block->warpgroups->look(warp, insn);
  const u16 op = launch.program.watches.at(static_cast<u32>(&insn - warp.code)).op;
  launch.isa.handlers[op](warp, window, insn, mask);
}

void commit(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.block->warpgroups->commit(warp);
  ++warp.pc;
}

// imm: groups that may remain incomplete.
void wait(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.wants_warpgroup = !warp.block->warpgroups->wait(warp, static_cast<u64>(insn.imm));
  if (!warp.wants_warpgroup) {
    ++warp.pc;
    return;
  }
  count_later(warp);
  ++warp.polls;
  warp.budget = 0;
}

}  // namespace

void define_wgmma(OperationSink& sink) {
  op_special(sink, "wgmma.mma_async", &multiply_async, true);
  op_special(sink, "wgmma.fence", &fence, true);
  op_special(sink, "wgmma.commit_group", &commit, true);
  op_special(sink, "wgmma.wait_group", &wait, true);
  op_special(sink, "wgmma.watched", &watched);
}

}  // namespace vgpu::machine::VGPU_ISA
