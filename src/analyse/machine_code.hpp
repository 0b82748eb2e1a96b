// SPDX-License-Identifier: Apache-2.0
// What of a kernel's machine code determines its speed: each instruction's pipe, source registers
// and wait conditions. The virtual GPU's decoder (vgpu/sass/decode) reads the instructions.
#pragma once
#include <ladder/status.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/schedule.hpp"
#include "sass/decode/instruction.hpp"

namespace ladder::analyse {

using vgpu::ir::kScoreboards;
using vgpu::ir::Loop;

inline constexpr std::size_t kInstruction = 16;  // bytes per instruction

enum class Kind : std::uint8_t {
  kFfma,
  kFloat,    // other single-precision arithmetic
  kImad,     // integer multiply-add, also used for register moves
  kInteger,  // other integer arithmetic, logic, comparison, move
  kLoadShared,
  kStoreShared,
  kLoadGlobal,
  kStoreGlobal,
  kAsyncCopy,  // LDGSTS: cp.async
  kCommitCopies,
  kWaitCopies,
  kLocal,      // local memory: register spills
  kTensor,     // mma.sync, executed by one warp
  kWarpgroup,  // wgmma, executed by four warps
  kMbarrier,   // SYNCS: operations on mbarriers in shared memory
  kBarrier,    // block barrier
  kBranch,
  kExit,
  kOther,
};
inline constexpr int kKinds = static_cast<int>(Kind::kOther) + 1;

struct MachineInstruction : vgpu::ir::ControlCode {
  Kind kind = Kind::kOther;
  std::string mnemonic;      // "FFMA"; empty if the decoder does not know the instruction
  std::uint8_t bytes = 0;    // memory access width per lane
  std::uint32_t offset = 0;  // byte offset in the kernel's code
  std::int64_t target = -1;  // branch: target offset
  // Branch or exit without predicate: the next instruction is not reached from it.
  bool always = false;
  int copies_left = 0;  // kWaitCopies: groups that may still be pending
  std::array<std::uint8_t, 3> sources{255, 255, 255};  // kFfma: source registers; 255: none
};

struct KernelCode {
  std::string mangled;
  std::vector<std::byte> bytes;
  std::vector<std::byte> cubin;  // the cubin that contains the kernel
  int architecture = 0;          // of the cubin, 90 for sm_90
};
vgpu::sass::Word word_at(const KernelCode& code, std::size_t offset);
std::vector<MachineInstruction> decode(const KernelCode& code);

// Mnemonic, or what a group of instructions has in common: "FFMA", "LDS.128", "integer", "other".
std::string name_of(const MachineInstruction& instruction);
// As name_of, but an instruction of a group has its own mnemonic if the decoder knows it.
std::string mnemonic_of(const MachineInstruction& instruction);

std::vector<Loop> loops_of(std::span<const MachineInstruction> code);

// The loop with the most multiply-adds, the shortest on a tie. Tensor core products take precedence
// over those of CUDA cores. A nested loop is preferred to its outer loop if it has tensor core
// products or at least half of the outer loop's products. Errors (kInvalidArgument): no loop
// multiplies.
Result<Loop> hot_loop(std::span<const MachineInstruction> code);

// Number of instructions by mnemonic.
std::map<std::string, int> mix_of(std::span<const MachineInstruction> code);

// The machine code of a kernel in an executable or library, for compute capability `cc` or the
// highest lower one of the same generation. `kernel` is the demangled name, with or without
// parameters. Errors: kIo (no such file), kInvalidArgument (no such kernel, or only PTX).
Result<KernelCode> find_code(const std::string& file, std::string_view kernel, int cc);

// A kernel of a cubin. `name` is demangled.
struct FileKernel {
  std::string name;
  KernelCode code;
  int registers = 0, shared_bytes = 0, local_bytes = 0;  // local: per thread
  int max_threads = 0;                                   // __launch_bounds__; 0: none
};
Result<std::vector<FileKernel>> kernels_in(const std::string& cubin);
// The one that `name` means: its demangled or mangled name, with or without parameters and, where
// only one fits, without template arguments. "": the only one. Errors (kInvalidArgument) list the
// kernels.
Result<FileKernel> choose_kernel(std::vector<FileKernel> kernels, const std::string& name);

// The source line of each instruction, from nvcc -lineinfo. Inlined code has the line of the
// inlined function. Empty if the cubin has no lines.
struct SourcePlace {
  std::string file;
  std::uint32_t line = 0;  // 0: unknown
};
std::vector<SourcePlace> places_of(const KernelCode& code);

// The disassembly, keyed by offset. Uses nvdisasm if it is installed (searched in LADDER_NVDISASM,
// PATH, CUDA_HOME and /usr/local/cuda), otherwise the virtual GPU's decoder, which prints unknown
// instructions as raw bits. `by` names the tool.
struct Disassembly {
  std::string by;
  std::map<std::uint32_t, std::string> text;
};
Disassembly disassemble(const KernelCode& code);

// A kernel's PTX in an executable or library, with the line numbers of its module. Errors: see
// find_code().
struct PtxText {
  int first_line = 1;
  std::vector<std::string> lines;
};
Result<PtxText> find_ptx(const std::string& file, std::string_view kernel, int cc);

}  // namespace ladder::analyse
