// SPDX-License-Identifier: Apache-2.0
// The table of opcodes. Bits 0 to 8 select the instruction. Bits 9 to 11 select the form of its
// operands (reader.hpp), or belong to the opcode if the instruction has a single form.
#include "engine/sass/decode.hpp"

#include <array>
#include <iterator>

#include <fmt/format.h>

#include "engine/sass/families.hpp"

namespace vgpu::sass {
namespace {

struct Entry {
  std::uint16_t base;
  std::uint8_t forms;  // bit n: form n
  const char* name;
  Op op;
  void (*decode)(Reader&);
  bool uniform = false;
};

constexpr std::uint8_t forms(std::initializer_list<int> list) {
  std::uint8_t mask = 0;
  for (const int f : list) mask |= static_cast<std::uint8_t>(1 << f);
  return mask;
}
constexpr std::uint8_t kThree = forms({1, 2, 3, 4, 5, 6, 7});
constexpr std::uint8_t kTwo = forms({1, 4, 5, 6});
constexpr std::uint8_t kTwoAsThird = forms({1, 2, 3, 7});

constexpr Entry exact(std::uint16_t opcode, const char* name, Op op, void (*decode)(Reader&)) {
  return {static_cast<std::uint16_t>(opcode & 0x1ff),
          static_cast<std::uint8_t>(1u << (opcode >> 9)),
          name,
          op,
          decode,
          false};
}

constexpr Entry kEntries[] = {
    {0x02, kTwo, "MOV", Op::kMov, decode_mov},
    {0x03, forms({4}), "P2R", Op::kP2r, decode_p2r},
    {0x04, forms({4}), "R2P", Op::kR2p, decode_r2p},
    {0x07, kTwo, "SEL", Op::kSel, decode_sel},
    {0x08, kTwo, "FSEL", Op::kFsel, decode_fsel},
    {0x09, kTwo, "FMNMX", Op::kFmnmx, decode_fsel},
    {0x0a, kTwo, "FSET", Op::kFset, decode_fset},
    {0x0b, kTwo, "FSETP", Op::kFsetp, decode_fsetp},
    {0x0c, kTwo, "ISETP", Op::kIsetp, decode_isetp},
    {0x10, kThree, "IADD3", Op::kIadd3, decode_iadd3},
    {0x11, kThree, "LEA", Op::kLea, decode_lea},
    {0x12, kThree, "LOP3", Op::kLop3, decode_lop3},
    {0x13, kTwo, "IABS", Op::kIabs, decode_unary},
    {0x16, kThree, "PRMT", Op::kPrmt, decode_prmt},
    {0x19, kThree, "SHF", Op::kShf, decode_shf},
    {0x0f, kThree, "VIMNMX3", Op::kVimnmx3, decode_vimnmx3},
    {0x1a, kTwo, "SGXT", Op::kSgxt, decode_bit_range},
    {0x1b, kTwo, "BMSK", Op::kBmsk, decode_bit_range},
    exact(0x81c, "PLOP3", Op::kPlop3, decode_plop3),
    {0x20, kTwo, "FMUL", Op::kFmul, decode_fadd},
    {0x21, kTwoAsThird, "FADD", Op::kFadd, decode_fadd},
    {0x23, kThree, "FFMA", Op::kFfma, decode_ffma},
    {0x24, kThree, "IMAD", Op::kImad, decode_imad},
    {0x25, kThree, "IMAD", Op::kImadWide, decode_imad_wide},
    {0x26, kThree, "IDP", Op::kIdp, decode_idp},
    {0x27, kThree, "IMAD", Op::kImadHi, decode_imad_high},
    {0x28, kTwo, "DMUL", Op::kDmul, decode_dmul},
    {0x29, kTwoAsThird, "DADD", Op::kDadd, decode_dadd},
    {0x2a, forms({1, 2, 3, 4, 5, 6, 7}), "DSETP", Op::kDsetp, decode_fsetp},
    {0x2b, kThree, "DFMA", Op::kDfma, decode_dfma},
    {0x30, kTwoAsThird, "HADD2", Op::kHadd2, decode_hadd2},
    {0x31, kThree, "HFMA2", Op::kHfma2, decode_hfma2},
    {0x32, kTwo, "HMUL2", Op::kHmul2, decode_hadd2},
    {0x33, kTwoAsThird, "HSET2", Op::kHset2, decode_hset2},
    {0x34, kTwoAsThird, "HSETP2", Op::kHsetp2, decode_hsetp2},
    {0x35, kThree, "HFMA2", Op::kHfma2, decode_hfma2},
    {0x40, kTwo, "HMNMX2", Op::kHmnmx2, decode_hmnmx2},
    {0x36, kTwo, "VIADD", Op::kViadd, decode_viadd},
    {0x3e, kThree, "F2FP", Op::kF2fp, decode_f2fp},
    {0x45, kTwo, "I2FP", Op::kI2fp, decode_i2fp},
    {0x46, kThree, "VIADDMNMX", Op::kViaddmnmx, decode_viaddmnmx},
    {0x48, kTwo, "VIMNMX", Op::kVimnmx, decode_vimnmx},
    {0x100, kTwo, "FLO", Op::kFlo, decode_flo},
    {0x101, kTwo, "BREV", Op::kBrev, decode_unary},
    {0x102, kTwo, "FCHK", Op::kFchk, decode_fchk},
    {0x104, kTwo, "F2F", Op::kF2f, decode_f2f},
    {0x105, kTwo, "F2I", Op::kF2i, decode_f2i},
    {0x106, kTwo, "I2F", Op::kI2f, decode_i2f},
    {0x107, kTwo, "FRND", Op::kFrnd, decode_frnd},
    {0x108, kTwo, "MUFU", Op::kMufu, decode_mufu},
    {0x109, kTwo, "POPC", Op::kPopc, decode_unary},
    {0x110, kTwo, "F2F", Op::kF2f, decode_f2f},
    {0x111, kTwo, "F2I", Op::kF2i, decode_f2i},
    {0x112, kTwo, "I2F", Op::kI2f, decode_i2f},
    {0x113, kTwo, "FRND", Op::kFrnd, decode_frnd},
    exact(0x805, "CS2R", Op::kCs2r, decode_cs2r),
    exact(0x919, "S2R", Op::kS2r, decode_s2r),
    exact(0x9c3, "S2UR", Op::kS2r, decode_s2r),
    exact(0x2ca, "R2UR", Op::kR2ur, decode_r2ur),
    exact(0x31c, "B2R", Op::kB2r, decode_b2r),

    // The uniform datapath.
    {0x82, kTwo, "UMOV", Op::kMov, decode_mov, true},
    {0x87, kTwo, "USEL", Op::kSel, decode_sel, true},
    {0x8c, kTwo, "UISETP", Op::kIsetp, decode_isetp, true},
    {0x90, kThree, "UIADD3", Op::kIadd3, decode_iadd3, true},
    {0x91, kThree, "ULEA", Op::kLea, decode_lea, true},
    {0x92, kThree, "ULOP3", Op::kLop3, decode_lop3, true},
    {0x96, kThree, "UPRMT", Op::kPrmt, decode_prmt, true},
    {0x99, kThree, "USHF", Op::kShf, decode_shf, true},
    {0x9a, kTwo, "USGXT", Op::kSgxt, decode_bit_range, true},
    {0x9c, forms({4}), "UPLOP3", Op::kPlop3, decode_plop3, true},
    {0xa4, kThree, "UIMAD", Op::kImad, decode_imad, true},
    {0xa5, kThree, "UIMAD", Op::kImadWide, decode_imad_wide, true},
    {0xa7, kThree, "UIMAD", Op::kImadHi, decode_imad_high, true},
    {0xbd, kTwo, "UFLO", Op::kFlo, decode_flo, true},
    {0xbe, kTwo, "UBREV", Op::kBrev, decode_unary, true},
    {0xbf, kTwo, "UPOPC", Op::kPopc, decode_unary, true},

    // Memory.
    exact(0xb82, "LDC", Op::kLdc, decode_ldc),
    exact(0xab9, "ULDC", Op::kLdc, decode_ldc),
    exact(0xabb, "ULDC", Op::kLdc, decode_ldc),
    exact(0x381, "LDG", Op::kLdg, decode_load_far),
    exact(0x981, "LDG", Op::kLdg, decode_load_far),
    exact(0x386, "STG", Op::kStg, decode_store_far),
    exact(0x986, "STG", Op::kStg, decode_store_far),
    exact(0x380, "LD", Op::kLd, decode_load_far),
    exact(0x980, "LD", Op::kLd, decode_load_far),
    exact(0x385, "ST", Op::kSt, decode_store_far),
    exact(0x985, "ST", Op::kSt, decode_store_far),
    exact(0x984, "LDS", Op::kLds, decode_lds),
    exact(0x388, "STS", Op::kSts, decode_sts),
    exact(0x988, "STS", Op::kSts, decode_sts),
    exact(0x983, "LDL", Op::kLdl, decode_ldl),
    exact(0x387, "STL", Op::kStl, decode_stl),
    exact(0x987, "STL", Op::kStl, decode_stl),
    exact(0xfae, "LDGSTS", Op::kLdgsts, decode_ldgsts),
    exact(0x9a8, "ATOMG", Op::kAtom, decode_atomg),
    exact(0x9a3, "ATOMG", Op::kAtom, decode_atomg_float),
    exact(0x3a9, "ATOMG", Op::kAtom, decode_atomg_cas),
    exact(0x38a, "ATOM", Op::kAtomGeneric, decode_atomg),
    exact(0x98a, "ATOM", Op::kAtomGeneric, decode_atomg),
    exact(0x9a2, "ATOM", Op::kAtomGeneric, decode_atomg_float),
    exact(0x38b, "ATOM", Op::kAtomGeneric, decode_atomg_cas),
    exact(0x98e, "REDG", Op::kRed, decode_red),
    exact(0x9a6, "REDG", Op::kRed, decode_red_float),
    exact(0x38c, "ATOMS", Op::kAtoms, decode_atoms),
    exact(0x98c, "ATOMS", Op::kAtoms, decode_atoms),
    exact(0xf8c, "ATOMS", Op::kAtoms, decode_atoms),
    exact(0x38d, "ATOMS", Op::kAtoms, decode_atoms_cas),
    exact(0x3aa, "QSPC", Op::kQspc, decode_qspc),

    // Exchange between lanes.
    exact(0x389, "SHFL", Op::kShfl, decode_shfl),
    exact(0x589, "SHFL", Op::kShfl, decode_shfl),
    exact(0x989, "SHFL", Op::kShfl, decode_shfl),
    exact(0xf89, "SHFL", Op::kShfl, decode_shfl),
    exact(0x806, "VOTE", Op::kVote, decode_vote),
    exact(0x886, "VOTEU", Op::kVote, decode_vote),
    exact(0x3a1, "MATCH", Op::kMatch, decode_match),
    exact(0x3c4, "REDUX", Op::kRedux, decode_redux),
    exact(0x82f, "ELECT", Op::kElect, decode_elect),

    // Matrices.
    exact(0x23c, "HMMA", Op::kHmma, decode_hmma),
    exact(0x23f, "DMMA", Op::kDmma, decode_dmma),
    exact(0x9f0, "HGMMA", Op::kGmma, decode_gmma),
    exact(0xdf0, "HGMMA", Op::kGmma, decode_gmma),
    exact(0x9f1, "IGMMA", Op::kGmma, decode_gmma),
    exact(0xdf1, "IGMMA", Op::kGmma, decode_gmma),
    exact(0x9f3, "QGMMA", Op::kGmma, decode_gmma),
    exact(0xdf3, "QGMMA", Op::kGmma, decode_gmma),
    exact(0x9c5, "WARPGROUP", Op::kWarpgroup, decode_warpgroup),
    exact(0x83b, "LDSM", Op::kLdsm, decode_ldsm),
    exact(0x844, "STSM", Op::kStsm, decode_stsm),
    exact(0x23a, "MOVM", Op::kMovm, decode_movm),

    // Synchronisation.
    exact(0xb1d, "BAR", Op::kBar, decode_bar),
    exact(0x51d, "BAR", Op::kBar, decode_bar),
    exact(0x91d, "BAR", Op::kBar, decode_bar),
    exact(0x31d, "BAR", Op::kBar, decode_bar),
    exact(0x992, "MEMBAR", Op::kMembar, decode_membar),
    exact(0x9ab, "ERRBAR", Op::kErrbar, decode_nothing),
    exact(0x5ab, "CGAERRBAR", Op::kErrbar, decode_nothing),
    exact(0x98f, "CCTL.IVALL", Op::kCctl, decode_cctl),
    exact(0x3c6, "FENCE.VIEW.ASYNC", Op::kFence, decode_fence),
    exact(0x9c7, "UCGABAR_ARV", Op::kClusterArrive, decode_ucgabar),
    exact(0xdc7, "UCGABAR_WAIT", Op::kClusterWait, decode_ucgabar),
    exact(0x82d, "PREEXIT", Op::kNop, decode_nothing),
    exact(0x82e, "ACQBULK", Op::kNop, decode_nothing),
    exact(0x9af, "LDGDEPBAR", Op::kLdgdepbar, decode_ldgdepbar),
    exact(0x91a, "DEPBAR", Op::kDepbar, decode_depbar),
    exact(0x5b2, "SYNCS.EXCH", Op::kSyncsInit, decode_syncs_exchange),
    exact(0x9a7, "SYNCS.ARRIVE.TRANS64", Op::kSyncsArrive, decode_syncs_arrive),
    exact(0x5a7, "SYNCS.PHASECHK.TRANS64", Op::kSyncsTest, decode_syncs_test),
    exact(0x9b1, "SYNCS.CCTL.IV", Op::kSyncsInvalidate, decode_syncs_invalidate),
    exact(0x9b0, "ARRIVES.LDGSTSBAR.64", Op::kSyncsCopies, decode_copies_arrive),
    exact(0x3ba, "UBLKCP", Op::kUblkcp, decode_ublkcp),
    exact(0x3bb, "UBLKRED", Op::kUblkReduce, decode_ublkred),
    exact(0x3bc, "UBLKPF.L2", Op::kUblkPrefetch, decode_ublkpf),
    exact(0x3b4, "UTMALDG", Op::kUtmaLoad, decode_utma),
    exact(0x5b4, "UTMALDG", Op::kUtmaLoad, decode_utma),
    exact(0x3b5, "UTMASTG", Op::kUtmaStore, decode_utma),
    exact(0x3b6, "UTMAREDG", Op::kUtmaReduce, decode_utma),
    exact(0x5b8, "UTMAPF", Op::kUtmaPrefetch, decode_utma),
    exact(0x9b7, "UTMACMDFLUSH", Op::kUtmaCommit, decode_nothing),
    exact(0x9b9, "UTMACCTL", Op::kUtmaCache, decode_utmacctl),
    exact(0xdbd, "STAS", Op::kStas, decode_stas),
    exact(0x9c8, "USETMAXREG", Op::kSetmaxreg, decode_set_registers),

    // Control.
    exact(0x947, "BRA", Op::kBra, decode_bra),
    exact(0x949, "BRX", Op::kBrx, decode_brx),
    exact(0x944, "CALL", Op::kCall, decode_call),
    exact(0x344, "CALL", Op::kCall, decode_call),
    exact(0x343, "CALL", Op::kCallAbsolute, decode_call_absolute),
    exact(0x943, "CALL", Op::kCallAbsolute, decode_call_absolute),
    exact(0x94e, "LEPC", Op::kLepc, decode_lepc),
    exact(0x950, "RET", Op::kRet, decode_ret),
    exact(0x94d, "EXIT", Op::kExit, decode_exit),
    exact(0x945, "BSSY", Op::kBssy, decode_bssy),
    exact(0x941, "BSYNC", Op::kBsync, decode_bsync),
    exact(0x942, "BREAK", Op::kBreak, decode_bsync),
    exact(0x355, "BMOV", Op::kBmov, decode_bmov),
    exact(0x356, "BMOV", Op::kBmov, decode_bmov),
    exact(0x348, "WARPSYNC", Op::kWarpsync, decode_warpsync),
    exact(0x948, "WARPSYNC", Op::kWarpsync, decode_warpsync),
    exact(0x91b, "ENDCOLLECTIVE", Op::kEndcollective, decode_nothing),
    exact(0x946, "YIELD", Op::kYield, decode_nothing),
    exact(0x918, "NOP", Op::kNop, decode_nothing),
    exact(0x35d, "NANOSLEEP", Op::kNanosleep, decode_nanosleep),
    exact(0x95d, "NANOSLEEP", Op::kNanosleep, decode_nanosleep),
    exact(0x95c, "BPT", Op::kTrap, decode_trap),
};

using Index = std::array<const Entry*, 1 << 12>;

Index make_index() {
  Index index{};
  for (const Entry& entry : kEntries) {
    for (unsigned form = 0; form < 8; ++form) {
      if ((entry.forms >> form & 1) != 0) index[entry.base | form << 9] = &entry;
    }
  }
  return index;
}

}  // namespace

Instruction decode(Word word, std::uint32_t address) {
  static const Index kIndex = make_index();
  const unsigned opcode = static_cast<unsigned>(word.low & 0xfff);
  const Entry* const entry = kIndex[opcode];
  if (entry == nullptr) Reader(word, address, "an instruction").refuse("it is not implemented");
  Reader reader(word, address, entry->name);
  reader.insn.op = entry->op;
  // S2UR and SYNCS.EXCH have uniform guards, too.
  reader.insn.uniform = entry->name[0] == 'U' || opcode == 0x9c3 || opcode == 0x5b2;
  reader.insn.guard = reader.predicate_at(12, 15);
  reader.insn.uniform = entry->uniform;
  entry->decode(reader);
  return reader.finish();
}

}  // namespace vgpu::sass
