// SPDX-License-Identifier: Apache-2.0
// The decoded form of a kernel. Registers of a function live in a "window" of a warp: every virtual
// register has a slot there, an array of 32 lanes (predicates: one 32-bit mask), and instructions
// name slots by byte offset. Immediates and addresses of symbols are slots too, broadcast to all
// lanes when the window is made, so that an instruction has one form whatever its operands are.
// Code is cut into runs: straight lines that only their last instruction can leave, so that
// scheduling and counting cost once a run and not once an instruction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/ptx/ast.hpp"

namespace vgpu::sass {
struct Code;
}

namespace vgpu::execute {

using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;

inline constexpr u32 kLanes = 32;
inline constexpr u32 kAllLanes = 0xffffffff;
inline constexpr u32 kNone = 0xffffffff;

// Bits of Insn::flags; what they say depends on the operation.
enum Flag : u16 {
  kFlagAddress32 = 1,   // memory: the address register has 32 bits
  kFlagSigned = 2,      // memory: a load that sign-extends into a wider register
  kFlagStrong = 4,      // memory: volatile, relaxed, acquire, release: may wait for another thread
  kFlagNegate = 8,      // the predicate operand is negated
  kFlagAligned = 16,    // barriers: all lanes of a warp arrive at one instruction
  kFlagStore = 32,      // memory: writes
  kFlagHasResult = 64,  // atomics: the old value is wanted
  kFlagGeneric = 128,   // mbarriers: the address is a generic one
  // Asynchronous copies: these stand for other things.
  kFlagIgnore = kFlagNegate,   // s[2] is the predicate ignore-src
  kFlagCopy = kFlagHasResult,  // reads global memory and writes shared memory
  kFlagMachine =
      // memory: addresses as machine code has them: the upper halves in the row behind s[0], or
  256,
  // (with kFlagAddress32) s[3] added
  kFlagCompared = 512,  // memory: a load, or the exchange, of an atomic operation that is a loop
  kFlagHalf = 1024,     // memory: the word stands for one of its halves, which one is not known
};

enum class AtomicSpace : u8 { kGlobal, kShared, kGeneric, kCluster };  // Insn::sub of atom
enum class ShuffleMode : u8 { kUp, kDown, kButterfly, kIndex };        // Insn::sub of shfl
enum class VoteMode : u8 { kAll, kAny, kUniform, kBallot };            // Insn::sub of vote
enum class BarrierKind : u8 {
  kSync,
  kArrive,
  kReducePopulation,
  kReduceAnd,
  kReduceOr
};  // Insn::sub of bar

enum class MbarrierKind : u8 {  // Insn::sub of mbarrier
  kInit,
  kInvalidate,
  kExpect,
  kComplete,
  kArrive,
  kArriveExpect,
  kArriveNoComplete,
  kDrop,
  kDropExpect,
  kDropNoComplete,
  kWaitState,   // test_wait and try_wait by state
  kWaitParity,  // ... by parity
  kPending,     // pending_count
};

struct alignas(64) Insn {
  u16 op = 0;  // index into the operation tables
  u16 flags = 0;
  bool guard_negated = false;
  u8 bytes = 0;       // memory: size of one element
  u8 vector = 1;      // memory: elements of a lane
  u8 width = 0;       // memory: bytes of a lane in the register's slot
  u8 sub = 0;         // which of several forms (comparison's combination, barrier's kind...)
  u32 guard = kNone;  // slot of @p
  u32 d = 0;          // slots
  u32 s[4] = {};
  i64 imm = 0;             // address offset
  u32 list = kNone;        // first of the vector operands in Program::lists; second destination
  u32 site = kNone;        // counters and memo of a memory instruction
  u32 guard_site = kNone;  // counter of lanes with the guard on
  u32 target = kNone;      // of a branch; index of a call
};

struct Run {
  u32 first = 0, last = 0;  // instructions, both included
  bool control = false;     // the last one sets the program counter itself
  bool branch = false;      // ... and takes its guard as a condition
  u32 counted = 0;          // PTX instructions in it (helpers that lowering adds are not)
};

// What an instruction was in the text.
struct Origin {
  const ptx::Instruction* instruction = nullptr;
  u32 function = 0;     // index into Program::functions
  bool helper = false;  // added by lowering: not counted
};

// A word of a constant bank, in all lanes of the window from `slot` on; it is known when the launch
// is.
struct BankConstant {
  u32 slot = 0;
  u8 bank = 0;
  u32 offset = 0;
};

struct ParamPlace {
  u32 slot = 0;   // offset in the window of lane 0
  u32 bytes = 0;  // of a lane; lanes follow each other
};

// A function's part of the program, and what a window of it needs.
struct FunctionCode {
  std::string name;  // mangled
  const ptx::Function* source = nullptr;
  u32 entry = 0;  // first instruction
  u32 window_bytes = 0;
  u32 local_bytes = 0;               // a thread
  std::vector<std::byte> constants;  // the window's first bytes
  std::vector<std::pair<u32, u32>>
      undefined;  // (offset, bytes) of slots that may be read before written
  std::vector<ParamPlace> params, returns;  // of a device function
};

// What a call does, for an instruction whose target is its index.
struct Call {
  enum class Kind : u8 { kFunction, kIndirect, kPrint, kAssert, kAllocate, kFree };
  Kind kind = Kind::kFunction;
  u32 callee = kNone;                     // index into Program::functions
  std::vector<ParamPlace> args, returns;  // in the caller's window
};

// An instruction that may touch registers of wgmma at the wrong time, as far as its paths tell; of
// a wgmma, its registers: those of A are read, those of D written. By virtual register.
struct RegisterWatch {
  u16 op = 0;  // what it is
  std::vector<u32> reads, writes;
  bool copies = false;          // it moves a constant, or reads[0], to writes[0]
  bool follows_writes = false;  // some wgmma may use what was written behind the last fence
};

struct BranchTable {
  std::vector<u32> targets;  // instructions
};

struct Program {
  const ptx::Module* module = nullptr;             // null for machine code
  std::shared_ptr<const sass::Code> machine_code;  // null for PTX
  std::vector<BankConstant> bank_constants;
  KernelAttributes attributes;
  std::string display_name;  // demangled
  std::vector<Insn> code;
  std::vector<Origin> origin;  // by instruction
  std::vector<Run> runs;
  std::vector<u32> run_at;  // by instruction: its run
  std::vector<u32> lists;
  std::vector<FunctionCode> functions;  // [0] is the kernel
  std::vector<Call> calls;
  std::vector<BranchTable> branch_tables;
  std::vector<u32>
      address_to_function;  // handle of a function pointer -> index into functions, or kNone
  std::map<u32, RegisterWatch>
      watches;  // by instruction; none in a kernel that waits and fences as it must
  u32 sites = 0, guard_sites = 0;
  u32 shared_begin = 0;   // the first shared address (what is below belongs to the system)
  u32 shared_static = 0;  // bytes from shared_begin
  u32 shared_dynamic_alignment = 1;

  bool copies = false;      // it copies asynchronously
  bool warpgroups = false;  // it has wgmma
  bool heap = false;        // it calls malloc or free
  bool ordered = false;     // its result may depend on the order of blocks: they run in order
  std::string unsupported;  // "" or why it cannot be launched
};

}  // namespace vgpu::execute
