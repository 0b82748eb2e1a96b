// SPDX-License-Identifier: Apache-2.0
// The recursive-descent parser behind ptx::parse. Its methods are implemented in five files:
// parser.cpp (module level), declarations.cpp (variables, parameters, registers), constants.cpp
// (constant expressions, initialisers), body.cpp (function bodies) and operands.cpp.
#pragma once
#include <cstdint>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/parse/ast.hpp"
#include "ptx/parse/lexer.hpp"
#include "ptx/parse/scopes.hpp"
#include "ptx/parse/storage.hpp"

namespace vgpu::ptx {

class Parser {
 public:
  explicit Parser(std::string_view text);
  Module parse();

 private:
  struct Constant {
    Operand::Kind kind = Operand::Kind::kInteger;  // or kFloat32, kFloat64
    std::uint64_t bits = 0;
    bool is_unsigned = false;
  };
  // A label: a position in the body, or one of the tables that have the syntax of labels.
  struct LabelEntry {
    std::string_view name;
    Operand::Kind kind = Operand::Kind::kLabel;
    std::uint32_t target = 0;
    int line = 0;
  };
  // A name that may be declared later: an operand, or entry `entry` of branch table `table`.
  struct Pending {
    Operand* operand = nullptr;
    std::uint32_t table = 0, entry = 0;
    std::string_view name;
    int line = 0;
  };
  struct LabelScope {
    std::size_t first_label = 0, first_pending = 0;
  };
  // One declaration: `.reg .b32 %r<5>`, which declares %r0 to %r4, or one name.
  struct RegisterRange {
    std::string_view base;
    Type type = Type::kB32;
    std::uint32_t count = 1;
    bool numbered = false;
  };

  // Tokens
  void advance() { token_ = lexer_.next(); }
  bool accept(char punctuation);
  void expect(char punctuation, std::string_view where);
  [[noreturn]] void unexpected(std::string_view wanted) const;
  std::string_view take_name(std::string_view what);   // a name without dots
  std::uint32_t take_number(std::string_view what);    // a plain non-negative integer
  std::uint64_t take_constant(std::string_view what);  // a constant expression, not negative

  // Module level
  void header();
  void statement();
  void version();
  void target();
  void file();
  void location();
  void section();
  void alias();
  void function(Linkage linkage, bool is_entry);
  void function_directives(Function& function);
  bool function_attribute();
  std::uint32_t function_slot(Function& function, int line);
  void attributes();
  void pragma();
  void finish();

  // Declarations, constants and initialisers
  void variables(Space space, Linkage linkage, Function* body);
  void declare_variable(Variable variable, Function* body);
  std::vector<std::uint64_t> dimensions();
  std::uint64_t array_size(const std::vector<std::uint64_t>& dimensions,
                           std::uint64_t element) const;
  std::uint32_t alignment();
  bool vector_width(std::uint32_t& width);
  std::vector<Parameter> parameters(Function* function, Symbol::Kind kind);
  Parameter parameter(Function* function);
  void registers(Function& function);
  std::uint32_t add_registers(Function& function, const RegisterRange& range, int line);
  void initialiser(Variable& variable);
  std::uint64_t initialiser_list(Variable& variable, const std::vector<std::uint64_t>& extents,
                                 const std::vector<std::uint64_t>& strides, std::size_t level,
                                 std::uint64_t offset);
  void initialiser_element(Variable& variable, std::uint64_t offset);
  void initialiser_symbol(Variable& variable, std::uint64_t offset, std::uint32_t size,
                          std::uint32_t shift);
  void put(Variable& variable, std::uint64_t offset, std::uint64_t bits, std::uint32_t size);
  void resolve_relocations(std::vector<Variable>& list);
  Constant constant(int depth = 0);
  Constant constant_primary(int depth);
  Constant binary(Constant left, int least_precedence, int depth);
  std::int64_t offset();  // zero or more + and - terms

  // Bodies
  void body(Function& function);
  void body_directive(Function& function);
  void label_or_instruction(Function& function);
  void label(Function& function, std::string_view name, int line);
  void branch_targets(Function& function, std::string_view name);
  void call_targets();
  void call_prototype();
  void instruction(Function& function, Instruction instruction, const char* begin,
                   std::string_view opcode);
  void open_scope();
  void close_scope(Function& function);
  void close_labels(Function& function);
  const Opcode* opcode(std::string_view text);

  // Operands
  Operand operand(int depth);
  bool negates_register() const;
  Operand group(Operand::Kind kind, char close, int depth);
  Operand address(int depth);
  Operand name_operand(bool with_offset);
  Operand constant_operand();
  std::span<Operand> keep_operands(std::size_t first);  // scratch_ from index `first` on

  std::shared_ptr<Storage> storage_;
  Lexer lexer_;
  Token token_;  // the next one
  Module module_;
  std::unordered_map<std::string_view, Symbol> globals_;
  std::unordered_map<std::string_view, const Opcode*> opcodes_;
  std::vector<Pending> undeclared_;   // operands to resolve at the end of the module
  std::uint64_t register_count_ = 0;  // in all functions

  // Of the function being parsed
  Scopes scopes_;
  std::vector<LabelScope> label_scopes_;
  std::vector<LabelEntry> labels_;
  std::vector<Pending> pending_;
  std::unordered_map<std::string_view, const LabelEntry*> label_map_;
  std::uint32_t location_ = kNone;
  std::vector<Operand> scratch_;
  bool is_call_ = false, is_branch_ = false, has_signs_ = false;  // the instruction being parsed
};

}  // namespace vgpu::ptx
