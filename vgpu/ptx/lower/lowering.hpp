// SPDX-License-Identifier: Apache-2.0
// Lowers one function. Instructions are emitted with virtual registers. When the function is
// complete, allocate() assigns slots, and finish() writes the slots into the instructions.
#pragma once
#include <initializer_list>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <tuple>
#include <unordered_map>

#include "ir/operations.hpp"
#include "ir/texture.hpp"
#include "ptx/lower/lower.hpp"
#include "ptx/lower/passes.hpp"

namespace vgpu::ptx {

// The instruction is unsupported or not valid PTX. The message becomes Program::unsupported.
struct LoweringError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// The reduction of this name ("add"), or none. (bulk.cpp)
std::optional<Reduction> reduction_from(std::string_view name);

class FunctionLowering {
 public:
  FunctionLowering(Program& program, const Module& module, const Layout& layout,
                   const Placement& placement, u32 member);
  void run();

 private:
  using Operand = ptx::Operand;
  using Kind = ptx::Operand::Kind;
  using Method = void (FunctionLowering::*)();

  // A register, or a constant in the window.
  struct Value {
    bool is_register = false;
    u32 index = 0;
    RegisterClass type = RegisterClass::k32;
  };
  // The field of an instruction that holds a slot.
  enum class Field : u8 { kD, kS0, kS1, kS2, kS3, kList, kGuard, kLists, kPlace };
  struct Fixup {
    u32 pc = 0;
    Field field = Field::kD;
    u32 element = 0;  // kLists: index into Program::lists
    u32 reg = 0;      // kPlace: index into places_
  };

  // lowering.cpp
  void count_mentions(std::span<const Operand> operands);
  void instruction(const ptx::Instruction& instruction);
  u32& slot(const Fixup& place);
  bool repeats_load();
  void generic();
  void finish();
  [[noreturn]] void refuse(const std::string& why = "") const;
  const ptx::Opcode& opcode() const { return *current_->opcode; }
  const Operand& operand(std::size_t i) const;
  std::size_t operand_count() const { return current_->operands.size(); }
  u32 emit(std::string_view operation, bool helper = false);
  // With sources, in the order of an instruction's fields.
  u32 emit(std::string_view operation, std::span<const Value> sources, bool helper = false);
  u32 emit(std::string_view operation, std::initializer_list<Value> sources, bool helper = false) {
    return emit(operation, std::span(sources.begin(), sources.size()), helper);
  }
  Insn& at(u32 pc) { return program_.code[pc]; }
  // Makes room for `count` slots in Program::lists and returns the first one's index.
  u32 begin_list(u32 pc, std::size_t count) {
    at(pc).list = static_cast<u32>(program_.lists.size());
    program_.lists.resize(program_.lists.size() + count, kNone);
    return at(pc).list;
  }
  void read(u32 pc, Field field, const Value& value, u32 element = 0);
  void write(u32 pc, Field field, const Value& value, u32 element = 0);
  u32 emit_shaped(std::string_view operation);  // destination and sources according to its shape
  void destination(u32 pc, const Operand& operand, RegisterClass type);

  // operands.cpp
  Value constant(u64 bits, RegisterClass type);
  Value predicate_constant(bool value);
  Value temporary(RegisterClass type);
  // Emits a further operation that the statement needs, and returns its result.
  Value computed(std::string_view operation, std::initializer_list<Value> sources,
                 RegisterClass type) {
    const Value value = temporary(type);
    convert(operation, sources, value);
    return value;
  }
  Value named(const Operand& operand) const;  // a register
  Value source(const Operand& operand,
               RegisterClass type);  // register, immediate, symbol, special register
  std::vector<Value> sources(std::size_t first, std::size_t count, RegisterClass type);
  bool is_sink(const Operand& operand) const { return operand.kind == Kind::kSink; }
  // Whether a destination's register is named by no other operand.
  bool is_unread(const Operand& operand) const {
    return operand.kind == Kind::kRegister && mentions_[operand.reg] == 1;
  }
  u64 immediate(const Operand& operand, RegisterClass type) const;
  Value address_of(const Operand& symbol, RegisterClass type);
  Value local_address(u64 offset, RegisterClass type);
  Value special(const Operand& operand, RegisterClass type);
  void read_special(const Operand& operand, const Value& into, bool helper);
  // A parameter's place in the window, as an index into places_
  u32 place_of(const Operand& symbol);
  static RegisterClass class_of(ptx::Type type);
  static RegisterClass class_of(Arg arg);
  static RegisterClass class_of(u32 bytes);  // of a register that holds so many
  static std::span<const Operand> elements_of(const Operand& operand) {  // itself, if no vector
    return operand.kind == Kind::kVector ? operand.elements : std::span(&operand, 1);
  }
  const Operand& base_of(const Operand& address) const;  // refuses what is no address
  const char* move_of(RegisterClass type) const;

  // data.cpp
  void mov();
  void unpack();
  void pack();
  void cvta();
  void isspacep();
  void cvt();
  void setp();
  void set();
  void lop3();
  void carry();
  void cache_policy();
  void video();
  void setp_parts(std::string& key, u8& combination) const;
  void read_predicate(u32 pc, Operand predicate);  // which may be negated, to kS2
  void place_test(u32 pc, std::size_t first_source, u8 combination);

  // memory.cpp
  struct Access {
    std::string space;  // "global", "shared", "local", "const", "param", "cluster", "generic"
    bool strong = false;
    bool ordering = false;  // .acquire of a load, .release of a store
    u32 vector = 1;
    ptx::Type type = ptx::Type::kB32;
  };
  Access access() const;
  void ld();
  void st();
  u32 width_of(const Operand& what, u32 bytes) const;
  std::vector<Value> stored(const Operand& what, u32 width);
  void memory(const Access& access, const Operand& address, const Operand& data, bool is_store);
  void copy_params();
  void parameter(const Access& access, const Operand& address, const Operand& data, bool is_store);
  void data(u32 pc, const Operand& operand, u32 width, bool is_store,
            std::span<const Value> sources, bool joined = false);
  void address(u32 pc, const Operand& operand);
  void atom();
  void atom_vector(const std::string& name, u32 count, AtomicSpace space, std::size_t where);

  // control.cpp
  void bra();
  void brx();
  void call();
  void ret();
  void exit();
  void trap();
  void barrier();
  std::string_view beside_sync() const;
  void vote();
  void shfl();
  void match();
  void redux();
  void elect();
  void activemask();
  void nothing();
  void nanosleep();
  void call_arguments(const Operand& list, std::vector<ParamPlace>& into);
  void call_device_runtime(Call& what, u32 function);
  void results(u32 pc, const Operand& operand);  // d, or d|p

  // matrix.cpp
  void mma();
  void sparse_mma();
  void quad_products();
  void wmma();
  void wmma_product();
  void wmma_by_mma(const std::string& types, bool saturates);
  void wmma_move(bool stores);
  struct WmmaForm;
  WmmaForm wmma_form() const;
  void gather_bytes(std::span<const Value, 4> bytes, const Value& to);
  void convert(std::string_view operation, std::initializer_list<Value> sources, const Value& to) {
    write(emit(operation, sources, true), Field::kD, to);
  }
  void need_registers(std::span<const std::size_t> counts) const;
  u32 matrix_product(const std::string& name, std::span<const std::size_t> counts,
                     RegisterClass type);
  void product_of_bytes(const std::string& name, std::span<const std::size_t> counts);
  void list_values(u32 pc, std::span<const Value> results, std::span<const Value> sources);
  void matrix_rows();
  void movmatrix();
  void fragments(u32 pc, std::span<const Operand* const> operands, RegisterClass type,
                 bool writes_first);

  // wgmma.cpp
  void wgmma();
  void wgmma_product();

  // wgmma_registers.cpp
  void watch_wgmma(std::span<const Flow> flow);

  // async.cpp
  void cp();
  void copy();
  u32 emit_wait(std::string_view operation);
  void copy_arrive();
  void mbarrier();
  void set_registers();

  // bulk.cpp
  struct BulkForm;
  void bulk();
  void bulk_wait();
  void bulk_commit();
  void send_words();
  BulkForm bulk_form();
  Value wide_address(const Operand& where);
  void list_operands(u32 pc, std::span<const std::optional<Value>> operands);  // from Insn::list on
  void fence();
  void prefetch();

  // texture.cpp
  void tex();
  void texture_query();
  void surface();
  TextureShape texture_shape() const;
  Value texture_operands(const Operand& where, std::size_t count, std::vector<Value>& into);
  void list_texels(u32 pc, std::span<const Operand> texels, RegisterClass type,
                   std::span<const Value> stored, std::span<const Value> others);

  // control.cpp, of clusters
  void cluster_barrier();
  void map_address();
  void cluster_rank();

  static const std::unordered_map<std::string_view, Method>& methods();
  void make_runs(u32 begin);
  std::vector<u32> successors(u32 run, u32 first_run) const;

  Program& program_;
  const Layout& layout_;
  const Placement& placement_;
  const ptx::Module& module_;
  const ptx::Function& function_;
  const Layout::Member& member_;
  u32 member_index_;
  const ptx::Instruction* current_ = nullptr;
  u32 statement_ = kNone;               // its index in Program::statements
  std::vector<const Opcode*> opcodes_;  // by instruction of this function; null at its end

  std::vector<RegisterClass> classes_;  // by virtual register
  std::vector<u32> mentions_;           // how many operands and guards name it
  std::vector<RegisterUse> uses_;
  std::vector<Fixup> fixups_;
  std::vector<u32> pc_of_;  // by index into the body; the last entry is its end
  std::map<std::pair<u64, RegisterClass>, u32> constants_;
  std::vector<std::byte> constant_bytes_;
  std::vector<ParamPlace> places_;            // slots relative to the end of the registers
  std::unordered_map<u64, u32> place_index_;  // symbol -> index into places_
  u32 places_bytes_ = 0;
  std::vector<u32> tables_;   // of brx.idx in this function
  std::vector<u32> calls_;    // of this function; finish() fixes up their places too
  std::vector<u32> results_;  // pc of atomics whose old value goes to a register
  struct Loaded {             // bytes of global memory, from the address in a register
    u32 reg = 0;
    i64 begin = 0, end = 0;
  };
  std::vector<Loaded> loads_;  // of which a later load may repeat some
  u32 carry_ = kNone;          // register of the carry flag
};

}  // namespace vgpu::ptx
