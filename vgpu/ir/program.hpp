// SPDX-License-Identifier: Apache-2.0
// The decoded form of a kernel. A function's registers are in a "window" of a warp: each virtual
// register has a slot there, an array of 32 lanes (predicates: one 32-bit mask), and instructions
// refer to slots by byte offset. Immediates and symbol addresses are slots too, broadcast to all
// lanes when the window is created, so that an instruction has one form for all kinds of operands.
// Code is divided into runs: straight-line sequences that only their last instruction can leave.
// Scheduling and counting then cost once per run instead of once per instruction.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/counter_class.hpp"
#include "ir/device_launch.hpp"
#include "ir/kernel.hpp"
#include "ir/schedule.hpp"

namespace vgpu::ir {

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

// Bits of Insn::flags; their meaning depends on the operation.
enum Flag : u16 {
  kFlagAddress32 = 1,   // memory: the address register has 32 bits
  kFlagSigned = 2,      // memory: a load that sign-extends into a wider register
  kFlagStrong = 4,      // memory: volatile, relaxed, acquire, release: may poll for another thread
  kFlagNegate = 8,      // the predicate operand is negated
  kFlagAligned = 16,    // barriers: all lanes of a warp arrive at one instruction
  kFlagStore = 32,      // memory: writes
  kFlagHasResult = 64,  // atomics: the old value is returned
  kFlagGeneric = 128,   // mbarriers: the address is a generic one
  // Other meanings for asynchronous copies.
  kFlagIgnore = kFlagNegate,   // s[2] is the predicate ignore-src
  kFlagCopy = kFlagHasResult,  // reads global memory and writes shared memory
  // memory: addresses as in machine code: the upper halves are in the row after s[0], or (with
  // kFlagAddress32) s[3] is added
  kFlagMachine = 256,
  kFlagCompared = 512,  // memory: the load or the exchange of an atomic operation written as a loop
  kFlagHalf = 1024,     // memory: the access covers one unknown half of the word
  kFlagSum = 2048,      // atomics: adds floats, so that the order of several matters
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
  u8 vector = 1;      // memory: elements per lane
  u8 width = 0;       // memory: bytes per lane in the register's slot
  u8 sub = 0;         // variant (comparison's combination, barrier's kind...)
  u32 guard = kNone;  // slot of @p
  u32 d = 0;          // slots
  u32 s[4] = {};
  i64 imm = 0;             // address offset
  u32 list = kNone;        // first of the vector operands in Program::lists; second destination
  u32 site = kNone;        // counters and memo of a memory instruction
  u32 guard_site = kNone;  // counter of lanes whose guard is true
  u32 target = kNone;      // of a branch; index of a call
};

struct Run {
  u32 first = 0, last = 0;  // instructions, both included
  bool control = false;     // the last one sets the program counter itself
  bool branch = false;      // ... also for lanes whose guard is false
  u32 counted = 0;          // PTX instructions in it, without helpers that lowering added
};

// A statement of PTX or an instruction of machine code, as reports show it.
struct Statement {
  std::string_view text;  // valid as long as Program::storage
  u32 place = 0;          // PTX: line; machine code: offset
  std::string_view file;  // of the source; "" where unknown
  u32 line = 0;
  u32 traits = 0;  // bits of Trait
};

// What an instruction was lowered from.
struct Origin {
  u32 statement = kNone;  // index into Program::statements; kNone: the end of a function
  u32 function = 0;       // index into Program::functions
  bool helper = false;    // added by lowering: not counted
  Class what;             // for the counters
};

// A word of a constant bank, broadcast to all lanes of the slot. Its value is known only at launch.
struct BankConstant {
  u32 slot = 0;
  u8 bank = 0;
  u32 offset = 0;
};

struct ParamPlace {
  u32 slot = 0;   // offset in the window of lane 0
  u32 bytes = 0;  // per lane; lanes are consecutive
};

// A function's part of the program, and the contents of its window.
struct FunctionCode {
  std::string name;  // mangled
  u32 entry = 0;     // first instruction
  u32 window_bytes = 0;
  u32 local_bytes = 0;               // per thread
  std::vector<std::byte> constants;  // the window's first bytes
  // (offset, bytes) of slots that may be read before they are written.
  std::vector<std::pair<u32, u32>> undefined;
  std::vector<ParamPlace> params, returns;  // of a device function
};

// Description of a call; the instruction's target is its index.
struct Call {
  enum class Kind : u8 { kFunction, kIndirect, kPrint, kAssert, kAllocate, kFree, kDevice };
  Kind kind = Kind::kFunction;
  u32 callee = kNone;                     // index into Program::functions; kDevice: DeviceFunction
  std::vector<ParamPlace> args, returns;  // in the caller's window
};

// An instruction that may access registers of an incomplete wgmma, according to control flow; or a
// wgmma with its own registers (A is read, D is written). Lists hold virtual registers.
struct RegisterWatch {
  u16 op = 0;  // the instruction's operation
  std::vector<u32> reads, writes;
  bool copies = false;          // moves a constant, or reads[0], to writes[0]
  bool follows_writes = false;  // some wgmma may use a value written after the last fence
};

// PTX: an instruction whose result is not used on all ways from it, so that ptxas may move it to
// `places`: instructions behind a branch, or with a guard.
struct Sinkable {
  u32 pc = 0;
  std::vector<u32> places;
};

struct BranchTable {
  std::vector<u32> targets;  // instructions
};

// What machine code has besides.
struct MachineCode {
  std::vector<u32> pc_at;            // by address / 16
  std::vector<ControlCode> control;  // by statement
  std::vector<Ways> ways;            // by statement
  u32 param_base = 0;                // offset of the parameters in bank 0
  u32 stack_bytes = 0;
  // Constant banks: 2 (literals and tables of the kernel), 3 (__constant__ variables, in device
  // memory), 4 (addresses). Bank 0 holds the launch and its parameters.
  std::vector<std::byte> bank2, bank4;
  const std::byte* bank3 = nullptr;
  std::size_t bank3_bytes = 0;
};

struct Program {
  std::optional<MachineCode> machine_code;  // none for PTX
  std::shared_ptr<const void> storage;      // of the statements' texts
  std::vector<Statement> statements;
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
  // Handle of a function pointer -> index into functions, or kNone.
  std::vector<u32> address_to_function;
  std::vector<Sinkable> sinkable;
  // By instruction; empty for a kernel whose waits and fences are provably correct.
  std::map<u32, RegisterWatch> watches;
  u32 sites = 0, guard_sites = 0;
  u32 shared_begin = 0;   // first shared address; those below are reserved for the system
  u32 shared_static = 0;  // bytes from shared_begin
  u32 shared_dynamic_alignment = 1;

  bool copies = false;                   // contains asynchronous copies
  bool warpgroups = false;               // contains wgmma
  bool heap = false;                     // calls malloc or free
  bool prints = false;                   // calls vprintf or __assertfail
  std::map<u64, Launchable> launchable;  // by the value of its function pointer
  // Machine code: places of functions, by the values of the pointers that variables hold.
  std::map<u64, u32> function_pointers;
  bool ordered = false;  // the result may depend on the order of blocks, so they run in order
  // Adds floats to global memory without reading the sums from the atomic.
  bool sums = false;
  std::string unsupported;  // "" or why it cannot be launched
};

}  // namespace vgpu::ir
