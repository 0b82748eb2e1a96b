// SPDX-License-Identifier: Apache-2.0
// From counters to Nsight Compute's metrics. Exact is what the PTX determines whatever the assembler makes of it;
// what the assembler's choices change (instruction counts, shared-memory accesses that it merges) is an estimate.
#include <algorithm>

#include "engine/count/counters.hpp"

namespace vgpu::count {
namespace {

using execute::Program;

// The floating-point operations that have a metric of their own.
enum Arithmetic { kFadd, kFmul, kFfma, kDadd, kDmul, kDfma, kArithmetics };
constexpr const char* kArithmeticNames[] = {"fadd", "fmul", "ffma", "dadd", "dmul", "dfma"};

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> set) {
  return std::find(set.begin(), set.end(), word) != set.end();
}

struct Sums {
  u64 arithmetic[kArithmetics] = {};
  // Divisions, roots and the like become sequences with such instructions of their own, and products and sums
  // without a rounding modifier may be fused: then PTX does not say how many there are.
  bool single_expands = false, double_expands = false;
  bool loose_products[2] = {}, loose_sums[2] = {};
  SiteCount loads, stores, atomics, reductions;
  u64 shared_loads = 0, shared_stores = 0, global_loads = 0, global_stores = 0;  // instructions
  u64 warp_instructions = 0, thread_instructions = 0, thread_instructions_on = 0;
  u64 branches = 0, barriers = 0;
};

void add(SiteCount& to, const SiteCount& from) {
  to.global_requests += from.global_requests;
  to.global_sectors += from.global_sectors;
  to.global_bytes += from.global_bytes;
  to.shared_requests += from.shared_requests;
  to.shared_wavefronts += from.shared_wavefronts;
  to.shared_bytes += from.shared_bytes;
  to.local_requests += from.local_requests;
  to.local_sectors += from.local_sectors;
}

void sum_arithmetic(Sums& sums, const ptx::Opcode& opcode, u64 lanes) {
  const std::string_view base = opcode.base(), type = opcode.parts.back();
  const bool wide = type == "f64";
  if (type != "f32" && !wide) return;
  const bool rounded = opcode.has("rn") || opcode.has("rz") || opcode.has("rm") || opcode.has("rp");
  const int offset = wide ? kDadd : kFadd;
  if (base == "add" || base == "sub") {
    sums.arithmetic[offset + kFadd] += lanes;
    sums.loose_sums[wide] |= !rounded;
  } else if (base == "mul") {
    sums.arithmetic[offset + kFmul] += lanes;
    sums.loose_products[wide] |= !rounded;
  } else if (base == "fma" || base == "mad") {
    sums.arithmetic[offset + kFfma] += lanes;
  } else if (is_one_of(base, {"div", "rcp", "sqrt", "rsqrt", "sin", "cos", "lg2", "ex2", "tanh"})) {
    (wide ? sums.double_expands : sums.single_expands) = true;
  }
}

void sum_memory(Sums& sums, const ptx::Opcode& opcode, const InstructionCount& count) {
  const std::string_view base = opcode.base();
  const SiteCount& memory = count.memory;
  if (base == "ld" || base == "ldu") {
    add(sums.loads, memory);
    sums.shared_loads += memory.shared_requests != 0 ? count.executions : 0;
    sums.global_loads += memory.global_requests != 0 ? count.executions : 0;
  } else if (base == "st") {
    add(sums.stores, memory);
    sums.shared_stores += memory.shared_requests != 0 ? count.executions : 0;
    sums.global_stores += memory.global_requests != 0 ? count.executions : 0;
  } else if (base == "atom") {
    add(sums.atomics, memory);
  } else if (base == "red") {
    add(sums.reductions, memory);
  }
}

Sums sum(const Program& program, const std::vector<InstructionCount>& counts) {
  Sums sums;
  for (std::size_t pc = 0; pc < counts.size(); ++pc) {
    const InstructionCount& count = counts[pc];
    const ptx::Instruction* const instruction = program.origin[pc].instruction;
    if (instruction == nullptr) continue;
    const ptx::Opcode& opcode = *instruction->opcode;
    sum_memory(sums, opcode, count);
    if (program.origin[pc].helper || count.executions == 0) continue;
    sums.warp_instructions += count.executions;
    sums.thread_instructions += count.active_lanes;
    sums.thread_instructions_on += count.lanes;
    sum_arithmetic(sums, opcode, count.lanes);
    const std::string_view base = opcode.base();
    if (is_one_of(base, {"bra", "brx", "call", "ret", "exit"})) sums.branches += count.executions;
    if ((base == "bar" || base == "barrier") && !opcode.has("warp")) sums.barriers += count.executions;
  }
  return sums;
}

}  // namespace

Counters::Counters(const Program& program)
    : runs(program.runs.size()), guards(program.guard_sites), sites(program.sites) {}

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
  divergent_branches += other.divergent_branches;
}

std::vector<InstructionCount> by_instruction(const Program& program, const Counters& counters) {
  std::vector<InstructionCount> counts(program.code.size());
  for (std::size_t r = 0; r < program.runs.size(); ++r) {
    for (u32 pc = program.runs[r].first; pc <= program.runs[r].last; ++pc) {
      const execute::Insn& insn = program.code[pc];
      InstructionCount& count = counts[pc];
      count.executions = counters.runs[r].executions;
      count.active_lanes = count.lanes = counters.runs[r].lanes;
      if (insn.guard_site != execute::kNone) count.lanes = counters.guards[insn.guard_site].lanes;
      if (insn.site != execute::kNone) count.memory = counters.sites[insn.site];
    }
  }
  return counts;
}

void report(const Program& program, const Counters& counters, const LaunchConfig& config,
            LaunchReport& into) {
  const Sums sums = sum(program, by_instruction(program, counters));
  auto& exact = into.exact;
  auto& estimates = into.estimates;
  into.lane_instructions = sums.thread_instructions_on;

  exact["launch__grid_size"] = config.grid.count();
  exact["launch__block_size"] = config.block.count();
  exact["l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"] = sums.loads.global_requests;
  exact["l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"] = sums.stores.global_requests;
  exact["l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"] = sums.loads.global_sectors;
  exact["l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum"] = sums.stores.global_sectors;
  exact["smsp__sass_data_bytes_mem_global_op_ld.sum"] = sums.loads.global_bytes;
  exact["smsp__sass_data_bytes_mem_global_op_st.sum"] = sums.stores.global_bytes;
  exact["vgpu__barriers_executed.sum"] = sums.barriers;
  for (int k = 0; k < kArithmetics; ++k) {
    const bool wide = k >= kDadd;
    const bool unsure = (wide ? sums.double_expands : sums.single_expands) ||
                        (sums.loose_products[wide] && sums.loose_sums[wide]);
    const std::string name =
        std::string("smsp__sass_thread_inst_executed_op_") + kArithmeticNames[k] + "_pred_on.sum";
    (unsure ? estimates : exact)[name] = sums.arithmetic[k];
  }

  estimates["smsp__inst_executed.sum"] = sums.warp_instructions;
  estimates["smsp__thread_inst_executed.sum"] = sums.thread_instructions;
  estimates["smsp__thread_inst_executed_pred_on.sum"] = sums.thread_instructions_on;
  estimates["smsp__inst_executed_op_branch.sum"] = sums.branches;
  estimates["smsp__sass_branch_targets_threads_divergent.sum"] = counters.divergent_branches;
  estimates["smsp__inst_executed_op_global_ld.sum"] = sums.global_loads;
  estimates["smsp__inst_executed_op_global_st.sum"] = sums.global_stores;
  estimates["smsp__inst_executed_op_shared_ld.sum"] = sums.shared_loads;
  estimates["smsp__inst_executed_op_shared_st.sum"] = sums.shared_stores;
  estimates["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum"] = sums.loads.shared_wavefronts;
  estimates["smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum"] = sums.stores.shared_wavefronts;
  estimates["smsp__sass_data_bytes_mem_shared_op_ld.sum"] = sums.loads.shared_bytes;
  estimates["smsp__sass_data_bytes_mem_shared_op_st.sum"] = sums.stores.shared_bytes;
  estimates["l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum"] = sums.loads.local_requests;
  estimates["l1tex__t_requests_pipe_lsu_mem_local_op_st.sum"] = sums.stores.local_requests;
  estimates["l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"] = sums.loads.local_sectors;
  estimates["l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"] = sums.stores.local_sectors;
  estimates["l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum"] = sums.atomics.global_requests;
  estimates["l1tex__t_requests_pipe_lsu_mem_global_op_red.sum"] = sums.reductions.global_requests;
  estimates["l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum"] = sums.atomics.global_sectors;
  estimates["l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum"] = sums.reductions.global_sectors;
}

}  // namespace vgpu::count
