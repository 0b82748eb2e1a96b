// SPDX-License-Identifier: Apache-2.0
// The machine code of a kernel as far as its speed depends on it: what pipe an instruction goes to,
// which registers it reads, what it waits for. Encodings of sm_80 to sm_120 (16 bytes an
// instruction) are not documented; the fields read here are those that public disassemblers agree
// on. An opcode that is not in the table counts as `kOther`.
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

#include "analyse/control_flow.hpp"

namespace ladder::analyse {

inline constexpr std::size_t kInstruction = 16;  // bytes

enum class Kind : std::uint8_t {
  kFfma,
  kFloat,    // other single-precision arithmetic
  kImad,     // integer multiply-add, also used to move
  kInteger,  // other integer, logic, comparison, move
  kLoadShared,
  kStoreShared,
  kLoadGlobal,
  kStoreGlobal,
  kAsyncCopy,  // LDGSTS: cp.async
  kCommitCopies,
  kWaitCopies,
  kLocal,      // spills
  kTensor,     // mma.sync: a warp's
  kWarpgroup,  // wgmma: four warps' together
  kMbarrier,   // SYNCS: objects in shared memory that warps wait for
  kBarrier,    // of the block
  kBranch,
  kExit,
  kOther,
};
inline constexpr int kKinds = static_cast<int>(Kind::kOther) + 1;

struct MachineInstruction {
  Kind kind = Kind::kOther;
  std::uint16_t opcode = 0;  // bits 0 to 11
  std::uint8_t bytes = 0;    // memory: of a lane
  std::uint32_t offset = 0;  // in the kernel's code
  std::int64_t target = -1;  // of a branch: offset
  bool always =
      false;  // of a branch or exit: no predicate, what stands behind is not reached from it
  int copies_left = 0;  // kWaitCopies: groups that may still be under way

  // Control: cycles until the next instruction of the warp may issue; scoreboards (0 to 5, 7 none)
  // that it sets when its result is there or its operands are read; scoreboards that it waits for,
  // as a mask.
  std::uint8_t stall = 1, sets_result = 7, sets_read = 7, waits = 0;
  std::array<std::uint8_t, 3> sources{255, 255, 255};  // kFfma: registers; 255 is none
  std::uint8_t reuse = 0;  // bit s: source s is kept for the next instruction
};

std::vector<MachineInstruction> decode(std::span<const std::byte> code);

// "FFMA", "LDS.128", "LDG", ...; "other".
std::string name_of(const MachineInstruction& instruction);

std::vector<Loop> loops_of(std::span<const MachineInstruction> code);

// The loop with the most multiply-adds, the smallest of those; products of tensor cores go before
// those of CUDA cores. Of a loop and one inside it the inner one, if it has products of tensor
// cores or at least half of the outer one's. None (size 1 at 0) is never returned: Errors
// (kInvalidArgument) if no loop has one.
Result<Loop> hot_loop(std::span<const MachineInstruction> code);

// How often each name occurs.
std::map<std::string, int> mix_of(std::span<const MachineInstruction> code);

// The machine code for compute capability `cc` (or the highest below it of the same generation) of
// a kernel in an executable or library, by demangled name, whole or its part before the parameters.
// Errors: kIo (no such file), kInvalidArgument (no such kernel, or only PTX).
struct KernelCode {
  std::string mangled;
  std::vector<std::byte> bytes;
  std::vector<std::byte> cubin;  // that holds it
};
Result<KernelCode> find_code(const std::string& file, std::string_view kernel, int cc);

// The disassembly, by offset: of nvdisasm where it is installed (LADDER_NVDISASM, PATH, CUDA_HOME,
// /usr/local/cuda), else of the virtual GPU's decoder, whose unknown instructions stand as bits.
// `by` says which.
struct Disassembly {
  std::string by;
  std::map<std::uint32_t, std::string> text;
};
Disassembly disassemble(const KernelCode& code);

// A kernel's PTX in an executable or library; lines are numbered as in its module. Errors as
// find_code's.
struct PtxText {
  int first_line = 1;
  std::vector<std::string> lines;
};
Result<PtxText> find_ptx(const std::string& file, std::string_view kernel, int cc);

}  // namespace ladder::analyse
