// SPDX-License-Identifier: Apache-2.0
// The table of metrics, and the counts of both engines for one list of instructions.
#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

#include "count/metrics.hpp"
#include "count/report.hpp"

namespace vgpu::count {
namespace {

TEST(Metrics, HaveNamesOfTheirOwnUnitsAndMethods) {
  const std::regex form("[a-z0-9]+__[a-z0-9_]+(\\.sum)?");
  std::set<std::string_view> names;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(std::regex_match(std::string(metric.name), form)) << metric.name;
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name << " is there twice";
    EXPECT_NE(metric.unit, "") << metric.name;
    EXPECT_NE(metric.title, "") << metric.name;
    const bool always = metric.unless_ptx == kNever && metric.unless_sass == kNever;
    EXPECT_EQ(metric.method.empty(), always)
        << metric.name << ": an estimate has a method, and only an estimate";
    EXPECT_EQ(find_metric(metric.name), &metric);
    EXPECT_TRUE(metric.share == nullptr || metric.name.ends_with(".sum"))
        << metric.name << ": what is of instructions is a sum";
  }
  EXPECT_EQ(find_metric("smsp__no_such.sum"), nullptr);
}

// The value of a metric of the table for one instruction.
std::uint64_t share(const char* name, const InstructionCount& count, const Class& what) {
  const Metric* metric = find_metric(name);
  const bool counted = metric->operations.has(what.operation) && metric->spaces.has(what.space);
  Instruction instruction;
  instruction.count = count;
  instruction.what = what;
  return counted ? metric->share(instruction) : 0;
}

// Measured: micro.generic_atomics in tests/golden/h200.csv.
TEST(Metrics, CountAGenericAccessOfNeitherMemoryAndItsBytesOfBoth) {
  InstructionCount count;
  count.executions = 10;
  count.shared_bytes = 96;
  count.global_bytes = 32;
  count.shared_requests = 10;
  count.shared_wavefronts = 40;
  const Class generic{Operation::kLoad, Space::kGeneric, 4};
  EXPECT_EQ(share("smsp__inst_executed_op_shared_ld.sum", count, generic), 0u);
  EXPECT_EQ(share("smsp__inst_executed_op_global_ld.sum", count, generic), 0u);
  EXPECT_EQ(share("smsp__sass_data_bytes_mem_shared_op_ld.sum", count, generic), 128u);
  EXPECT_EQ(share("smsp__sass_data_bytes_mem_global_op_ld.sum", count, generic), 128u);
  const Class shared{Operation::kLoad, Space::kShared, 4};
  EXPECT_EQ(share("smsp__inst_executed_op_shared_ld.sum", count, shared), 10u);
  EXPECT_EQ(share("smsp__sass_data_bytes_mem_shared_op_ld.sum", count, shared), 96u);
  EXPECT_EQ(share("smsp__inst_executed_op_shared_st.sum", count, generic), 0u);
  EXPECT_EQ(share("l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", count, generic), 30u);
}

TEST(Metrics, NeedOneWavefrontForEachFourBytesOfALane) {
  InstructionCount count;
  count.executions = count.shared_requests = 10;
  count.shared_wavefronts = 40;
  const char* conflicts = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum";
  EXPECT_EQ(share(conflicts, count, {Operation::kStore, Space::kShared, 16}), 0u);
  EXPECT_EQ(share(conflicts, count, {Operation::kStore, Space::kShared, 8}), 20u);
  EXPECT_EQ(share(conflicts, count, {Operation::kStore, Space::kShared, 1}), 30u);
}

TEST(Metrics, PutAsynchronousCopiesAmongTheLoads) {
  InstructionCount count;
  count.executions = 3;
  count.global_requests = 2;
  count.global_sectors = 8;
  const Class copy{Operation::kAsyncCopy, Space::kGlobal, 16};
  EXPECT_EQ(share("smsp__inst_executed_op_ldgsts.sum", count, copy), 3u);
  EXPECT_EQ(share("smsp__inst_executed_op_global_ld.sum", count, copy), 0u);
  EXPECT_EQ(share("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", count, copy), 2u);
  EXPECT_EQ(share("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", count, copy), 8u);
}

// Measured: micro.distributed and ladder_split_k in tests/golden/h200.csv.
TEST(Metrics, CountAddressesOfDistributedLoads) {
  InstructionCount count;
  count.executions = count.remote_requests = 1;
  count.remote_lanes = 32;
  const char* loads = "l1tex__m_l1tex2xbar_write_bytes_mem_dshared_op_ld.sum";
  count.remote_bytes = 32 * 4;
  EXPECT_EQ(share(loads, count, {Operation::kLoad, Space::kGeneric, 4}), 384u);
  count.remote_bytes = 32 * 16;
  EXPECT_EQ(share(loads, count, {Operation::kLoad, Space::kGeneric, 16}), 576u);
  EXPECT_EQ(share(loads, count, {Operation::kStore, Space::kGeneric, 16}), 0u);
}

TEST(Metrics, CountAnInstructionInEachOfItsPipes) {
  InstructionCount count;
  count.executions = 7;
  Class half{Operation::kHalf};
  half.pipes = ir::pipes_of(half.operation, half.space);
  for (const char* pipe : {"fma", "fmaheavy", "fmalite"}) {
    const std::string name = std::string("sm__inst_executed_pipe_") + pipe + ".sum";
    EXPECT_EQ(share(name.c_str(), count, half), 7u) << pipe;
  }
  EXPECT_EQ(share("sm__inst_executed_pipe_alu.sum", count, half), 0u);
  Class constant{Operation::kLoad, Space::kConstant, 4};
  constant.pipes = ir::pipes_of(constant.operation, constant.space);
  EXPECT_EQ(share("sm__inst_executed_pipe_adu.sum", count, constant), 7u);
  EXPECT_EQ(share("sm__inst_executed_pipe_lsu.sum", count, constant), 0u);
}

// On an architecture that was not measured, what follows from Hopper's rules is an estimate.
TEST(Metrics, OfOtherArchitecturesAreEstimatesWhereRulesWereMeasured) {
  const std::string sectors = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
                    all = "smsp__inst_executed.sum", threads = "launch__block_size";
  LaunchReport report;
  report.engine = "sass";
  report.exact = {{sectors, 4}, {all, 9}, {threads, 32}};
  mark_unmeasured(90, report);
  EXPECT_EQ(report.unmeasured, "");
  EXPECT_EQ(report.exact.size(), 3u);
  mark_unmeasured(80, report);
  EXPECT_EQ(report.unmeasured, "sm_80");
  EXPECT_EQ(report.exact, (Metrics{{sectors, 4}, {threads, 32}}));
  EXPECT_EQ(report.estimates, (Metrics{{all, 9}}));
  report.engine = "ptx";
  mark_unmeasured(80, report);
  EXPECT_EQ(report.exact, (Metrics{{threads, 32}}));
}

}  // namespace
}  // namespace vgpu::count
