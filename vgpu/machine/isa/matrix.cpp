// SPDX-License-Identifier: Apache-2.0
// Matrix instructions of a warp: mma, mma.sp, wmma, ldmatrix, stmatrix, movmatrix. With
// Numerics::kSingle, products are exact and added one after another to C in order of k, each sum
// rounded to nearest in single precision (double for .f64); .f16 results are rounded once at the
// end. The hardware adds several products at once and truncates; both agree if sums are exact.
// Numerics::kHopper follows hopper_sums.hpp, except for .f64.
#include "machine/fragments.hpp"
#include "machine/isa/hopper_sums.hpp"
#include "machine/isa/mma_registers.hpp"
#include "machine/isa/race.hpp"
#include "machine/isa/sparse.hpp"
#include "machine/isa/synchronise.hpp"
#include "machine/isa/tensor_values.hpp"
#include "machine/isa/watch.hpp"
#include "machine/isa/words.hpp"

namespace vgpu::machine::VGPU_ISA {
namespace {

template <class T>
using Bits = std::conditional_t<sizeof(T) == 8, u64, u32>;

// Element i of a lane, from 32-bit registers (two 16-bit elements each) or 64-bit ones. kPairs: the
// words of 64 bits are in two rows, as in machine code.
template <class T, bool kPairs = false>
[[gnu::always_inline]] inline T element(std::byte* window, const u32* slots, u32 i, u32 lane) {
  if constexpr (kPairs) {
    const u32* const low = slot<u32>(window, slots[i]);
    return bits_as<T>(low[lane] | u64{low[kLanes + lane]} << 32);
  } else if constexpr (sizeof(T) == 2) {
    const u32 both = slot<u32>(window, slots[i / 2])[lane];
    return T{static_cast<u16>(both >> 16 * (i % 2))};
  } else {
    return bits_as<T>(slot<Bits<T>>(window, slots[i])[lane]);
  }
}

template <class T>
inline constexpr u32 kPerRegister = sizeof(T) == 2 ? 2 : 1;

// Rounds value(lane, i) to T and stores it in the registers.
template <class T, bool kPairs = false, class F>
[[gnu::always_inline]] inline void put(std::byte* window, const u32* slots, u32 registers,
                                       F value) {
  for (u32 r = 0; r < registers; ++r) {
    if (slots[r] == kNone) continue;
    if constexpr (kPairs) {
      for (u32 lane = 0; lane < kLanes; ++lane) {
        const u64 bits = bits_as<u64>(canonical(value(lane, r)));
        u32* const low = slot<u32>(window, slots[r]);
        low[lane] = static_cast<u32>(bits);
        low[kLanes + lane] = static_cast<u32>(bits >> 32);
      }
    } else if constexpr (sizeof(T) == 2) {
      write_lanes<u32>(window, slots[r], kAllLanes, [&](u32 lane) VGPU_INLINE {
        const u32 low = to_half(value(lane, 2 * r)).bits,
                  high = to_half(value(lane, 2 * r + 1)).bits;
        return low | high << 16;
      });
    } else {
      write_lanes<T>(window, slots[r], kAllLanes,
                     [&](u32 lane) VGPU_INLINE { return canonical(value(lane, r)); });
    }
  }
}

// Where element k of a dense row of A is along k.
struct DenseRows {
  constexpr u32 operator()(u32, u32 k) const { return k; }
};

// C += A B. `along(i, k)`: the row of B by which element k of A's row i is multiplied.
template <u32 M, u32 N, u32 L, u32 K, class T, class Along>
[[gnu::always_inline]] inline void multiply(const T (&a)[M][L], const T (&b)[K][N], T (&c)[M][N],
                                            const Along& along) {
  for (u32 i = 0; i < M; ++i) {
    for (u32 k = 0; k < L; ++k) {
      const T factor = a[i][k];
      const T(&row)[N] = b[along(i, k)];
      for (u32 j = 0; j < N; ++j) {
        if constexpr (sizeof(T) == 4)
          c[i][j] = __builtin_fmaf(factor, row[j], c[i][j]);
        else
          c[i][j] = __builtin_fma(factor, row[j], c[i][j]);
      }
    }
  }
}

// The same with the launch's Numerics.
template <class In, class Out, u32 M, u32 N, u32 L, u32 K, class T, class Along = DenseRows>
[[gnu::always_inline]] inline void multiply_as(const Warp& warp, const T (&a)[M][L],
                                               const T (&b)[K][N], T (&c)[M][N],
                                               const Along& along = {}) {
  if constexpr (std::is_same_v<T, float>) {
    if (warp.block->launch.config.numerics == Numerics::kHopper) {
      HopperProducts<N> products;
      for (u32 i = 0; i < M; ++i) {
        for (u32 k = 0; k < L; ++k) {
          if (!std::is_same_v<Along, DenseRows> || i == 0)
            __builtin_memcpy(products.b[k], b[along(i, k)], sizeof(b[0]));
          for (u32 j = 0; j < N; ++j) products.a[k][j] = a[i][k];
        }
        hopper_sums(products, L, hopper_format<In, In, Out>(), c[i]);
      }
      return;
    }
  }
  multiply(a, b, c, along);
}

// Insn::list: the registers of d, a, b, c in this order. kSparse: A has half of K's elements.
template <class In, class Out, u32 M, u32 K, bool kPairs = false, bool kSparse = false>
void mma(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  using Value = std::conditional_t<sizeof(Out) == 8, double, float>;
  constexpr bool kWide = sizeof(In) != 2;
  constexpr u32 N = 8, kKept = kSparse ? K / 2 : K;  // of a row of A
  constexpr u32 kA = M * kKept / kLanes, kB = K * N / kLanes, kC = M * N / kLanes;
  const u32* const d_slots = warp.lists + insn.list;
  const u32* const a_slots = d_slots + kC / kPerRegister<Out>;
  const u32* const b_slots = a_slots + kA / kPerRegister<In>;
  const u32* const c_slots = b_slots + kB / kPerRegister<In>;
  if constexpr (!kSparse && std::is_same_v<Value, float>) {
    if (warp.block->launch.config.numerics == Numerics::kSingle) {
      alignas(64) float sums[kC][kLanes];
      for (u32 i = 0; i < kC; ++i) {
        for (u32 lane = 0; lane < kLanes; ++lane)
          sums[i][lane] = value_of(element<Out>(window, c_slots, i, lane));
      }
      multiply_registers<In, K>(window, a_slots, b_slots, sums);
      put<Out>(window, d_slots, kC / kPerRegister<Out>,
               [&](u32 lane, u32 i) { return sums[i][lane]; });
      ++warp.pc;
      return;
    }
  }
  alignas(64) Value a[M][kKept], b[K][N], c[M][N];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    for (u32 i = 0; i < kA; ++i) {
      const Place at = place_in_a<kWide>(lane, i);
      a[at.row][at.column] = value_of(element<In, kPairs>(window, a_slots, i, lane));
    }
    for (u32 i = 0; i < kB; ++i) {
      const Place at = place_in_b<kWide>(lane, i);
      b[at.row][at.column] = value_of(element<In, kPairs>(window, b_slots, i, lane));
    }
    for (u32 i = 0; i < kC; ++i) {
      const Place at = place_in_c(lane, i);
      c[at.row][at.column] = value_of(element<Out, kPairs>(window, c_slots, i, lane));
    }
  }
  if constexpr (kSparse)
    multiply_as<In, Out>(warp, a, b, c, kept_elements<kKept, kWide>(warp, window, insn));
  else
    multiply_as<In, Out>(warp, a, b, c);
  put<Out, kPairs>(window, d_slots, kC / kPerRegister<Out>, [&](u32 lane, u32 i) {
    const Place at = place_in_c(lane, i);
    return c[at.row][at.column];
  });
  ++warp.pc;
}

// mma.m8n8k4 of f16. sub: 1 where A is column-major, 2 where B is.
template <class Out>
void mma_of_quads(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  constexpr u32 kSize = 8, K = 4, kSums = 8, kQuads = 4;  // elements of a lane
  constexpr bool kSingle = std::is_same_v<Out, float>;
  constexpr u32 kRegistersC = kSums / kPerRegister<Out>, kRegistersA = 2;
  const u32* const d_slots = warp.lists + insn.list;
  const u32* const a_slots = d_slots + kRegistersC;
  const u32* const b_slots = a_slots + kRegistersA;
  const u32* const c_slots = b_slots + kRegistersA;
  const bool a_by_lane = (insn.sub & 1) == 0, b_by_lane = (insn.sub & 2) != 0;
  float a[kQuads][kSize][K], b[kQuads][K][kSize], c[kQuads][kSize][kSize];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    const u32 quad = lane / 4 % kQuads;
    for (u32 i = 0; i < K; ++i) {
      const Place of_a = place_in_quad(a_by_lane, lane, i),
                  of_b = place_in_quad(b_by_lane, lane, i);
      a[quad][of_a.row][of_a.column] = value_of(element<f16>(window, a_slots, i, lane));
      b[quad][of_b.column][of_b.row] = value_of(element<f16>(window, b_slots, i, lane));
    }
    for (u32 i = 0; i < kSums; ++i) {
      const Place at = place_in_quad_sums(kSingle, lane, i);
      c[quad][at.row][at.column] = value_of(element<Out>(window, c_slots, i, lane));
    }
  }
  for (u32 quad = 0; quad < kQuads; ++quad) multiply_as<f16, Out>(warp, a[quad], b[quad], c[quad]);
  put<Out>(window, d_slots, kRegistersC, [&](u32 lane, u32 i) {
    const Place at = place_in_quad_sums(kSingle, lane, i);
    return c[lane / 4 % kQuads][at.row][at.column];
  });
  ++warp.pc;
}

// Products of 8-bit numbers, as ptxas makes them for sm_90: a product of f16 with the lower pairs
// of bytes of A's registers, then one with the upper pairs that is added to it; then the sum is
// added to C. QMMA of sm_89 and sm_120 is executed likewise; its sums are exact where these are.
// kWords: of a row of A.
template <class A, class B, class Out, u32 kWords, bool kSparse>
void mma_of_bytes(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  constexpr u32 M = 16, kC = 4, kRegistersC = kC / kPerRegister<Out>;
  using Factors = WordFactors<M, kWords, kSparse>;
  constexpr u32 N = Factors::kColumns, L = 2 * kWords;
  const u32* const d_slots = warp.lists + insn.list;
  const u32* const c_slots = d_slots + kRegistersC + Factors::kRegisters;
  const Factors factors(warp, window, insn, d_slots + kRegistersC);
  alignas(64) float sums[M][N] = {};
  for (u32 half = 0; half < 2; ++half) {
    for (u32 i = 0; i < M; ++i) {
      float a[1][L], b[L][N], c[1][N];
      for (u32 k = 0; k < L; ++k) {
        const u32 shift = 16 * half + 8 * (k % 2);
        a[0][k] = value_of(A{static_cast<u8>(factors.of_a(i, k / 2) >> shift)});
        for (u32 j = 0; j < N; ++j)
          b[k][j] = value_of(B{static_cast<u8>(factors.of_b(i, j, k / 2) >> shift)});
      }
      __builtin_memcpy(c[0], sums[i], sizeof(c[0]));
      multiply_as<f16, Out>(warp, a, b, c);
      __builtin_memcpy(sums[i], c[0], sizeof(c[0]));
    }
  }
  for (u32 lane = 0; lane < kLanes; ++lane) {
    for (u32 i = 0; i < kC; ++i) {
      const Place at = place_in_c(lane, i);
      sums[at.row][at.column] += value_of(element<Out>(window, c_slots, i, lane));
    }
  }
  put<Out>(window, d_slots, kRegistersC, [&](u32 lane, u32 i) {
    const Place at = place_in_c(lane, i);
    return sums[at.row][at.column];
  });
  ++warp.pc;
}

// mma in wmma's layout. f16 fragments of A and B have sixteen elements, whatever the matrix's
// size.
template <class In, class Out, u32 M, u32 N, u32 K>
void wmma(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  warp.roles |= observer::kMultiplies;
  constexpr bool kRepeats = std::is_same_v<In, f16>;
  constexpr u32 kA = M * K / kLanes, kB = K * N / kLanes, kC = M * N / kLanes;
  constexpr u32 kRegistersA = (kRepeats ? 16 : kA) / kPerRegister<In>;
  constexpr u32 kRegistersB = (kRepeats ? 16 : kB) / kPerRegister<In>;
  const u32* const d_slots = warp.lists + insn.list;
  const u32* const a_slots = d_slots + kC / kPerRegister<Out>;
  const u32* const b_slots = a_slots + kRegistersA;
  const u32* const c_slots = b_slots + kRegistersB;
  alignas(64) float a[M][K], b[K][N], c[M][N];
  for (u32 lane = 0; lane < kLanes; ++lane) {
    for (u32 i = 0; i < kA; ++i) {
      const Place at = place_in_wmma(lane, i, K, M * K);
      a[at.row][at.column] = value_of(element<In>(window, a_slots, i, lane));
    }
    for (u32 i = 0; i < kB; ++i) {
      const Place at = place_in_wmma(lane, i, N, K * N);
      b[at.row][at.column] = value_of(element<In>(window, b_slots, i, lane));
    }
    for (u32 i = 0; i < kC; ++i) {
      const Place at = place_in_wmma(lane, i, N, M * N);
      c[at.row][at.column] = value_of(element<Out>(window, c_slots, i, lane));
    }
  }
  multiply_as<In, Out>(warp, a, b, c);
  put<Out>(window, d_slots, kC / kPerRegister<Out>, [&](u32 lane, u32 i) {
    const Place at = place_in_wmma(lane, i, N, M * N);
    return c[at.row][at.column];
  });
  ++warp.pc;
}

// Address of element i of a lane's wmma fragment. s: base, leading dimension in elements. imm: i,
// then one byte each: columns, rows, bytes per element, whether the matrix is column-major. sub: a
// WmmaFragment.
template <class T>
void wmma_address(Warp&, std::byte* window, const Insn& insn, u32 mask) {
  const u32 i = static_cast<u32>(insn.imm & 0xff), columns = static_cast<u32>(insn.imm >> 8 & 0xff);
  const u32 rows = static_cast<u32>(insn.imm >> 16 & 0xff),
            bytes = static_cast<u32>(insn.imm >> 24 & 0xff);
  const bool by_column = (insn.imm >> 32 & 1) != 0;
  const auto fragment = static_cast<WmmaFragment>(insn.sub);
  const T* const base = slot<T>(window, insn.s[0]);
  const u32* const line = slot<u32>(window, insn.s[1]);
  write_lanes<u64>(window, insn.d, mask, [&](u32 lane) {
    const Place at = fragment == WmmaFragment::kOwn
                         ? place_in_wmma(lane, i, columns, rows * columns)
                         : place_in_mma(fragment, lane, i, rows, columns, bytes == 1 ? 4 : 1);
    const u64 index =
        by_column ? u64{at.column} * line[lane] + at.row : u64{at.row} * line[lane] + at.column;
    return u64{base[lane]} + index * bytes;
  });
}

void need_whole_warp(Warp& warp, std::byte*, const Insn& insn, u32 mask) {
  if (whole_warp(warp, insn, mask)) ++warp.pc;
}

// Shared addresses of rows of eight 16-bit elements, provided by 8 lanes per matrix, the first
// lanes of Insn::vector matrices.
template <bool kStore>
[[gnu::always_inline]] inline void row_addresses(Warp& warp, std::byte* window, const Insn& insn,
                                                 u32* rows) {
  constexpr u32 kRow = 16;  // bytes
  const u32 mask = insn.vector == 4 ? kAllLanes : (1u << 8 * insn.vector) - 1;
  if ((insn.flags & kFlagGeneric) != 0) {
    alignas(64) u64 addresses[kLanes];
    lane_addresses(window, insn, addresses);
    for (u32 i = 0; i < kLanes; ++i) {
      const bool shared = space_of(addresses[i], warp.shared_window) == AddressSpace::kShared;
      rows[i] = shared ? static_cast<u32>(addresses[i] - warp.shared_window) : kNone;
    }
  } else {
    lane_offsets(warp, window, insn, rows);
  }
  const Pattern pattern = pattern_of(rows, mask, kRow);
  check_shared(warp, insn, mask, rows, kRow, pattern);
  count_shared<true>(warp, insn, mask, rows, kRow,
                     pattern);  // served in groups of eight lanes, whatever their addresses
  watch_shared(warp, insn, mask, rows, kRow, pattern, kStore ? Touch::kStore : Touch::kLoad);
  race_shared<kStore>(warp, insn, mask, rows, kRow, pattern, false, [] { return 0u; });
}

// Transposes an 8 x 8 matrix of 16-bit elements, which is row-major, as in a register of all lanes.
template <u32... I>
[[gnu::always_inline]] inline void transpose(const u16* from, u16* to,
                                             std::integer_sequence<u32, I...>) {
  using Half [[gnu::vector_size(64)]] = u16;
  const auto* const rows = reinterpret_cast<const Half*>(from);
  auto* const out = reinterpret_cast<Half*>(to);
  const Half first = __builtin_shufflevector(rows[0], rows[1], (8 * (I % 8) + I / 8)...);
  out[1] = __builtin_shufflevector(rows[0], rows[1], (8 * (I % 8) + I / 8 + 4)...);
  out[0] = first;
}
[[gnu::always_inline]] inline void transpose(const u16* from, u16* to) {
  transpose(from, to, std::make_integer_sequence<u32, 32>());
}

// sub: 1 for .trans. list: one register per matrix.
void load_matrix(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  alignas(64) u32 rows[kLanes];
  row_addresses<false>(warp, window, insn, rows);
  for (u32 m = 0; m < insn.vector; ++m) {
    u16* const d = slot<u16>(window, warp.lists[insn.list + m]);
    alignas(64) u16 matrix[8][8];
    for (u32 row = 0; row < 8; ++row)
      __builtin_memcpy(matrix[row], warp.shared + rows[8 * m + row], sizeof(matrix[row]));
    if (insn.sub != 0)
      transpose(matrix[0], d);
    else
      __builtin_memcpy(d, matrix, sizeof(matrix));
  }
  ++warp.pc;
}

void store_matrix(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  alignas(64) u32 rows[kLanes];
  row_addresses<true>(warp, window, insn, rows);
  ++warp.progress;
  for (u32 m = 0; m < insn.vector; ++m) {
    const u16* const from = slot<u16>(window, warp.lists[insn.list + m]);
    alignas(64) u16 matrix[8][8];
    if (insn.sub != 0)
      transpose(from, matrix[0]);
    else
      __builtin_memcpy(matrix, from, sizeof(matrix));
    for (u32 row = 0; row < 8; ++row)
      __builtin_memcpy(warp.shared + rows[8 * m + row], matrix[row], sizeof(matrix[row]));
  }
  ++warp.pc;
}

// Transposes the matrix of a register.
void move_matrix(Warp& warp, std::byte* window, const Insn& insn, u32 mask) {
  if (!whole_warp(warp, insn, mask)) return;
  transpose(slot<u16>(window, insn.s[0]), slot<u16>(window, insn.d));
  ++warp.pc;
}

template <class In, class Out, u32 K>
void define_sparse(OperationSink& sink, const char* shape, const char* types) {
  sink.add(shape, types, {}, &mma<In, Out, 16, K, false, true>, true);
}

template <class A, class B, class Out>
void define_bytes(OperationSink& sink, const char* types) {
  sink.add("mma.m16n8k16.", types, {}, &mma_of_bytes<A, B, Out, 4, false>, true);
  sink.add("mma.m16n8k32.", types, {}, &mma_of_bytes<A, B, Out, 8, false>, true);
  if constexpr (std::is_same_v<Out, float>)
    sink.add("mma.sp.m16n8k64.", types, {}, &mma_of_bytes<A, B, Out, 8, true>, true);
}

template <class In, class Out>
void define_wmma(OperationSink& sink, const char* types) {
  sink.add("wmma.m16n16k16.", types, {}, &wmma<In, Out, 16, 16, 16>, true);
  sink.add("wmma.m32n8k16.", types, {}, &wmma<In, Out, 32, 8, 16>, true);
  sink.add("wmma.m8n32k16.", types, {}, &wmma<In, Out, 8, 32, 16>, true);
}

}  // namespace

void define_matrix(OperationSink& sink) {
  op_special(sink, "mma.m16n8k4.tf32.f32", &mma<tf32, float, 16, 4>, true);
  op_special(sink, "mma.m16n8k8.tf32.f32", &mma<tf32, float, 16, 8>, true);
  op_special(sink, "mma.m8n8k4.f16.f32", &mma_of_quads<float>, true);
  op_special(sink, "mma.m8n8k4.f16.f16", &mma_of_quads<f16>, true);
  op_special(sink, "mma.m16n8k8.f16.f32", &mma<f16, float, 16, 8>, true);
  op_special(sink, "mma.m16n8k8.f16.f16", &mma<f16, f16, 16, 8>, true);
  op_special(sink, "mma.m16n8k8.bf16.f32", &mma<bf16, float, 16, 8>, true);
  op_special(sink, "mma.m16n8k16.f16.f32", &mma<f16, float, 16, 16>, true);
  op_special(sink, "mma.m16n8k16.f16.f16", &mma<f16, f16, 16, 16>, true);
  op_special(sink, "mma.m16n8k16.bf16.f32", &mma<bf16, float, 16, 16>, true);
  op_special(sink, "mma.m8n8k4.f64.f64", &mma<double, double, 8, 4>, true);
  op_special(sink, "mma.m16n8k4.f64.f64", &mma<double, double, 16, 4>, true);
  op_special(sink, "mma.m16n8k8.f64.f64", &mma<double, double, 16, 8>, true);
  op_special(sink, "mma.m16n8k16.f64.f64", &mma<double, double, 16, 16>, true);
  op_special(sink, "sass.mma.m8n8k4.f64", &mma<double, double, 8, 4, true>, true);
  op_special(sink, "sass.mma.m16n8k4.f64", &mma<double, double, 16, 4, true>, true);
  op_special(sink, "sass.mma.m16n8k8.f64", &mma<double, double, 16, 8, true>, true);
  op_special(sink, "sass.mma.m16n8k16.f64", &mma<double, double, 16, 16, true>, true);
  define_sparse<tf32, float, 8>(sink, "mma.sp.m16n8k8.", "tf32.f32");
  define_sparse<tf32, float, 16>(sink, "mma.sp.m16n8k16.", "tf32.f32");
  define_sparse<f16, float, 16>(sink, "mma.sp.m16n8k16.", "f16.f32");
  define_sparse<f16, f16, 16>(sink, "mma.sp.m16n8k16.", "f16.f16");
  define_sparse<bf16, float, 16>(sink, "mma.sp.m16n8k16.", "bf16.f32");
  define_sparse<f16, float, 32>(sink, "mma.sp.m16n8k32.", "f16.f32");
  define_sparse<f16, f16, 32>(sink, "mma.sp.m16n8k32.", "f16.f16");
  define_sparse<bf16, float, 32>(sink, "mma.sp.m16n8k32.", "bf16.f32");
  define_bytes<e4m3, e4m3, float>(sink, "e4m3.e4m3.f32");
  define_bytes<e4m3, e4m3, f16>(sink, "e4m3.e4m3.f16");
  define_bytes<e4m3, e5m2, float>(sink, "e4m3.e5m2.f32");
  define_bytes<e4m3, e5m2, f16>(sink, "e4m3.e5m2.f16");
  define_bytes<e5m2, e4m3, float>(sink, "e5m2.e4m3.f32");
  define_bytes<e5m2, e4m3, f16>(sink, "e5m2.e4m3.f16");
  define_bytes<e5m2, e5m2, float>(sink, "e5m2.e5m2.f32");
  define_bytes<e5m2, e5m2, f16>(sink, "e5m2.e5m2.f16");
  define_wmma<f16, float>(sink, "f16.f32");
  define_wmma<f16, f16>(sink, "f16.f16");
  define_wmma<bf16, float>(sink, "bf16.f32");
  op_special(sink, "wmma.m16n16k8.tf32.f32", &wmma<tf32, float, 16, 16, 8>, true);
  op_special(sink, "wmma.address", &wmma_address<u64>);
  op_special(sink, "wmma.address32", &wmma_address<u32>);
  op_special(sink, "warp.whole", &need_whole_warp, true);
  op_special(sink, "ldmatrix", &load_matrix, true);
  op_special(sink, "stmatrix", &store_matrix, true);
  op_special(sink, "movmatrix", &move_matrix, true);
}

}  // namespace vgpu::machine::VGPU_ISA
