// SPDX-License-Identifier: Apache-2.0
#include "count/metrics.hpp"

#include <algorithm>
#include <array>

#include "count/shares.hpp"

namespace vgpu::count {
namespace {

using enum ir::Counted;
using namespace shares;

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

constexpr std::string_view kPipes =
    "by the pipes of classes of instructions; or repeated by who waits, as time has it";
constexpr std::string_view kHalves =
    "as if single-precision arithmetic went to the lighter half of the pipe, unless the "
    "instruction before it did; the hardware takes the half that is free";
constexpr std::string_view kConstants =
    "as if constants were always in their cache; the hardware also counts misses, here";
constexpr std::string_view kRemote =
    "the data, and 2 bytes for each lane of a load of 16 bytes, 8 of a narrower one; measured "
    "where "
    "all lanes load 16 bytes in turn from one block, or store or add words";
constexpr std::string_view kOperands =
    "what is in shared memory of A and B; not measured with A in registers";
constexpr std::string_view kSchedule =
    "as the order of warps and copies has it (--schedule); the hardware's depends on time, and "
    "Nsight Compute does not count it";

constexpr Section kInst = Section::kInstructions, kMem = Section::kMemory, kShm = Section::kShared;
constexpr Section kLaunch = Section::kLaunch, kOcc = Section::kOccupancy;
constexpr Operations kAnyOp;
constexpr Operations kAnyGuarded = [] {
  Operations all;
  all.bits &= ~Operations{Operation::kGridWait}.bits;
  return all;
}();
constexpr Operations kProducts = {kTensorFloat,           kTensorInteger,   kTensorBit,
                                  kTensorDouble,          kTensorWarpgroup, kTensorWarpgroupByte,
                                  kTensorWarpgroupInteger};
constexpr Operations kWarpgroupProducts = {kTensorWarpgroup, kTensorWarpgroupByte,
                                           kTensorWarpgroupInteger};
constexpr Operations kBulkStores = {kBulkStore, kBulkReduce, kBulkSend};
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
          kPolls | kFragments | kLooseLoads | also,
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
          kFragments | kStoresApart,
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
  return {name, unit,    Section::kInstructions,    title, share, operations,
          {},   kAlways, kWaits | kParted | kBroke, method};
}

// Thread instructions of a class with their guard true; `also`: further doubts.
constexpr Metric of_class(std::string_view name, std::string_view title, Operations operations,
                          Doubts also = kWaits) {
  return {name, "inst",  Section::kInstructions,          title,   lanes_once, operations,
          {},   kAlways, kUnclassified | kRetries | also, kClasses};
}

// Executions in a pipe, where a waiting loop may use it.
constexpr Metric of_pipe(std::string_view name, std::string_view title, Share share,
                         Doubts also = kWaits | kParted | kBroke) {
  return {name,
          "inst",
          Section::kInstructions,
          title,
          share,
          kAnyOp,
          {},
          kAlways,
          kUnclassified | kUnknownPipe | kRetries | also,
          (also & kEitherHalf) != 0 ? kHalves : kPipes};
}

constexpr Metric of_tensor_path(std::string_view name, std::string_view title, Share share) {
  return {name,     "ops",     Section::kInstructions, title, share, kProducts, {}, kAlways,
          kRetries, kAssembler};
}

// Products of warpgroups, which the assembler neither adds nor merges.
constexpr Metric of_warpgroups(Section section, std::string_view name, std::string_view unit,
                               std::string_view title, Share share, Doubts also = kNever) {
  return {name,
          unit,
          section,
          title,
          share,
          kWarpgroupProducts,
          {},
          also,
          kRetries | also,
          also == kNever ? kLoops : kOperands};
}

constexpr Metric arithmetic(Doubts from_ptx, std::string_view name, std::string_view title,
                            Operations operations) {
  return {name,     "inst", Section::kInstructions, title, lanes, operations, {}, from_ptx,
          kRetries, kFused};
}

// What bulk stores write. Where a row begins does not matter with a tensor map.
constexpr Metric of_bulk_stores(std::string_view name, std::string_view title,
                                Operations operations) {
  return {name,
          "bytes",
          Section::kMemory,
          title,
          bulk_writes,
          operations,
          {},
          kUnevenStores,
          kUnevenStores | kUnclassified,
          "whole sectors; not measured where a copy without tensor map begins within one"};
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
             "instructions of threads, guard true", lanes, kAnyGuarded,
             "as the instructions of threads; or some that waited for the kernel before, which "
             "count in some blocks only",
             kGridWaits),
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
             {kHalf, kHalfTensor, kTensorFloat, kTensorWarpgroup}),
    of_class("smsp__sass_thread_inst_executed_op_fp32_pred_on.sum", "FP32 of threads",
             {kFadd, kFmul, kFfma, kFloat}, kNever),
    of_class("smsp__sass_thread_inst_executed_op_fp64_pred_on.sum", "FP64 of threads",
             {kDadd, kDmul, kDfma, Operation::kDouble, kTensorDouble}, kNever),
    of_class("smsp__sass_thread_inst_executed_op_integer_pred_on.sum", "integer of threads",
             {kInteger, kTensorInteger, kTensorWarpgroupInteger}),
    of_class("smsp__sass_thread_inst_executed_op_bit_pred_on.sum", "bit of threads",
             {kBit, kTensorBit}),
    of_class("smsp__sass_thread_inst_executed_op_conversion_pred_on.sum", "conversion of threads",
             {kConversion}),
    of_class("smsp__sass_thread_inst_executed_op_control_pred_on.sum", "control of threads",
             {kBranch, kControl}, kWaits | kParted | kBroke),
    of_class("smsp__sass_thread_inst_executed_op_inter_thread_communication_pred_on.sum",
             "exchange of threads", {kExchange}),
    of_class(
        "smsp__sass_thread_inst_executed_op_memory_pred_on.sum", "memory of threads",
        {kLoad, kStore, kAtomic, kReduction, kAsyncCopy, kAsyncGroup, kMatrixLoad, kMatrixStore,
         kBulkLoad, kBulkStore, kBulkReduce, kBulkSend, kAsyncStore, kMemoryControl}),
    of_class("smsp__sass_thread_inst_executed_op_misc_pred_on.sum", "others of threads",
             {kMisc, kBarrier, kMbarrier, kMbarrierWait, kGridWait}, kWaits | kParted | kBroke),
    // The compiler loads constants with HFMA2.MMA, also in loops that wait.
    of_loops("sm__inst_executed_pipe_tensor_op_hmma.sum", "inst", "HMMA, HGMMA and QGMMA",
             executions, {kTensorFloat, kHalfTensor, kTensorWarpgroup, kTensorWarpgroupByte},
             kLoops),
    from_sass(kInst, "sm__inst_executed_pipe_tensor_op_imma.sum", "inst", "IMMA, BMMA and IGMMA",
              executions, {kTensorInteger, kTensorBit, kTensorWarpgroupInteger}, kAssembler),
    from_sass(kInst, "sm__inst_executed_pipe_tensor_op_dmma.sum", "inst", "DMMA", executions,
              {kTensorDouble}, kAssembler),
    of_warpgroups(kInst, "sm__inst_executed_pipe_tensor_op_gmma.sum", "inst",
                  "HGMMA, QGMMA and IGMMA", executions),
    of_warpgroups(kInst, "sm__ops_path_tensor_op_hgmma_src_bf16_dst_fp32.sum", "ops",
                  "wgmma of bf16, operations", tensor_operations<TensorPath::kHgmmaBf16>),
    of_warpgroups(kInst, "sm__ops_path_tensor_op_hgmma_src_fp16.sum", "ops",
                  "wgmma of fp16, operations", tensor_operations<TensorPath::kHgmmaFp16>),
    of_warpgroups(kInst, "sm__ops_path_tensor_op_hgmma_src_tf32_dst_fp32.sum", "ops",
                  "wgmma of tf32, operations", tensor_operations<TensorPath::kHgmmaTf32>),
    of_warpgroups(kInst, "sm__ops_path_tensor_op_igmma_src_int8.sum", "ops",
                  "wgmma of 8-bit integers, operations", tensor_operations<TensorPath::kIgmmaInt8>),
    of_warpgroups(kInst, "sm__ops_path_tensor_src_fp8.sum", "ops", "wgmma of fp8, operations",
                  tensor_operations<TensorPath::kFp8>),
    of_tensor_path("sm__ops_path_tensor_op_hmma_src_bf16_dst_fp32.sum", "mma of bf16, operations",
                   tensor_operations<TensorPath::kHmmaBf16>),
    of_tensor_path("sm__ops_path_tensor_op_hmma_src_fp16.sum", "mma of fp16, operations",
                   tensor_operations<TensorPath::kHmmaFp16>),
    of_tensor_path("sm__ops_path_tensor_op_hmma_src_tf32_dst_fp32.sum", "mma of tf32, operations",
                   tensor_operations<TensorPath::kHmmaTf32>),
    of_tensor_path("sm__ops_path_tensor_op_imma_src_int8.sum", "mma of integers, operations",
                   tensor_operations<TensorPath::kImmaInt8>),
    of_tensor_path("sm__ops_path_tensor_op_bmma_src_int1.sum", "mma of bits, operations",
                   tensor_operations<TensorPath::kBmmaInt1>),
    of_tensor_path("sm__ops_path_tensor_src_fp64.sum", "mma of fp64, operations",
                   tensor_operations<TensorPath::kFp64>),
    of_pipe("sm__inst_executed_pipe_alu.sum", "in the ALU pipe", in_pipe<ir::kPipeAlu>),
    of_pipe("sm__inst_executed_pipe_fma.sum", "in the FMA pipe", in_pipe<ir::kPipeFma>),
    of_pipe("sm__inst_executed_pipe_fmaheavy.sum", "... in its heavier half", in_heavier_half,
            kWaits | kParted | kBroke | kEitherHalf),
    of_pipe("sm__inst_executed_pipe_fmalite.sum", "... in its lighter half", in_lighter_half,
            kWaits | kParted | kBroke | kEitherHalf),
    of_pipe("sm__inst_executed_pipe_fp64.sum", "in the FP64 pipe", in_pipe<ir::kPipeFp64>, kNever),
    of_pipe("sm__inst_executed_pipe_xu.sum", "in the XU pipe (conversions, functions)",
            in_pipe<ir::kPipeXu>),
    of_pipe("sm__inst_executed_pipe_lsu.sum", "in the LSU pipe", in_pipe<ir::kPipeLsu>),
    of_pipe("sm__inst_executed_pipe_tma.sum", "in the TMA pipe", in_pipe<ir::kPipeTma>, kNever),
    of_pipe("sm__inst_executed_pipe_uniform.sum", "in the uniform pipe", in_pipe<ir::kPipeUniform>),
    of_pipe("sm__inst_executed_pipe_cbu.sum", "in the CBU pipe (branches)", in_pipe<ir::kPipeCbu>),
    estimated(kInst, "sm__inst_executed_pipe_adu.sum", "inst",
              "in the ADU pipe (constants, barriers)", in_pipe<ir::kPipeAdu>, kAnyOp, kConstants),
    of_loops("smsp__inst_executed_op_branch.sum", "inst", "branches", executions, {kBranch},
             kLoops),
    of_loops("smsp__sass_branch_targets_threads_divergent.sum", "branches", "branches that diverge",
             divergent, {kBranch},
             "counted in PTX, where the assembler turns short branches into guards; or repeated by "
             "who waits"),
    exact(kInst, "vgpu__barriers_executed.sum", "inst", "barriers of the block", executions,
          {kBarrier}),
    estimated(kInst, "vgpu__mbarriers_executed.sum", "inst", "mbarrier instructions", executions,
              {kMbarrier, kMbarrierWait}, "how often a waiting thread asks depends on time"),
    estimated(kInst, "vgpu__mbarrier_waits_executed.sum", "inst", "tests of mbarriers", executions,
              {kMbarrierWait}, kSchedule),
    estimated(kInst, "vgpu__mbarrier_waits_passed.sum", "inst", "... that found a phase complete",
              passed_waits, {kMbarrierWait}, kSchedule),
    estimated(kInst, "vgpu__mbarrier_waits_failed.sum", "inst", "... that did not", failed_waits,
              {kMbarrierWait}, kSchedule),
    of_launch(kInst, "vgpu__warps_producer.sum", "warps",
              "warps that copy to shared memory asynchronously"),
    of_launch(kInst, "vgpu__warps_consumer.sum", "warps", "warps that multiply on tensor cores"),
    of_launch(kInst, "vgpu__warps_producer_and_consumer.sum", "warps", "warps that do both"),
    of_launch(kInst, "vgpu__warps_other.sum", "warps", "warps that do neither"),

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
              executions, kBulkStores, kAssembler),
    from_sass(kMem, "sm__sass_inst_executed_op_tma_red.sum", "inst", "bulk reduction instructions",
              executions, {kBulkReduce}, kAssembler),
    of_pipe("smsp__l1tex_tmain_requests.sum", "requests to the TMA", in_pipe<ir::kPipeTma>, kNever),
    from_sass(kMem, "smsp__inst_executed_op_local_ld.sum", "inst", "local load instructions",
              executions, {kLoad}, kSpilled, kLocal),
    from_sass(kMem, "smsp__inst_executed_op_local_st.sum", "inst", "local store instructions",
              executions, {kStore}, kSpilled, kLocal),
    of_loads("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "requests", "global load requests",
             global_requests, {kLoad, kAsyncCopy}),
    of_stores("l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "requests",
              "global store requests", global_requests),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "requests",
              "global atomic requests", global_requests, {kAtomic}, kCombined),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "requests",
              "global reduction requests", global_requests, {kReduction}, kCombined),
    of_loads("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sectors", "global load sectors",
             global_sectors, {kLoad, kAsyncCopy}, kTornCopies),
    of_stores("l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sectors", "global store sectors",
              global_sectors),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sectors",
              "global atomic sectors", global_sectors, {kAtomic}, kCombined),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sectors",
              "global reduction sectors", global_sectors, {kReduction}, kCombined),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "requests",
              "local load requests", local_requests, {kLoad}, kSpilled),
    from_sass(kMem, "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "requests",
              "local store requests", local_store_requests, {kStore}, kSpilled),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sectors",
              "local load sectors", local_sectors, {kLoad}, kSpilled),
    from_sass(kMem, "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sectors",
              "local store sectors", local_sectors, {kStore}, kSpilled),
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
          bulk_bytes, kBulkStores),
    exact(kMem, "vgpu__bulk_multicasts.sum", "inst", "bulk loads for several blocks",
          bulk_multicasts, {kBulkLoad}),
    exact(kMem, "vgpu__bulk_deliveries.sum", "boxes", "bulk loads by block that they went to",
          bulk_deliveries, {kBulkLoad}),

    of_bulk_stores("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_st.sum",
                   "bytes of bulk stores", {kBulkStore}),
    of_bulk_stores("l1tex__m_l1tex2xbar_write_bytes_mem_global_op_tma_red.sum",
                   "bytes of bulk reductions", {kBulkReduce}),

    // Shared memory of other blocks of the cluster.
    from_sass(kMem, "smsp__sass_inst_executed_op_dshared_ld.sum", "inst",
              "distributed load instructions", remote_requests, {kLoad}, kAssembler),
    from_sass(kMem, "smsp__sass_inst_executed_op_dshared_st.sum", "inst",
              "distributed store instructions", remote_requests, {kStore}, kAssembler),
    from_sass(kMem, "smsp__sass_inst_executed_op_dshared_atom.sum", "inst",
              "distributed atomic instructions", remote_requests, {kAtomic}, kAssembler),
    from_sass(kMem, "smsp__sass_inst_executed_op_dshared_tma_st.sum", "inst",
              "distributed bulk copy instructions", executions, {kBulkSend}, kAssembler),
    estimated(kMem, "smsp__sass_inst_executed_op_dshared_stas.sum", "inst",
              "distributed async store instructions", executions, {kAsyncStore},
              "not measured on hardware"),
    from_sass(kMem, "l1tex__m_l1tex2xbar_write_bytes_mem_dshared_op_ld.sum", "bytes",
              "bytes of distributed loads", remote_loads, {kLoad}, kRemote, {}, kRemoteApart),
    from_sass(kMem, "l1tex__m_l1tex2xbar_write_bytes_mem_dshared_op_st.sum", "bytes",
              "bytes of distributed stores", remote_bytes, {kStore}, kRemote, {}, kRemoteApart),
    from_sass(kMem, "l1tex__m_l1tex2xbar_write_bytes_mem_dshared_op_atom.sum", "bytes",
              "bytes of distributed atomics", remote_atomics, {kAtomic}, kRemote, {}, kRemoteApart),
    from_sass(kMem, "l1tex__m_l1tex2xbar_write_bytes_mem_dshared_op_tma_st.sum", "bytes",
              "bytes of distributed bulk copies", bulk_bytes, {kBulkSend}, kAssembler),

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
              "shared load wavefronts", wavefronts, {kLoad}, kAssembler),
    from_sass(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "wavefronts",
              "shared store wavefronts", wavefronts, {kStore}, kAssembler),
    from_sass(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
              "wavefronts", "matrix load wavefronts", wavefronts, {kMatrixLoad}, kAssembler),
    estimated(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
              "wavefronts", "async copy wavefronts", wavefronts, {kAsyncCopy},
              "the rule of stores; the hardware's also depend on where the data come from"),
    estimated(kShm, "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",
              "wavefronts", "shared atomic wavefronts", wavefronts, {kAtomic, kReduction},
              "the rule of stores; the hardware repeats atomics of lanes that share a word, and "
              "compares and exchanges"),
    of_warpgroups(kShm, "sm__sass_inst_executed_op_shared_gmma.sum", "inst",
                  "wgmma instructions that read shared memory", executions),
    of_warpgroups(kShm, "sm__sass_data_bytes_mem_shared_op_gmma.sum", "bytes",
                  "shared bytes that wgmma reads", operand_bytes, kProductsOfRegisters),
    of_warpgroups(kShm, "sm__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",
                  "wavefronts", "wgmma wavefronts", operand_wavefronts, kProductsOfRegisters),
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
