// SPDX-License-Identifier: Apache-2.0
// The virtual GPU's engine as its runtime sees it: modules of PTX in, launches out with counters
// and faults. Knows nothing of the CUDA runtime's API, of files or of the command line.
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

class DeviceHeap;  // engine/memory/heap.hpp: what malloc in kernels takes from
class Memory;      // engine/memory/memory.hpp: device memory with its allocations

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

// Something the engine does not have: an instruction, a modifier, a directive. what() names it, and
// the line of PTX and of the source it stands on. Nothing is ever guessed.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

enum class FaultKind {
  kOutOfBounds,   // an access outside every live allocation, or outside shared or local memory
  kUseAfterFree,  // an access inside memory that was freed
  kMisaligned,    // an address that is no multiple of the access's size
  // a barrier that some threads of the block can no longer reach, or reach in another place
  kBarrierDivergence,
  kDeadlock,       // every warp waits for something that cannot come
  kAssert,         // a failed device-side assert()
  kTrap,           // trap, or a call through a bad function pointer
  kStackOverflow,  // calls nested deeper than local memory allows
  kRace,  // (check "race") two agents touch one shared word, or two blocks one global word, one writes,
          // and nothing orders them
  kUninitialized,  // (check "init") a load of memory that was never written; of shared memory: that matters
  kMbarrier,     // an mbarrier that is not there, was overwritten, or is used against its rules
  kBadOperand,   // an operand outside what its instruction takes
  kRegisters,    // setmaxnreg that not all warps of a warpgroup execute, or in the wrong direction
  kClusterExit,  // shared memory of a block of the cluster that has ended
};
const char* to_string(FaultKind kind);  // "out of bounds", ...

// The kernel is at fault. what() is the whole report, several lines: what happened, kernel, block,
// thread, address, the PTX instruction with its line, the source file and line where the PTX has
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
  std::uint32_t local_bytes = 0;  // a thread
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

// One PTX module, parsed and lowered, its global and constant variables placed in `memory`.
class Module {
 public:
  // Throws Unsupported, or std::invalid_argument with line and reason if the text is not PTX. A
  // kernel that contains an unsupported instruction does not fail the module: launching it throws.
  static std::unique_ptr<Module> from_ptx(std::string_view ptx, Memory& memory);
  // The machine code of one architecture (sm_90, sm_90a), an ELF file. Throws std::invalid_argument
  // if it is damaged. As above, a kernel with instructions that are not known fails when it is
  // launched: refusal() says so before.
  static std::unique_ptr<Module> from_cubin(std::span<const std::byte> cubin, Memory& memory);
  virtual ~Module() = default;
  Module() = default;
  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;

  virtual const Kernel* find_kernel(std::string_view name) const = 0;  // null if absent
  // Its form in PTX where there is one, though there is machine code too: what runs in clusters.
  virtual const Kernel* find_kernel_of_ptx(std::string_view name) const {
    return find_kernel(name);
  }
  virtual std::optional<Symbol> find_symbol(std::string_view name) const = 0;
  virtual std::vector<std::string> kernel_names() const = 0;
};

const KernelAttributes& attributes(const Kernel& kernel);

// Why a kernel cannot be launched: the instruction that is not known, and where it is. "" if it
// can.
const std::string& refusal(const Kernel& kernel);

// When the data of an asynchronous copy land, of all the moments that PTX allows, and how warps
// take turns. A kernel that waits for its copies and for its warps as it must computes the same
// under every schedule.
struct CopySchedule {
  enum class Kind : std::uint8_t {
    kEager,  // at once; a warp runs until it waits
    kLazy,   // when somebody waits for them and could not go on without; a warp runs until it waits
    // at moments in between that `seed` picks, and so is how long a warp runs before the next one
    // does
    kRandom,
  };
  Kind kind = Kind::kEager;
  std::uint64_t seed = 0;
};

// How tensor cores add products. Both multiply exactly.
enum class Numerics : std::uint8_t {
  kSingle,  // one product after the other, each sum rounded to nearest in single precision
  kHopper,  // all products of an instruction at once, as an H200 does, bit for bit
};

// Local memory of a thread, at most (CUDA C++ Programming Guide, "Technical Specifications per
// Compute Capability").
inline constexpr std::uint64_t kMostLocalBytes = std::uint64_t{512} << 10;

struct LaunchConfig {
  Dim3 grid, block;
  Dim3 cluster;  // blocks that run together; divides the grid
  std::uint32_t dynamic_shared_bytes = 0;
  unsigned host_threads = 0;  // 0: as many as the machine has; results never depend on it
  bool check_race =
      false;  // FaultKind::kRace; between blocks only where the memory tracks (Memory::track)
  bool check_init =
      false;  // FaultKind::kUninitialized; of global memory only where the memory tracks
  bool check_init_shared =
      true;  // ... if check_init: of shared memory too; a kernel that reads such runs again
  // ... and where bytes of tracked memory are all that comes of such values, they are in doubt
  // (Memory::doubt), for whoever reads them next, and no fault of this launch.
  bool defer_doubts = false;
  bool check_sync =
      true;  // what hardware may forgive: lanes of a warp that meet at different barriers
  // ... likewise: accesses outside the local memory that a thread's functions declare, but near it.
  bool check_local = true;
  std::uint32_t stack_bytes = 1024;  // of a thread, at least
  bool count_lines = false;          // fill LaunchReport::lines
  bool trace = false;                // fill LaunchReport::instructions
  CopySchedule schedule;
  Numerics numerics = Numerics::kSingle;
  bool cooperative = false;  // blocks may wait for each other: all of them run at the same time
  std::uint32_t registers =
      0;  // a thread, as the assembler allotted them, for setmaxnreg; 0: not known
  // Linear indices of the blocks that are executed, in ascending order; empty: all. Unsupported is
  // thrown for a kernel whose blocks may depend on each other.
  std::vector<std::uint64_t> blocks;
  std::size_t print_bytes = std::size_t{1}
                            << 20;  // of text that printf keeps: of more, the oldest is lost
  DeviceHeap* heap = nullptr;       // null: malloc in kernels finds no memory
};

using Metrics = std::map<std::string, std::uint64_t>;  // by Nsight Compute's names

// The share of one source line, where the code has line information. Metrics that are 0 are left
// out.
struct LineReport {
  std::string file;
  std::uint32_t line = 0;
  Metrics exact, estimates;
};

// The first access of a memory instruction in the lowest block that executes it.
struct AccessSample {
  std::uint64_t block = ~std::uint64_t{0};  // linear index
  std::uint32_t warp = 0;                   // in the block
  std::uint32_t mask = 0;                   // lanes on; 0: there was none
  std::uint32_t bytes = 0;                  // of a lane
  bool shared = false;                      // addresses are offsets in shared memory, else global
  std::array<std::uint64_t, 32> addresses{};
};

// One instruction that was executed, with its counts.
struct InstructionReport {
  std::string text;         // as PTX or the disassembly has it
  std::uint32_t place = 0;  // line of the PTX; offset of the machine code
  std::string file;         // of the source; "" where unknown
  std::uint32_t line = 0;
  std::string operation;  // "load", "ffma", ... (engine/count/instruction.hpp)
  std::uint64_t executions = 0, lanes = 0;
  std::uint64_t global_requests = 0, global_sectors = 0, shared_requests = 0, shared_wavefronts = 0;
  AccessSample sample;
};

// Nsight Compute's metric names. `exact` holds only what is equal to the hardware's value for a
// deterministic kernel; everything else is an estimate.
struct LaunchReport {
  std::string engine;                           // "ptx" or "sass"
  Metrics exact, estimates;                     // engine/count/metrics.hpp is the table of all
  std::vector<LineReport> lines;                // in order of file and line
  std::vector<InstructionReport> instructions;  // in order of the code; only what was executed
  double seconds = 0;                           // host time of the launch
  std::uint64_t lane_instructions = 0;          // executed, for the engine's own speed
  std::string output;                           // what the kernel printed (printf), in block order
  std::uint64_t lost_prints =
      0;  // calls of printf whose text LaunchConfig::print_bytes left no room for
  bool called_driver = false;  // printf, malloc or free, which on hardware are the driver's code
};

// Runs the kernel to its end. `params` is the packed parameter block of
// attributes(kernel).param_bytes bytes. Throws Fault (memory then holds what was written so far) or
// Unsupported (before anything ran).
LaunchReport launch(const Kernel& kernel, const LaunchConfig& config,
                    std::span<const std::byte> params, Memory& memory);

}  // namespace vgpu
