// SPDX-License-Identifier: Apache-2.0
// Translates decoded machine code to instructions of the warp machine. Lowering uses the operations
// of PTX where they match; operations without a PTX equivalent are in machine/isa/sass_*.cpp.
#pragma once
#include <array>
#include <map>
#include <span>
#include <vector>

#include "ir/bulk.hpp"
#include "ir/operations.hpp"
#include "ir/program.hpp"
#include "ir/sparse.hpp"
#include "sass/decode/instruction.hpp"
#include "sass/elf/cubin.hpp"

namespace vgpu::sass {

using namespace ir;

class Lowering {
 public:
  // The program's banks are set before. run() fills `instructions`, which the program's statements
  // refer to. `jump_targets` are the possible targets of indirect jumps.
  Lowering(Program& program, std::vector<Instruction>& instructions,
           std::span<const std::byte> text, const std::vector<u32>& jump_targets);
  // Throws UnknownInstruction.
  void run();
  bool indexes_addresses() const { return indexes_addresses_; }  // of bank 4

 private:
  void lower(const Instruction& i);
  void lower_nop(const Instruction& i);
  void lower_fence(const Instruction& i);
  void lower_proxy_fence(const Instruction& i);
  void lower_nanosleep(const Instruction& i);
  void lower_float(const Instruction& i);
  void need_plain_signs(const Instruction& i) const;
  void lower_uniform_comparison(const Instruction& i);
  void lower_half(const Instruction& i);
  void lower_half_function(const Instruction& i);
  void lower_integer(const Instruction& i);
  void lower_wide_integer(const Instruction& i);
  void lower_wide_comparison(const Instruction& i);
  u32 half_of(const Operand& o, bool upper);
  void lower_extreme(const Instruction& i);
  void lower_conversion(const Instruction& i);
  void lower_clamp(const Instruction& i);
  void lower_packing(const Instruction& i);
  void lower_join(const Instruction& i);
  void lower_integer_packing(const Instruction& i);
  void lower_move(const Instruction& i);
  u8 special_of(const Instruction& i) const;
  void lower_memory(const Instruction& i);
  void lower_texture(const Instruction& i);
  void lower_texture_query(const Instruction& i);
  void lower_surface(const Instruction& i);
  u32 row_or_zero(const Operand& first, u32 n);
  void texture_object(u32 pc, const Operand& handle);
  void list_channels(const Instruction& i, const Operand& others, const Operand& first,
                     u32 channels);
  void lower_atomic(const Instruction& i);
  // An atomic operation on one element. A vector instruction becomes one Atomic per element.
  struct Atomic {
    std::string_view name;  // of the PTX operation
    u8 bytes;
    u32 offset;     // bytes, added to the instruction's address
    u32 values[2];  // slots of the operands; 64-bit operands: slots of the lower words
    bool compares;
    AtomicSpace space{};
    u32 to = kNone;             // slot of the result
    bool says_success = false;  // the result is 1 if the exchange succeeded; else the old value
    bool helper = false;        // not counted as an instruction
    // Generic addresses: slot of a predicate, set in the lanes whose memory supports the operation.
    u32 served = kNone;
    bool only_global = false;  // only global memory supports the operation
    bool sums = false;         // of floats in global memory
  };
  void lower_one_atomic(const Atomic& one, const Operand& where);
  void lower_constant(const Instruction& i);
  void lower_copy(const Instruction& i);
  void lower_copies(const Instruction& i);
  void lower_wait(const Instruction& i);
  void lower_mbarrier(const Instruction& i);
  void lower_matrix(const Instruction& i);
  void lower_set_registers(const Instruction& i);
  void lower_hopper(const Instruction& i);
  void lower_gmma(const Instruction& i);
  void lower_warpgroup(const Instruction& i);
  void lower_tensor_copy(const Instruction& i);
  void lower_bulk(const Instruction& i);
  void lower_send(const Instruction& i);
  u32 emit_bulk(BulkKind kind, u32 dimensions, const std::array<u32, kBulkOperands>& operands);
  void lower_exchange(const Instruction& i);
  void lower_control(const Instruction& i);
  void lower_absolute_call(const Instruction& i);
  void lower_barrier(const Instruction& i);

  // Appends an instruction of the machine and returns its index. `guarded`: it has the guard of
  // the instruction that is lowered. `helper`: it is not counted.
  u32 emit(std::string_view operation, bool helper = false, bool guarded = true);
  Insn& at(u32 pc) { return program_.code[pc]; }
  // The same with these operands; returns the instruction, until the next one.
  Insn& emit_alu(std::string_view operation, u32 d, std::initializer_list<u32> sources,
                 u64 modifiers = 0);
  // With two results, `d` and `list`.
  Insn& emit_alu(std::string_view operation, const std::array<u32, 2>& results,
                 std::initializer_list<u32> sources, u64 modifiers = 0);
  // With the result i[0] and the next `count` operands.
  Insn& emit_row(std::string_view operation, const Instruction& i, u32 count, u64 modifiers = 0);
  // D = A B + C of i[0] to i[3]; `values`: those of each matrix per lane, `each`: their registers.
  u32 emit_product(std::string_view operation, const Instruction& i,
                   const std::array<u32, 4>& values, u32 each = 1);
  // An unguarded instruction that is not counted. Returns d.
  u32 helper(std::string_view operation, u32 d, std::initializer_list<u32> sources,
             u64 modifiers = 0);
  // One with the guard of the instruction that is lowered.
  void emit_uncounted(std::string_view operation, u32 d, std::initializer_list<u32> sources);
  // The halves of 64 bits per lane to the rows from d on.
  void unpack(u32 d, u32 from);
  Insn& fill(u32 pc, u32 d, std::initializer_list<u32> sources, u64 modifiers);
  // Uniform registers as 64 bits per lane in wide_scratch(to), which is returned: two registers, or
  // one with zeros above.
  u32 uniform_pair(u32 first, u32 to);
  u32 uniform_wide(u32 index, u32 to);
  // The operation's name, with the prefix "u." for instructions of the uniform datapath.
  std::string twin(const char* name) const;

  // Slots. Register slots carry kMark until finish() knows the size of the constants, which precede
  // the registers.
  u32 row(u32 index) const { return kMark | index * 128; }
  u32 source(const Operand& o);
  u32 source_pair(const Operand& o);
  u32 wide_source(const Operand& o);
  u32 signed_single(const Operand& o, u32 to);
  u32 convertible(const Operand& from, u8 type, bool is_float, bool is_signed);
  u32 destination(const Operand& o) const;
  u32 predicate(const Operand& o) const;
  u32 predicate_out(const Operand& o) const;  // kNone for PT
  u32 constant(u32 value);
  void append_constant(u32 value);
  u32 constant_pair(u32 low, u32 high);
  u32 bank_constant(const Operand& o, u32 words);
  u32 wide_scratch(u32 n) const { return row(scratch_ + 2 * n); }  // 64 bits per lane
  u32 scratch() const { return row(scratch_ + 8); }
  u32 address_rows() const { return row(scratch_ + 10); }  // a pair
  void address(u32 pc, const Operand& o, bool far);
  // Computes the sum or the product that an address begins with in rows of its own, before the
  // instruction is emitted.
  void compute_address(const Instruction& i);
  void vector(u32 pc, const Operand& first, u32 words, bool is_store);
  void metadata(u32 pc, const Instruction& i, const SparseLayout& layout);
  void list(const Operand& first, u32 values, bool writes, u32 each = 1);

  // plain.cpp: instructions that are a simpler operation become that one.
  void take_plain_operations();
  void plain_sum(Insn& insn);
  void plain_product(Insn& insn);
  void plain_shifted_sum(Insn& insn);
  void plain_bits(Insn& insn);
  void plain_shift(Insn& insn);
  void plain_comparison(Insn& insn, bool of_floats);
  void plain_extreme(Insn& insn, bool of_floats);
  void plain_choice(Insn& insn);
  void plain_float(Insn& insn, std::string_view name);
  void finish();
  void make_runs();
  [[noreturn]] void refuse(const std::string& why) const;

  static constexpr u32 kMark = 0x80000000;
  static constexpr u32 kConstantsAt = 128;  // predicates precede them
  // Slots of predicates that no instruction names.
  static constexpr u32 kReductionPredicate = 64;  // what BAR.RED leaves for B2R
  static constexpr u32 kNegatedPredicate = 68;
  static constexpr u32 kFalsePredicate = 72;   // never written
  static constexpr u32 kSignPredicates = 76;   // three
  static constexpr u32 kCarryPredicates = 88;  // two, between the halves of 64-bit instructions

  Program& program_;
  MachineCode& machine_code_;
  std::vector<Instruction>& instructions_;
  std::span<const std::byte> text_;
  const std::vector<u32>& jump_targets_;
  const Instruction* current_ = nullptr;
  std::vector<std::byte> constants_;
  std::map<u64, u32> known_constants_, known_pairs_, known_bank_;
  // First rows. reduction_: what BAR.RED leaves for B2R.
  u32 registers_ = 0, uniforms_ = 0, reduction_ = 0, barriers_ = 0, trash_ = 0, scratch_ = 0,
      rows_ = 0;
  u32 undefined_rows_ = 0;  // the first ones, which may be read before they are written
  u32 zero_ = 0;
  bool indexes_addresses_ = false;
};

// Classes of machine-code instructions for the counters.
ir::Class class_of(Op op, bool uniform);  // without the bytes
ir::Class class_of(const Instruction& instruction);
ir::u32 traits_of(const Instruction& instruction);  // bits of ir::Trait

// What the results of a kernel's atomics and strong loads decide. They depend on the order in which
// hardware executes its warps.
class OrderTraits {
 public:
  explicit OrderTraits(const std::vector<Instruction>& code);
  ir::u32 of(const Instruction& instruction) const;  // bits of ir::Trait

 private:
  ir::u32 atomics_ = 0, polls_ = 0;
};

// Finds the words that vector loads of shared memory load and nothing reads. ptxas loads s[0] to
// s[6] by two LDS.128 and ignores s[7], which may lie behind the block's memory, or be written by
// another warp at that moment. The program has no such access. Sets Instruction::dead. A word
// counts as read where that is not known.
void mark_dead_words(std::vector<Instruction>& code);

// Finds the loads of compare-and-swap loops. The compiler emits such a loop for atomic operations
// that the hardware lacks (floating-point or 64-bit sums in shared memory, all 16-bit operations):
// load the word, compute, exchange if the word is unchanged. The load is an ordinary instruction,
// but it does not race with atomic operations, because the exchange at the same address compares
// the loaded value. 16-bit operations access the whole 32-bit word. Its other half may belong to
// another thread, may be unwritten and may be outside the allocation; the hardware does the same,
// so these accesses are not faults.
//
// Sets Instruction::compared on each load, and on the compare-and-swap of the same address that
// follows it, if the compared value is the loaded one or is computed from it. No barrier, call or
// unconditional jump may be between them. Sets Instruction::half on both if the stored word
// replaces one half of the loaded word.
void mark_compared_loads(std::vector<Instruction>& code);

}  // namespace vgpu::sass
