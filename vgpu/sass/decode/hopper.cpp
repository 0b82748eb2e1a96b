// SPDX-License-Identifier: Apache-2.0
// Hopper's asynchronous units: products of warpgroups (HGMMA, IGMMA, QGMMA), bulk and tensor copies
// (UBLK*, UTMA*), stores to another block's shared memory (STAS), the barrier of the cluster.
#include <fmt/format.h>

#include <iterator>

#include "sass/decode/families.hpp"

namespace vgpu::sass {
namespace {

// N of an IGMMA: 8, 16, 24, 32, then multiples of 16. The field is three times the index, and one
// more where A is sparse.
unsigned integer_columns(Reader& r, bool sparse) {
  const unsigned index = static_cast<unsigned>(r.field(53, 6));
  constexpr unsigned kSmall = 4, kLast = 17;
  if (index % 3 != (sparse ? 1 : 0) || index / 3 > kLast) r.refuse("a shape without a name");
  const unsigned i = index / 3;
  return i < kSmall ? 8 * (i + 1) : 16 * (i - 1);
}

// The cache policy of a copy, by a descriptor in a pair of uniform registers. It is ignored.
void add_policy(Reader& r) {
  const Operand policy = r.uniform_at(40);
  if (r.bit(76)) r.add_text(fmt::format("desc[UR{}]", policy.index));
}

void reduction_at(Reader& r) {
  r.insn.mode = r.named(87, 3, {".ADD", ".MIN", ".MAX", ".INC", ".DEC", ".AND", ".OR", ".XOR"});
}

void add_sent_words(Reader& r) {
  if (r.uniform_index(64) != kZeroUniform) r.refuse("a descriptor");
  Operand to = r.address_at(24, 0);
  to.wide = true;
  r.add({to, r.general_at(32)});
}

// Destination, source, size and mask of a bulk copy.
void add_bulk(Reader& r) {
  r.add({uniform_address(r, 32), uniform_address(r, 24), r.uniform_at(64)});
  add_policy(r);
  r.expect(91, 1, {1});
}

}  // namespace

// D, A, B, C, predicate, then metadata and selector of a sparse A. A and B are 64-bit matrix
// descriptors in four consecutive uniform registers; A may be in registers. C is D or RZ. If the
// predicate is false, D is overwritten. Instruction: target is N, high and right say that A and B
// are transposed, wrap that the product is the last of its group, extended that A is sparse.
void decode_gmma(Reader& r) {
  Instruction& i = r.insn;
  enum { kHalves = 0, kIntegers = 1, kBytes = 3 };
  const unsigned family = i.opcode & 3;
  const bool a_in_registers = (i.opcode & 0x400) != 0;
  const bool integer = family == kIntegers;
  const bool sparse = i.extended = r.suffix_if(r.bit(73), ".SP");
  const unsigned columns =
      integer ? integer_columns(r, sparse) : 8 * (static_cast<unsigned>(r.field(53, 5)) + 1);
  unsigned depth = sparse ? 64 : 32;
  if (family == kHalves) {
    constexpr unsigned kDepths[] = {16, 8, 32};
    const std::uint64_t of = r.field(58, 2);
    if (of >= std::size(kDepths)) r.refuse("an unknown depth");
    depth = kDepths[of];
  } else if (family == kBytes) {
    r.expect(58, 1, {sparse ? 1u : 0u});
  }
  r.suffix(fmt::format(".64x{}x{}", columns, depth).c_str());
  i.target = columns;
  if (integer) {
    i.source_type = r.named(76, 1, {".U8", ".S8"});
    i.type = r.named(82, 1, {".U8", ".S8"});
    i.saturate = r.suffix_if(r.bit(75), ".SAT");
  } else {
    i.mode = r.named(75, 1, {".F16", ".F32"});
    if (family == kHalves) {
      i.source_type = r.named(76, 2, {"", ".BF16", ".TF32"});
      const unsigned dense = i.source_type == 2 ? 8 : 16;
      if (depth != (sparse ? 2 * dense : dense)) r.refuse("a depth of another type");
    } else {
      i.source_type = r.named(76, 1, {".E4M3", ".E5M2"});
      i.type = r.named(77, 1, {".E4M3", ".E5M2"});
    }
  }
  const bool negates_a = r.bit(72), transposes_a = r.bit(61), transposes_b = r.bit(62),
             negates_b = r.bit(63);
  r.add(r.general_at(16));
  const Operand descriptors = r.uniform_at(a_in_registers ? 32 : 24);
  if (a_in_registers) {
    Operand a = r.general_at(24);
    a.negated = negates_a;
    if (transposes_a) r.refuse("A in registers, transposed");
    r.add(a);
  } else {
    Operand a = descriptors;
    a.negated = negates_a;
    r.add_silently(a);
  }
  r.add_text(fmt::format("gdesc[UR{}]", descriptors.index));
  if (negates_a && !a_in_registers) r.add_behind(".negA");
  if (negates_b) r.add_behind(".negB");
  if (transposes_a) r.add_behind(".tnspA");
  if (transposes_b) r.add_behind(".tnspB");
  Operand b = descriptors;
  b.negated = negates_b;
  r.add_silently(b);
  r.add(r.general_at(64));
  i.high = transposes_a;
  i.right = transposes_b;
  // The predicate's number is stored inverted: 0 is UPT, 7 is UP0.
  Operand adds;
  adds.kind = Kind::kUniformPredicate;
  adds.index = static_cast<std::uint8_t>(kTrue - r.field(87, 3));
  adds.negated = r.bit(90);
  r.add_unless_true(adds);
  if (sparse) {
    r.add(r.general_at(40));
    const Operand selector = Reader::immediate(r.field(48, 2));
    family == kHalves ? r.add(selector) : r.add_silently(selector);
  }
  r.expect(91, 1, {1});
  r.expect(84, 3, {0, 7});
  i.wrap = r.field(84, 3) == 0;
  if (i.wrap) r.add_text("gsb0");
}

// WARPGROUP.ARRIVE; WARPGROUP.DEPBAR.LE gsb0, n: waits until at most n groups are incomplete.
void decode_warpgroup(Reader& r) {
  r.insn.mode = r.named(79, 2, {".ARRIVE", ".WAIT", ".DEPBAR.LE"});
  if (r.insn.mode != 2) return;
  r.expect(47, 1, {1});
  r.expect(44, 3, {0});
  r.insn.shift = r.byte(72, 3);
  r.add_text("gsb0");
  r.add(Reader::immediate(r.insn.shift));
}

// [UR]: with the coordinates in the registers that follow; [UR]: address of the tensor map.
// UTMALDG: shared memory, mbarrier, coordinates. UTMASTG, UTMAREDG: shared memory, coordinates.
// A third register has a multicast's mask in its upper half, im2col mode's offsets in its lower
// half.
void decode_utma(Reader& r) {
  Instruction& i = r.insn;
  if (i.op == Op::kUtmaPrefetch) r.suffix(".L2");
  i.shift = static_cast<std::uint8_t>(1 + r.named(79, 3, {".1D", ".2D", ".3D", ".4D", ".5D"}));
  i.wrap = r.suffix_if(r.bit(82), ".IM2COL");
  if (i.op == Op::kUtmaReduce) reduction_at(r);
  const bool extra = i.opcode == 0x3b4 || i.opcode == 0x3b8;
  i.high = i.opcode == 0x3b4 && r.suffix_if(r.bit(75), ".MULTICAST");
  if (extra && !i.high && !i.wrap) r.refuse("a third register without multicast or offsets");
  r.add({uniform_address(r, 32), uniform_address(r, 24)});
  if (extra) r.add(r.uniform_at(64));
  add_policy(r);
  r.expect(91, 1, {1});
}

// UBLKCP [URb], [URa], URc: copies from URa to URb. The lower half of URc is the size in units of
// 16 bytes, the upper half the mask of a multicast. A global address takes two registers. After a
// shared destination, the next register holds the mbarrier's address.
void decode_ublkcp(Reader& r) {
  r.insn.type = r.named(73, 2, {nullptr, ".S.G", ".G.S", ".S.S"});
  r.expect(72, 1, {0});
  r.insn.high = r.suffix_if(r.bit(75), ".MULTICAST");
  r.named(81, 2, {"", ".LTC64B", ".LTC128B"});
  add_bulk(r);
}

// The registers are as for UBLKCP. The reduction's operation and type follow its direction.
void decode_ublkred(Reader& r) {
  Instruction& i = r.insn;
  i.type = r.named(73, 2, {nullptr, nullptr, ".G.S", ".S.S"});
  reduction_at(r);
  i.source_type = r.named(
      81, 4, {"", ".S32", ".U64", ".S64", ".F16.RN", ".F32.RN", nullptr, ".F64.RN", ".BF16.RN"});
  add_bulk(r);
}

// [UR]: global address, UR: size.
void decode_ublkpf(Reader& r) {
  r.add({uniform_address(r, 24), r.uniform_at(64)});
  r.expect(91, 1, {1});
}

// The stores since the last one form a group, which counts on the scoreboard `mode`.
void decode_utma_commit(Reader& r) {
  decode_nothing(r);
  r.insn.mode = r.byte(113, 3);
}

// UTMACCTL.PF [UR]: prefetches a tensor map; .IV: forgets cached ones.
void decode_utmacctl(Reader& r) {
  r.insn.mode = r.named(82, 1, {".IV", ".PF"});
  r.add(uniform_address(r, 24));
  r.expect(91, 1, {1});
}

// STAS [R.64], R: R holds the address in a block's shared memory, R + 1 that of the mbarrier.
void decode_stas(Reader& r) {
  static constexpr std::uint8_t kBytes[] = {4, 8, 16};
  const std::uint8_t size = r.named(73, 3, {nullptr, nullptr, nullptr, nullptr, "", ".64", ".128"});
  r.insn.bytes = kBytes[size - 4];
  r.expect(90, 2, {3});
  add_sent_words(r);
}

// REDAS: the same, with a reduction.
void decode_redas(Reader& r) {
  reduction_at(r);
  r.expect(72, 1, {1});
  r.insn.source_type = r.named(73, 3, {"", ".S32", ".64"});
  r.insn.bytes = r.insn.source_type == 2 ? 8 : 4;
  r.expect(90, 2, {2});
  add_sent_words(r);
}

// Barrier of the cluster: arrives, waits.
void decode_ucgabar(Reader& r) { r.expect(91, 1, {1}); }

}  // namespace vgpu::sass
