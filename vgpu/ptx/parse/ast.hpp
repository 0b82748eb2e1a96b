// SPDX-License-Identifier: Apache-2.0
// The syntax tree of one PTX module: all of the text that the engine uses, with names and scopes
// resolved, but without semantics of instructions. All string_views and spans point into storage
// that the Module owns (a copy of the text and an arena); they are valid while any copy of the
// Module exists.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace vgpu::ptx {

inline constexpr std::uint32_t kNone = 0xffffffff;  // "none", in every index field

// The fundamental types, which declare registers and variables. Types that only instructions use
// (bf16, tf32, e4m3...) remain parts of the opcode.
enum class Type : std::uint8_t {
  kPred,
  kB8,
  kB16,
  kB32,
  kB64,
  kB128,
  kU8,
  kU16,
  kU32,
  kU64,
  kS8,
  kS16,
  kS32,
  kS64,
  kF16,
  kF16x2,
  kF32,
  kF64,
  kTexref,
  kSamplerref,
  kSurfref,
};
std::string_view to_string(Type type);                 // "f32"
std::optional<Type> type_from(std::string_view name);  // "f32", without the dot
std::uint32_t size_of(Type type);                      // bytes; 0 for pred, 8 for the opaque ones

enum class Space : std::uint8_t { kReg, kParam, kGlobal, kConst, kShared, kLocal, kTex };
enum class Linkage : std::uint8_t { kInternal, kVisible, kExtern, kWeak, kCommon };

// The entity that a name refers to, unless it is a register or a label.
struct Symbol {
  enum class Kind : std::uint8_t {
    kUnresolved,
    kParam,     // Function::params of the enclosing function
    kReturn,    // Function::returns of the enclosing function
    kBody,      // Function::variables: local, shared, call parameters (.param inside a body), ...
    kModule,    // Module::variables
    kFunction,  // Module::functions
  };
  Kind kind = Kind::kUnresolved;
  std::uint32_t index = kNone;
  bool operator==(const Symbol&) const = default;
};

struct Operand {
  enum class Kind : std::uint8_t {
    kRegister,  // reg; selector for vector components and byte selectors ("x", "b0"), mostly ""
    kSpecial,   // name: "%tid.x", "%laneid", "%clock64"
    kInteger,   // bits, is_unsigned (suffix U, or does not fit int64). WARP_SZ is the integer 32
    kFloat32,   // bits: the 32 bits of 0fXXXXXXXX
    kFloat64,   // bits: the 64 bits of 0dXXXXXXXXXXXXXXXX, or of a decimal constant (1.5, 2e3)
    kSymbol,    // symbol, name, offset (sym+8); is_generic for generic(sym)
    // [elements[0] + offset]; elements[0] is a kRegister, kSymbol or kInteger. elements[1..] are
    // the operands after a comma inside the brackets (coordinates of a tensor copy).
    kAddress,
    kVector,       // {elements}: registers, sinks, immediates
    kList,         // (elements) of a call
    kPair,         // elements[0]|elements[1]: two destinations, either may be a kSink
    kSink,         // _
    kLabel,        // target: index into Function::body (may equal its size), name
    kBranchTable,  // target: index into Function::branch_tables, name
    kCallees,      // name: of .calltargets or .callprototype
  };
  Kind kind = Kind::kSink;
  bool negated = false;  // !p; -r of vmad
  bool is_unsigned = false;
  bool is_generic = false;
  Symbol symbol;
  std::uint32_t reg = kNone;  // unique per declaration within the function, dense from 0
  std::uint32_t target = kNone;
  std::uint64_t bits = 0;  // immediates
  std::int64_t offset = 0;
  std::string_view name;  // as written; "" if there is none
  std::string_view selector;
  std::span<const Operand> elements;

  std::int64_t integer() const { return static_cast<std::int64_t>(bits); }
};

// One spelling of an opcode, shared by all instructions that use it. `id` numbers the spellings of
// a module, so that work per spelling can be done once.
struct Opcode {
  std::string_view text;  // "ld.global.nc.v4.f32"
  // {"ld", "global", "nc", "v4", "f32"}; "shared::cta" is one part.
  std::span<const std::string_view> parts;
  std::uint32_t id = 0;

  std::string_view base() const { return parts.front(); }
  bool has(std::string_view part) const {
    for (std::string_view p : parts) {
      if (p == part) return true;
    }
    return false;
  }
};

inline bool is_any_of(std::string_view part, std::initializer_list<std::string_view> set) {
  return std::ranges::find(set, part) != set.end();
}

struct Instruction {
  const Opcode* opcode = nullptr;
  std::span<const Operand> operands;
  std::uint32_t guard = kNone;     // register of @p
  bool guard_negated = false;      // @!p
  int line = 0;                    // of the PTX text, from 1
  std::uint32_t location = kNone;  // index into Module::locations
  std::string_view text;           // the whole statement, guard included, without the semicolon
};

// .loc: the source position of instructions.
struct Location {
  std::uint32_t file = 0;  // number of a .file
  std::uint32_t line = 0;
};

struct File {
  std::uint32_t number = 0;
  std::string_view name;
};

struct Relocation {          // the address of a symbol inside an initialiser
  std::uint64_t offset = 0;  // bytes into the variable
  std::uint32_t size = 8;    // bytes written there
  Symbol symbol;             // kModule or kFunction
  std::string_view name;
  std::int64_t addend = 0;
  bool is_generic = false;  // generic(symbol): a generic address; else one in the symbol's space
  // Mask forms, such as 0xFF00(symbol): the value is address >> shift, truncated to `size`.
  std::uint32_t shift = 0;
};

struct Variable {
  std::string_view name;
  Space space = Space::kGlobal;
  Linkage linkage = Linkage::kInternal;
  Type type = Type::kB8;
  std::uint32_t vector = 1;     // .v2, .v4: elements
  std::uint32_t alignment = 1;  // bytes; without .align, that of the type
  // Empty: no array. The initialiser determines the length of an open array [].
  std::vector<std::uint64_t> dimensions;
  std::uint64_t size = 0;             // bytes in all; 0 for an open array (.extern .shared x[])
  std::vector<std::uint8_t> initial;  // the first bytes; the remaining ones, up to `size`, are zero
  std::vector<Relocation> relocations;
  int line = 0;
};

struct Parameter {
  std::string_view name;
  Space space = Space::kParam;  // kReg: a register parameter (then `reg` is its register)
  Type type = Type::kB8;
  std::uint32_t vector = 1;
  std::uint32_t alignment = 1;
  std::uint64_t size = 0;    // bytes; 0 for an open array
  std::uint64_t offset = 0;  // bytes in the packed block of all parameters in order
  std::uint32_t reg = kNone;
};

struct BranchTable {  // .branchtargets
  std::string_view name;
  std::vector<std::uint32_t> targets;  // indices into Function::body
};

struct Function {
  std::string_view name;
  bool is_entry = false;
  bool is_declaration = false;  // no body here
  Linkage linkage = Linkage::kInternal;
  int line = 0;
  std::vector<Parameter> returns, params;
  std::uint64_t param_bytes = 0;  // of the packed block of `params`

  // Directives; absent if not given.
  std::optional<std::array<std::uint32_t, 3>> max_threads, required_threads, required_cluster;

  std::vector<Type> register_types;  // by register id
  std::vector<Variable> variables;   // declared in the body, all scopes
  std::vector<Instruction> body;
  std::vector<BranchTable> branch_tables;
};

struct Alias {                             // .alias name, of;
  std::uint32_t name = kNone, of = kNone;  // indices into Module::functions
};

struct Module {
  int target = 0;  // 80 for sm_80
  std::vector<File> files;
  std::vector<Location> locations;
  std::vector<Variable> variables;
  // One entry per name: a definition replaces earlier declarations.
  std::vector<Function> functions;
  std::vector<Alias> aliases;

  std::string_view file_name(std::uint32_t number) const;  // "" if there is no such .file

  std::shared_ptr<const void> storage;
};

// Throws std::invalid_argument("PTX line 12: ...") if the text is not well-formed PTX. Does not
// check instructions: any opcode with any well-formed operands is accepted.
Module parse(std::string_view text);

}  // namespace vgpu::ptx
