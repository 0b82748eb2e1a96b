// SPDX-License-Identifier: Apache-2.0
// Interface of the virtual GPU's engine: load PTX or machine code, launch kernels, and receive
// counters and faults. The engine knows nothing of the CUDA runtime's API, of files or of the
// command line.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

class DeviceHeap;  // engine/memory/heap.hpp: the heap of malloc in kernels
class Memory;      // engine/memory/memory.hpp: device memory and its allocations

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// An instruction, modifier or directive that the engine does not implement. what() names it, with
// its line in the PTX and in the source. The engine never guesses.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FaultKind {
  kOutOfBounds,   // an access outside every live allocation, or outside shared or local memory
  kUseAfterFree,  // an access to freed memory
  kMisaligned,    // an address that is not a multiple of the access's size
  // a barrier that some threads of the block can no longer reach, or that they reach at another
  // instruction
  kBarrierDivergence,
  kDeadlock,       // every warp waits, and nothing can release any of them
  kAssert,         // a failed device-side assert()
  kTrap,           // trap, or a call through a bad function pointer
  kStackOverflow,  // calls nested too deeply for the thread's local memory
  // (check "race") two threads or asynchronous copies access one word of shared memory, or two
  // blocks one word of global memory; at least one of them writes, and no synchronisation orders
  // them
  kRace,
  // (check "init") a load of memory that was never written; of shared memory only if the value
  // affects the result
  kUninitialized,
  kMbarrier,    // an mbarrier not initialised, overwritten, or used against its rules
  kBadOperand,  // an operand outside the range that its instruction allows
  // a setmaxnreg that not all warps of a warpgroup execute, or one in the wrong direction
  kRegisters,
  kClusterExit,  // access to shared memory of a cluster's block that has exited
};
const char* to_string(FaultKind kind);  // "out of bounds", ...

// An error in the kernel. what() is the full report, several lines: what happened, kernel, block,
// thread, address, the PTX instruction with its line, and the source file and line if the PTX has
// them (.loc).
struct Fault : std::runtime_error {
  Fault(FaultKind what_kind, const std::string& report)
      : std::runtime_error(report), kind(what_kind) {}
  FaultKind kind;
  std::string kernel;       // demangled where possible
  Dim3 block, thread;       // indices, not extents
  std::string instruction;  // the PTX text
  int ptx_line = 0;
  std::string file;  // "" where unknown
  int line = 0;
};

struct Param {
  std::uint32_t offset = 0, size = 0;  // bytes in the packed parameter block
};

struct KernelAttributes {
  std::string name;           // mangled
  std::vector<Param> params;  // in order of declaration
  std::uint32_t param_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  // per thread
  std::uint32_t constant_bytes = 0;
  std::uint32_t max_threads = 0;    // .maxntid; 0 if not given
  Dim3 cluster{0, 0, 0};            // .reqnctapercluster; 0 if not given
  int ptx_version = 0, target = 0;  // 90 for 9.0; 80 for sm_80
};

struct Symbol {
  void* address = nullptr;
  std::size_t bytes = 0;
  bool constant = false;
};

class Kernel;  // engine/execute

// One module, parsed and lowered. Its global and constant variables are allocated in `memory`.
class Module {
 public:
  // Throws Unsupported, or std::invalid_argument with line and reason if the text is not PTX. A
  // kernel that contains an unsupported instruction does not fail the module: launching it throws.
  static std::unique_ptr<Module> from_ptx(std::string_view ptx, Memory& memory);
  // The machine code of one architecture (sm_90, sm_90a), an ELF file. Throws std::invalid_argument
  // if the file is damaged. As above, a kernel with unknown instructions fails only when it is
  // launched; refusal() returns the reason beforehand.
  static std::unique_ptr<Module> from_cubin(std::span<const std::byte> cubin, Memory& memory);
  virtual ~Module() = default;
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual const Kernel* find_kernel(std::string_view name) const = 0;  // null if absent
  virtual std::optional<Symbol> find_symbol(std::string_view name) const = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
};

const KernelAttributes& attributes(const Kernel& kernel);

// Why a kernel cannot be launched: the unknown instruction and its place. "" if it can be launched.
const std::string& refusal(const Kernel& kernel);

// When asynchronous copies complete, among all times that PTX allows, and how long each warp runs
// before the next one. A correctly synchronised kernel computes the same results under every
// schedule.
struct CopySchedule {
  enum class Kind : std::uint8_t {
    kEager,  // copies complete at once; a warp runs until it waits
    // copies complete only when a thread waits for them and could not continue otherwise; a warp
    // runs until it waits
    kLazy,
    // copies complete at times between these two that `seed` selects; it also selects how long a
    // warp runs before the next one
    kRandom,
  };
  Kind kind = Kind::kEager;
  std::uint64_t seed = 0;
};

// How tensor cores accumulate products. The products themselves are exact in both modes.
enum class Numerics : std::uint8_t {
  kSingle,  // one product after another, each sum rounded to nearest FP32
  kHopper,  // all products of one instruction at once, bit for bit as an H200 does
};

// Maximum local memory per thread, in bytes (CUDA C++ Programming Guide, "Technical Specifications
// per Compute Capability").
inline constexpr std::uint64_t kMostLocalBytes = std::uint64_t{512} << 10;

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster;  // blocks per cluster; the grid is a multiple of it
  std::uint32_t dynamic_shared_bytes = 0;
  unsigned host_threads = 0;  // 0: one per hardware thread; results do not depend on it
  // Reports FaultKind::kRace. Races between blocks are found only if the memory tracks accesses
  // (Memory::track).
  bool check_race = false;
  // Reports FaultKind::kUninitialized; for global memory only if the memory tracks writes.
  bool check_init = false;
  // With check_init: covers shared memory too. A kernel that reads unwritten shared memory runs a
  // second time.
  bool check_init_shared = true;
  // With check_init_shared: if unwritten values affect only bytes of tracked memory, the launch
  // does not fault. Those bytes are marked as in doubt (Memory::doubt), and a later read of them is
  // reported.
  bool defer_doubts = false;
  // Reports lanes of a warp that wait at different barriers, which hardware may tolerate.
  bool check_sync = true;
  // Reports accesses outside, but near, the local memory that a thread's functions declare.
  // Hardware may tolerate these too.
  bool check_local = true;
  std::uint32_t stack_bytes = 1024;  // minimum per thread
  bool count_lines = false;          // fill LaunchReport::lines
  bool trace = false;                // fill LaunchReport::instructions
  CopySchedule schedule;
  Numerics numerics = Numerics::kSingle;
  bool cooperative = false;  // blocks may wait for each other, so all run concurrently
  // Registers per thread, as allocated by the assembler; setmaxnreg needs it. 0: unknown.
  std::uint32_t registers = 0;
  // Linear indices of the blocks to execute, in ascending order; empty: all. The launch throws
  // Unsupported for a kernel whose blocks may depend on each other.
  std::vector<std::uint64_t> blocks;
  // Capacity for printf's text, in bytes. When it is full, the oldest text is dropped.
  std::size_t print_bytes = std::size_t{1} << 20;
  DeviceHeap* heap = nullptr;  // null: malloc in kernels finds no memory
  // Least value of %clock and %globaltimer; LaunchReport::end_clock of the device's last launch.
  std::uint64_t begin_clock = 0;
};

using Metrics = std::map<std::string, std::uint64_t>;  // keyed by Nsight Compute's metric names

// The part of the metrics that belongs to one source line, if the code has line information.
// Metrics that are 0 are omitted.
struct LineReport {
  std::string file;
  std::uint32_t line = 0;
  Metrics exact, estimates;
};

// The first access of a memory instruction in the lowest block that executes it.
struct AccessSample {
  std::uint64_t block = ~std::uint64_t{0};  // linear index
  std::uint32_t warp = 0;                   // in the block
  std::uint32_t mask = 0;                   // active lanes; 0: no access
  std::uint32_t bytes = 0;                  // per lane
  bool shared = false;                      // addresses are offsets in shared memory, else global
  std::array<std::uint64_t, 32> addresses{};
};

// Counts of one executed instruction.
struct InstructionReport {
  std::string text;         // the PTX statement or the disassembled instruction
  std::uint32_t place = 0;  // line in the PTX, or byte offset in the machine code
  std::string file;         // of the source; "" where unknown
  std::uint32_t line = 0;
  std::string operation;  // "load", "ffma", ... (engine/count/instruction.hpp)
  std::uint64_t executions = 0, lanes = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, shared_requests = 0, shared_wavefronts = 0;
  AccessSample sample;
};

// Metrics use Nsight Compute's names. `exact` holds only values equal to the hardware's for a
// deterministic kernel; all others are estimates.
struct LaunchReport {
  std::string engine;                           // "ptx" or "sass"
  Metrics exact, estimates;                     // all are listed in engine/count/metrics.hpp
  std::vector<LineReport> lines;                // in order of file and line
  std::vector<InstructionReport> instructions;  // in order of the code; only what was executed
  double seconds = 0;                           // host time of the launch
  std::uint64_t lane_instructions = 0;          // executed; measures the engine's own speed
  std::string output;                           // what the kernel printed (printf), in block order
  // printf calls whose text did not fit into LaunchConfig::print_bytes.
  std::uint64_t lost_prints = 0;
  // The kernel called printf, malloc or free, which on hardware are the driver's code.
  bool called_driver = false;
  std::uint64_t end_clock = 0;  // at least every value that the kernel read from %clock
};

// Runs the kernel to completion. `params` is the packed parameter block of
// attributes(kernel).param_bytes bytes. Throws Fault (memory then holds everything written so far)
// or Unsupported (before anything runs).
LaunchReport launch(const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, Memory& memory);

}  // namespace vgpu
