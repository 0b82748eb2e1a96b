// SPDX-License-Identifier: Apache-2.0
// Classes and counts of PTX instructions.
#include <algorithm>
#include <initializer_list>

#include "count/counters.hpp"

namespace vgpu::count {
namespace {

using ir::Program;
using enum Operation;

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

Space space_of(const ptx::Opcode& opcode) {
  for (const std::string_view part : opcode.parts) {
    // Machine code reaches other blocks' shared memory by generic addresses.
    if (part == "shared::cluster") return Space::kGeneric;
    const std::string_view name = part.substr(0, part.find(':'));
    if (name == "global") return Space::kGlobal;
    if (name == "shared") return Space::kShared;
    if (name == "local") return Space::kLocal;
    if (name == "const" || name == "param") return Space::kConstant;
  }
  return Space::kGeneric;
}

Operation memory_operation(const ptx::Opcode& opcode) {
  const std::string_view base = opcode.base();
  if (base == "ld" || base == "ldu") return kLoad;
  if (base == "st" && !opcode.has("async")) return kStore;
  if (base == "atom") return kAtomic;
  if (base == "red" && !opcode.has("async")) return kReduction;
  if (base == "ldmatrix") return kMatrixLoad;
  if (base == "stmatrix") return kMatrixStore;
  if (base != "cp" || !opcode.has("async")) return kOther;
  if (opcode.has("commit_group")) return opcode.has("bulk") ? kOther : kAsyncGroup;
  if (opcode.has("wait_group") || opcode.has("wait_all"))
    return opcode.has("bulk") ? kOther : kMisc;
  if (opcode.has("mbarrier")) return kOther;
  if (!opcode.has("bulk")) return kAsyncCopy;
  // cp.async.bulk.DESTINATION.SOURCE
  const auto at = std::find_if(opcode.parts.begin(), opcode.parts.end(), [](std::string_view part) {
    return part.starts_with("shared") || part == "global";
  });
  return at != opcode.parts.end() && at->starts_with("shared") ? kBulkLoad : kBulkStore;
}

// f32 and f64 operations that have their own metric.
Operation floating(std::string_view base, bool wide) {
  if (base == "add" || base == "sub") return wide ? kDadd : kFadd;
  if (base == "mul") return wide ? kDmul : kFmul;
  if (base == "fma" || base == "mad") return wide ? kDfma : kFfma;
  return wide ? kDouble : kFloat;
}

Operation operation_of(const ptx::Opcode& opcode) {
  const std::string_view base = opcode.base(), type = opcode.parts.back();
  if (const Operation memory = memory_operation(opcode); memory != kOther) return memory;
  if (is_one_of(base, {"bra", "brx", "call", "ret", "exit"})) return kBranch;
  if (base == "bar" || base == "barrier") return opcode.has("warp") ? kControl : kBarrier;
  if (base == "mbarrier") return kMbarrier;
  if (base == "wgmma") return opcode.has("mma_async") ? kTensorWarpgroup : kOther;
  if (base == "mma" || (base == "wmma" && opcode.has("mma"))) {
    if (type == "f64") return kTensorDouble;
    return is_one_of(type, {"s32"}) ? kTensorInteger : kTensorFloat;
  }
  if (is_one_of(base, {"shfl", "vote", "match", "redux", "activemask"})) return kExchange;
  if (is_one_of(base, {"cvt", "cvta"})) return base == "cvt" ? kConversion : kOther;
  if (base == "mov") return kMisc;
  if (is_one_of(base, {"nop", "isspacep", "membar", "fence"})) return kOther;
  if (type == "f32" || type == "f64") return floating(base, type == "f64");
  if (type.starts_with("f16") || type.starts_with("bf16")) return kHalf;
  // The hardware counts logic, shifts and bit counts as integer instructions.
  if (is_one_of(base, {"prmt", "selp", "brev", "bmsk", "szext"}) || type == "pred") return kBit;
  if (is_one_of(base, {"and", "or", "xor", "not", "lop3", "shl", "shr", "shf", "bfe", "bfi", "popc",
                       "clz", "bfind", "fns"})) {
    return kInteger;
  }
  const bool integer =
      type.size() > 1 && (type[0] == 's' || type[0] == 'u') && type[1] >= '0' && type[1] <= '9';
  return integer ? kInteger : kOther;
}

Class class_of(const ptx::Opcode& opcode, const ir::Insn& insn) {
  Class what;
  what.operation = operation_of(opcode);
  const bool memory = insn.site != ir::kNone;
  what.space = memory ? space_of(opcode) : Space::kNone;
  what.bytes = memory ? static_cast<std::uint8_t>(insn.bytes * insn.vector) : 0;
  return what;
}

void locate(const Program& program, const ptx::Instruction& instruction, Instruction& into) {
  if (instruction.location == ptx::kNone) return;
  const ptx::Location& location = program.module->locations[instruction.location];
  into.file = program.module->file_name(location.file);
  into.line = location.line;
}

void add(SiteCount& to, const SiteCount& from) {
  to.global_requests += from.global_requests;
  to.global_sectors += from.global_sectors;
  to.global_bytes += from.global_bytes;
  to.shared_requests += from.shared_requests;
  to.shared_wavefronts += from.shared_wavefronts;
  to.shared_bytes += from.shared_bytes;
  to.local_requests += from.local_requests;
  to.local_sectors += from.local_sectors;
  to.bulk_bytes += from.bulk_bytes;
  to.bulk_deliveries += from.bulk_deliveries;
  to.bulk_multicasts += from.bulk_multicasts;
  to.torn_copies += from.torn_copies;
}

}  // namespace

Counters::Counters(const Program& program, bool traced)
    : runs(program.runs.size()),
      guards(program.guard_sites),
      sites(program.sites),
      divergent(program.code.size()),
      again(program.machine_code != nullptr ? program.code.size() : 0),
      samples(traced ? program.sites : 0) {}

void Counters::add(const Counters& other) {
  for (std::size_t i = 0; i < runs.size(); ++i) {
    runs[i].executions += other.runs[i].executions;
    runs[i].lanes += other.runs[i].lanes;
  }
  for (std::size_t i = 0; i < guards.size(); ++i) {
    guards[i].executions += other.guards[i].executions;
    guards[i].lanes += other.guards[i].lanes;
  }
  for (std::size_t i = 0; i < sites.size(); ++i) count::add(sites[i], other.sites[i]);
  for (std::size_t i = 0; i < divergent.size(); ++i) divergent[i] += other.divergent[i];
  for (std::size_t i = 0; i < again.size(); ++i) {
    again[i].executions += other.again[i].executions;
    again[i].lanes += other.again[i].lanes;
    again[i].repeated += other.again[i].repeated;
  }
  for (std::size_t i = 0; i < samples.size(); ++i) {
    if (other.samples[i].block < samples[i].block) samples[i] = other.samples[i];
  }
  retried |= other.retried;
  waited |= other.waited;
  called_driver |= other.called_driver;
  parted |= other.parted;
}

std::vector<Instruction> instructions(const Program& program, const Counters& counters) {
  std::vector<Instruction> list;
  list.reserve(program.code.size());
  for (std::size_t r = 0; r < program.runs.size(); ++r) {
    for (u32 pc = program.runs[r].first; pc <= program.runs[r].last; ++pc) {
      const ptx::Instruction* const instruction = program.origin[pc].instruction;
      if (instruction == nullptr) continue;
      const ir::Insn& insn = program.code[pc];
      Instruction& item = list.emplace_back();
      item.what = class_of(*instruction->opcode, insn);
      locate(program, *instruction, item);
      InstructionCount& count = item.count;
      item.text = instruction->text;
      item.place = static_cast<u32>(instruction->line);
      if (insn.site != ir::kNone) {
        static_cast<SiteCount&>(count) = counters.sites[insn.site];
        if (!counters.samples.empty()) item.sample = &counters.samples[insn.site];
      }
      if (program.origin[pc].helper) continue;  // added by lowering: only its memory accesses count
      count.executions = counters.runs[r].executions;
      count.active_lanes = count.lanes = counters.runs[r].lanes;
      if (insn.guard_site != ir::kNone) count.lanes = counters.guards[insn.guard_site].lanes;
      count.divergent = counters.divergent[pc];
    }
  }
  return list;
}

Doubts torn_copies(const Counters& counters) {
  const bool any = std::any_of(counters.sites.begin(), counters.sites.end(),
                               [](const SiteCount& site) { return site.torn_copies != 0; });
  return any ? kTornCopies : kNever;
}

Doubts doubts(const Program& program, const Counters& counters) {
  bool expands[2] = {}, loose_products[2] = {}, loose_sums[2] = {}, selects = false;
  bool polls = counters.waited, fragments = false;
  for (std::size_t pc = 0; pc < program.code.size(); ++pc) {
    const ptx::Instruction* const instruction = program.origin[pc].instruction;
    if (instruction == nullptr || counters.runs[program.run_at[pc]].executions == 0) continue;
    const ptx::Opcode& opcode = *instruction->opcode;
    const std::string_view base = opcode.base(), type = opcode.parts.back();
    polls |= base == "ld" && !opcode.has("shared") &&
             (opcode.has("acquire") || opcode.has("relaxed") || opcode.has("volatile"));
    fragments |= base == "wmma" && (opcode.has("load") || opcode.has("store"));
    const bool atomic = base == "atom" || base == "red";
    polls |= atomic && is_one_of(type, {"f16", "bf16", "b16"});
    if (type != "f32" && type != "f64") continue;
    // selp between constants may let ptxas save a multiplication or an addition.
    selects |= base == "selp";
    const bool wide = type == "f64";
    const bool rounded =
        opcode.has("rn") || opcode.has("rz") || opcode.has("rm") || opcode.has("rp");
    loose_sums[wide] |= !rounded && is_one_of(base, {"add", "sub"});
    loose_products[wide] |= !rounded && base == "mul";
    // Shared memory has no floating-point atomics: a loop adds.
    expands[wide] |= atomic && !opcode.has("global");
    expands[wide] |=
        is_one_of(base, {"div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"});
  }
  Doubts doubts = torn_copies(counters);
  if (expands[0] || (loose_products[0] && (loose_sums[0] || selects))) doubts |= kSinglePrecision;
  if (expands[1] || (loose_products[1] && loose_sums[1])) doubts |= kDoublePrecision;
  if (polls) doubts |= kPolls | kWaits;
  if (fragments) doubts |= kFragments;
  if (counters.called_driver) doubts |= kCalledDriver;
  return doubts;
}

}  // namespace vgpu::count
