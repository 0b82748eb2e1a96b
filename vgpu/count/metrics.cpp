// SPDX-License-Identifier: Apache-2.0
#include "count/metrics.hpp"

#include <algorithm>
#include <array>

namespace vgpu::count {
namespace {

using enum ir::Counted;
using Count = InstructionCount;

std::uint64_t executions(const Count& c, const Class&) { return c.executions; }
std::uint64_t active_lanes(const Count& c, const Class&) { return c.active_lanes; }
std::uint64_t lanes(const Count& c, const Class&) { return c.lanes - c.refused_lanes; }
std::uint64_t lanes_once(const Count& c, const Class&) { return c.lanes - c.repeated_lanes; }
std::uint64_t divergent(const Count& c, const Class&) { return c.divergent; }
std::uint64_t global_requests(const Count& c, const Class&) { return c.global_requests; }
std::uint64_t global_sectors(const Count& c, const Class&) { return c.global_sectors; }
std::uint64_t global_bytes(const Count& c, const Class&) { return c.global_bytes; }
std::uint64_t local_requests(const Count& c, const Class&) { return c.local_requests; }
// Measured: every 4 bytes per lane are a separate request.
std::uint64_t local_store_requests(const Count& c, const Class& w) {
  return c.local_requests * static_cast<std::uint64_t>(std::max(1, w.bytes / 4));
}
std::uint64_t local_sectors(const Count& c, const Class&) { return c.local_sectors; }
std::uint64_t bulk_bytes(const Count& c, const Class&) { return c.bulk_bytes; }
std::uint64_t bulk_reads(const Count& c, const Class&) { return c.bulk_reads; }
std::uint64_t bulk_multicast_reads(const Count& c, const Class&) { return c.bulk_multicast_reads; }
std::uint64_t bulk_deliveries(const Count& c, const Class&) { return c.bulk_deliveries; }
std::uint64_t bulk_multicasts(const Count& c, const Class&) { return c.bulk_multicasts; }
std::uint64_t wavefronts(const Count& c, const Class&) { return c.shared_wavefronts; }

// Measured: bytes of a generic access count for both global and shared memory, wherever the address
// points. The instruction counts as neither a global nor a shared one.
std::uint64_t global_data(const Count& c, const Class& w) {
  return c.global_bytes + (w.space == Space::kGeneric ? c.shared_bytes : 0);
}
std::uint64_t shared_data(const Count& c, const Class& w) {
  return c.shared_bytes + (w.space == Space::kGeneric ? c.global_bytes : 0);
}

// Wavefronts beyond the minimum for the width of the accesses.
std::uint64_t conflicts(const Count& c, const Class& w) {
  const std::uint64_t needed = c.shared_requests * std::max(1, w.bytes / 4);
  return c.shared_wavefronts - std::min(needed, c.shared_wavefronts);
}

constexpr std::string_view kAssembler = "counted in PTX; the assembler merges, splits and unrolls";
constexpr std::string_view kLoops =
    "counted in PTX, which the assembler merges, splits and unrolls; or repeated by who waits, as "
    "time has "
    "it; or the lanes of a call returned apart";
constexpr std::string_view kSpilled =
    "counted in PTX; which variables stay in registers is the assembler's choice";
constexpr std::string_view kFused =
    "counted in PTX; products and sums may be fused, divisions and roots become sequences";
constexpr std::string_view kWidth =
    "wavefronts beyond one for each 4 bytes of a lane; the hardware adds arbitration with other "
    "traffic";
constexpr std::string_view kCarveOut =
    "with all the shared memory that a multiprocessor can have; the driver chooses how much of it "
    "a kernel "
    "needs";
constexpr std::string_view kClasses =
    "counted in PTX; or the lanes of a call returned apart; or instructions whose class was not "
    "measured";
constexpr std::string_view kCombined =
    "counted in PTX; the assembler may combine the lanes of an address first, and sends atomics "
    "whose result "
    "is not "
    "used as reductions";
constexpr std::string_view kTorn =
    "as if each sector were moved once; the hardware looks several times at 16-byte copies that "
    "are not of "
    "whole "
    "sectors to whole sectors";

constexpr Section kInst = Section::kInstructions, kMem = Section::kMemory, kShm = Section::kShared;
constexpr Section kLaunch = Section::kLaunch, kOcc = Section::kOccupancy;
constexpr Operations kAnyOp;
constexpr Operations kAnyGuarded = [] {
  Operations all;
  all.bits &= ~Operations{Operation::kGridWait}.bits;
  return all;
}();
constexpr Spaces kGlobal = {Space::kGlobal}, kShared = {Space::kShared}, kLocal = {Space::kLocal};

constexpr Metric of_launch(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, std::string_view method = "") {
  const Doubts unless = method.empty() ? kNever : kAlways;
  return {name, unit, section, title, nullptr, {}, {}, unless, unless, method};
}

constexpr Metric exact(Section section, std::string_view name, std::string_view unit,
                       std::string_view title, Share share, Operations operations,
                       Spaces spaces = {}) {
  return {name, unit, section, title, share, operations, spaces, kNever, kNever, ""};
}

// Metrics of loads. While a thread waits for another one, its number of loads depends on timing;
// and ptxas merges loads.
constexpr Metric of_loads(std::string_view name, std::string_view unit, std::string_view title,
                          Share share, Operations operations, Doubts also = kNever) {
  constexpr std::string_view kTime =
      "how often a thread looks at what it waits for depends on time; the assembler merges "
      "loads of one place and drops unused elements";
  return {name,
          unit,
          Section::kMemory,
          title,
          share,
          operations,
          {},
          kPolls | kFragments | kLooseLoads | kOtherArchitecture | also,
          kPolls | also,
          also == kNever ? kTime : kTorn};
}

// What bulk loads bring to multiprocessors: whole boxes, also what lies outside the tensor.
constexpr Metric of_boxes(std::string_view name, std::string_view title, Share share) {
  return {name,
          "bytes",
          Section::kMemory,
          title,
          share,
          {Operation::kBulkLoad},
          {},
          kUnevenBoxes,
          kUnevenBoxes,
          "as if rows of a box that begin within a sector took one more sector, and rows outside "
          "the tensor did not"};
}

constexpr Metric of_stores(std::string_view name, std::string_view unit, std::string_view title,
                           Share share) {
  return {name,
          unit,
          Section::kMemory,
          title,
          share,
          {Operation::kStore},
          {},
          kFragments | kStoresApart | kOtherArchitecture,
          kNever,
          "in which pieces wmma moves a fragment is the assembler's choice; lanes that "
          "diverged in a loop may store apart"};
}

// Exact from machine code only.
constexpr Metric from_sass(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, Share share, Operations operations,
                           std::string_view method, Spaces spaces = {}, Doubts also = kNever) {
  return {name, unit, section, title, share, operations, spaces, kAlways, kRetries | also, method};
}

// Exact from machine code only, and only if no thread waits in a loop: the number of its iterations
// depends on timing.
constexpr Metric of_loops(std::string_view name, std::string_view unit, std::string_view title,
                          Share share, Operations operations, std::string_view method) {
  return {name,  unit,    Section::kInstructions,
          title, share,   operations,
          {},    kAlways, kWaits | kParted | kBroke | kOtherArchitecture,
          method};
}

// Thread instructions of a class with their guard true; `also`: further doubts.
constexpr Metric of_class(std::string_view name, std::string_view title, Operations operations,
                          Doubts also = kWaits) {
  return {name,    "inst",     Section::kInstructions,
          title,   lanes_once, operations,
          {},      kAlways,    kUnclassified | kRetries | kOtherArchitecture | also,
          kClasses};
}

constexpr Metric arithmetic(Doubts from_ptx, std::string_view name, std::string_view title,
                            Operations operations) {
  return {name,       "inst", Section::kInstructions,        title,    lanes,
          operations, {},     from_ptx | kOtherArchitecture, kRetries, kFused};
}

constexpr Metric estimated(Section section, std::string_view name, std::string_view unit,
                           std::string_view title, Share share, Operations operations,
                           std::string_view method, Spaces spaces = {}) {
  return {name, unit, section, title, share, operations, spaces, kAlways, kAlways, method};
}

constexpr std::array kMetrics = {
    // The launch configuration and the resources that ptxas assigned.
    of_launch(kLaunch, "launch__grid_size", "blocks", "blocks of the grid"),
    of_launch(kLaunch, "launch__block_size", "threads", "threads of a block"),
    of_launch(kLaunch, "launch__registers_per_thread", "registers", "registers of a thread"),
    of_launch(kLaunch, "launch__shared_mem_per_block_static", "bytes",
              "shared memory of a block, static"),
    of_launch(kLaunch, "launch__shared_mem_per_block_dynamic", "bytes",
              "shared memory of a block, dynamic"),
    of_launch(kLaunch, "launch__shared_mem_per_block_driver", "bytes",
              "shared memory of a block, the system's"),

    // Instructions.
    of_loops("smsp__inst_executed.sum", "inst", "instructions of warps", executions, kAnyOp,
             kLoops),
    of_loops("smsp__thread_inst_executed.sum", "inst", "instructions of threads", active_lanes,
             kAnyOp, kLoops),
    of_loops("smsp__thread_inst_executed_pred_on.sum", "inst",
             "instructions of threads, guard true", lanes, kAnyGuarded, kLoops),
    arithmetic(kSinglePrecision, "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
               "FADD of threads", {kFadd}),
    arithmetic(kSinglePrecision, "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
               "FMUL of threads", {kFmul}),
    arithmetic(kSinglePrecision, "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
               "FFMA of threads", {kFfma}),
    arithmetic(kDoublePrecision, "smsp__sass_thread_inst_executed_op_dadd_pred_on.sum",
               "DADD of threads", {kDadd}),
    arithmetic(kDoublePrecision, "smsp__sass_thread_inst_executed_op_dmul_pred_on.sum",
               "DMUL of threads", {kDmul}),
    arithmetic(kDoublePrecision, "smsp__sass_thread_inst_executed_op_dfma_pred_on.sum",
               "DFMA of threads", {kDfma}),
    of_class("smsp__sass_thread_inst_executed_op_fp16_pred_on.sum", "FP16 of threads",
             {kHalf, kHalfTensor, kTensorFloat}),
    of_class("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "FP32 of threads",
             {kFadd, kFmul, kFfma, kFloat}, kNever),
    of_class("smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", "FP64 of threads",
             {kDadd, kDmul, kDfma, Operation::kDouble, kTensorDouble}, kNever),
    of_class("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "integer of threads",
             {kInteger, kTensorInteger}),
    of_class("smsp__sass_thread_inst_executed_op_bit_pred_on.sum", "bit of threads",
             {kBit, kTensorBit}),
    of_class("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "conversion of threads",
             {kConversion}),
    of_class("smsp__sass_thread_inst_executed_op_control_pred_on.sum", "control of threads",
             {kBranch, kControl}, kWaits | kParted | kBroke),
    of_class("smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
             "exchange of threads", {kExchange}),
    of_class("smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "memory of threads",
             {kLoad, kStore, kAtomic, kReduction, kAsyncCopy, kAsyncGroup, kMatrixLoad,
              kMatrixStore, kBulkLoad, kBulkStore, kMemoryControl}),
    of_class("smsp__sass_thread_inst_executed_op_misc_pred_on.sum", "others of threads",
             {kMisc, kBarrier, kMbarrier, kGridWait}, kWaits | kParted | kBroke),
    // The compiler loads constants with HFMA2.MMA, also in loops that wait.
    of_loops("sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", "HMMA, HGMMA and QGMMA",
             executions, {kTensorFloat, kHalfTensor, kTensorWarpgroup}, kLoops),
    from_sass(kInst, "sm__inst_executed_pipe_tensor_op_imma.sum", "inst", "IMMA, BMMA and IGMMA",
              executions, {kTensorInteger, kTensorBit, kTensorWarpgroupInteger}, kAssembler, {},
              kOtherArchitecture),
    from_sass(kInst, "sm__inst_executed_pipe_tensor_op_dmma.sum", "inst", "DMMA", executions,
              {kTensorDouble}, kAssembler, {}, kOtherArchitecture),
    from_sass(kInst, "sm__inst_executed_pipe_tensor_op_gmma.sum", "inst", "HGMMA, QGMMA and IGMMA",
              executions, {kTensorWarpgroup, kTensorWarpgroupInteger}, kAssembler),
    of_loops("smsp__inst_executed_op_branch.sum", "inst", "branches", executions, {kBranch},
             kLoops),
    of_loops("smsp__sass_branch_targets_threads_divergent.sum", "branches", "branches that diverge",
             divergent, {kBranch},
             "counted in PTX, where the assembler turns short branches into guards; or repeated by "
             "who waits"),
    exact(kInst, "vgpu__barriers_executed.sum", "inst", "barriers of the block", executions,
          {kBarrier}),
    estimated(kInst, "vgpu__mbarriers_executed.sum", "inst", "mbarrier instructions", executions,
              {kMbarrier}, "how often a waiting thread asks depends on time"),

    // Global and local memory. Like the hardware, asynchronous copies count as loads.
    Metric{"smsp__inst_executed_op_global_ld.sum",
           "inst",
           kMem,
           "global load instructions",
           executions,
           {kLoad},
           kGlobal,
           kAlways,
           kPolls,
           kLoops},
    from_sass(kMem, "smsp__inst_executed_op_global_st.sum", "inst", "global store instructions",
              executions, {kStore}, kAssembler, kGlobal),
    from_sass(kMem, "smsp__inst_executed_op_ldgsts.sum", "inst", "async copy instructions",
              executions, {kAsyncCopy}, kAssembler),
    from_sass(kMem, "smsp__inst_executed_op_tma_ld.sum", "inst", "bulk load instructions",
              executions, {kBulkLoad}, kAssembler),
    from_sass(kMem, "smsp__inst_executed_op_tma_st.sum", "inst", "bulk store instructions",
              executions, {kBulkStore}, kAssembler),
    from_sass(kMem, "smsp__inst_executed_op_local_ld.sum", "inst", "local load instructions",
              executions, {kLoad}, kSpilled, kLocal),
    from_sass(kMem, "smsp__inst_executed_op_local_st.sum", "inst", "local store instructions",
              executions, {kStore}, kSpilled, kLocal),
    of_loads("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests", "global load requests",
             global_requests, {kLoad, kAsyncCopy}),
    of_stores("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests",
              "global store requests", global_requests),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "requests",
              "global atomic requests", global_requests, {kAtomic}, kCombined, {},
              kOtherArchitecture),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "requests",
              "global reduction requests", global_requests, {kReduction}, kCombined, {},
              kOtherArchitecture),
    of_loads("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors", "global load sectors",
             global_sectors, {kLoad, kAsyncCopy}, kTornCopies),
    of_stores("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors", "global store sectors",
              global_sectors),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sectors",
              "global atomic sectors", global_sectors, {kAtomic}, kCombined, {},
              kOtherArchitecture),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sectors",
              "global reduction sectors", global_sectors, {kReduction}, kCombined, {},
              kOtherArchitecture),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "requests",
              "local load requests", local_requests, {kLoad}, kSpilled, {}, kOtherArchitecture),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "requests",
              "local store requests", local_store_requests, {kStore}, kSpilled, {},
              kOtherArchitecture),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sectors",
              "local load sectors", local_sectors, {kLoad}, kSpilled, {}, kOtherArchitecture),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sectors",
              "local store sectors", local_sectors, {kStore}, kSpilled, {}, kOtherArchitecture),
    of_loads("smsp__sass_data_bytes_mem_global_op_ld.sum", "bytes", "global bytes loaded",
             global_data, {kLoad}),
    of_stores("smsp__sass_data_bytes_mem_global_op_st.sum", "bytes", "global bytes stored",
              global_data),
    of_loads("smsp__sass_data_bytes_mem_global_op_ldgsts.sum", "bytes",
             "global bytes of async copies", global_bytes, {kAsyncCopy}, kTornCopies),
    of_boxes("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld.sum",
             "bytes of bulk loads, in all blocks that they go to", bulk_reads),
    of_boxes("l1tex__m_xbar2l1tex_read_bytes_mem_global_op_tma_ld_dest_multicast.sum",
             "... of those for several blocks", bulk_multicast_reads),
    exact(kMem, "vgpu__bulk_bytes_loaded.sum", "bytes",
          "shared bytes that bulk loads wrote, in all blocks", bulk_bytes, {kBulkLoad}),
    exact(kMem, "vgpu__bulk_bytes_stored.sum", "bytes", "shared bytes that bulk stores read",
          bulk_bytes, {kBulkStore}),
    exact(kMem, "vgpu__bulk_multicasts.sum", "inst", "bulk loads for several blocks",
          bulk_multicasts, {kBulkLoad}),
    exact(kMem, "vgpu__bulk_deliveries.sum", "boxes", "bulk loads by block that they went to",
          bulk_deliveries, {kBulkLoad}),

    // Traffic to the L2 cache: bounds, because L1 is not modelled.
    estimated(kMem, "lts__t_sectors_srcunit_tex_op_read.sum", "sectors", "L2 sectors read, at most",
              global_sectors, {kLoad, kAsyncCopy},
              "global load sectors, as if L1 never had them: an upper bound"),
    estimated(kMem, "lts__t_sectors_srcunit_tex_op_write.sum", "sectors", "L2 sectors written",
              global_sectors, {kStore}, "global store sectors: L1 writes through"),

    // Shared memory.
    from_sass(kShm, "smsp__inst_executed_op_shared_ld.sum", "inst", "shared load instructions",
              executions, {kLoad}, kAssembler, kShared),
    from_sass(kShm, "smsp__inst_executed_op_shared_st.sum", "inst", "shared store instructions",
              executions, {kStore}, kAssembler, kShared),
    from_sass(kShm, "smsp__inst_executed_op_ldsm.sum", "inst", "matrix load instructions",
              executions, {kMatrixLoad}, kAssembler),
    from_sass(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "wavefronts",
              "shared load wavefronts", wavefronts, {kLoad}, kAssembler, {}, kOtherArchitecture),
    from_sass(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts",
              "shared store wavefronts", wavefronts, {kStore}, kAssembler, {}, kOtherArchitecture),
    from_sass(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
              "wavefronts", "matrix load wavefronts", wavefronts, {kMatrixLoad}, kAssembler, {},
              kOtherArchitecture),
    estimated(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
              "wavefronts", "async copy wavefronts", wavefronts, {kAsyncCopy},
              "the rule of stores; not measured on hardware"),
    estimated(kShm, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "conflicts",
              "shared load conflicts", conflicts, {kLoad}, kWidth),
    estimated(kShm, "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "conflicts",
              "shared store conflicts", conflicts, {kStore}, kWidth),
    from_sass(kShm, "smsp__sass_data_bytes_mem_shared_op_ld.sum", "bytes", "shared bytes loaded",
              shared_data, {kLoad}, kAssembler, {}, kGenericPolls),
    from_sass(kShm, "smsp__sass_data_bytes_mem_shared_op_st.sum", "bytes", "shared bytes stored",
              shared_data, {kStore}, kAssembler),

    // Blocks per multiprocessor, as limited by each resource.
    of_launch(kOcc, "launch__occupancy_limit_blocks", "blocks", "limit: blocks"),
    of_launch(kOcc, "launch__occupancy_limit_registers", "blocks", "limit: registers"),
    of_launch(kOcc, "launch__occupancy_limit_shared_mem", "blocks", "limit: shared memory",
              kCarveOut),
    of_launch(kOcc, "launch__occupancy_limit_warps", "blocks", "limit: warps"),
    of_launch(kOcc, "launch__occupancy_limit_barriers", "blocks", "limit: barriers"),
    of_launch(kOcc, "sm__maximum_warps_avg_per_active_cycle", "warps", "warps of a multiprocessor"),
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

const Metric* find_metric(std::string_view name) {
  const auto found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                  [&](const Metric& m) { return m.name == name; });
  return found == kMetrics.end() ? nullptr : &*found;
}

}  // namespace vgpu::count
