// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "count/report.hpp"
#include "engine/image_module.hpp"
#include "runtime/copies.hpp"
#include "runtime/memory_operations.hpp"
#include "runtime/occupancy.hpp"
#include "runtime/sampling.hpp"
#include "runtime/stream_order.hpp"

namespace vgpu::runtime {
namespace {

std::vector<std::byte> pack(const KernelAttributes& attributes, void** arguments) {
  std::vector<std::byte> block(attributes.param_bytes);
  for (std::size_t i = 0; i < attributes.params.size(); ++i) {
    const Param& param = attributes.params[i];
    std::memcpy(block.data() + param.offset, arguments[i], param.size);
  }
  return block;
}

// Adds the metrics that follow from the launch configuration and, if there is machine code, from
// ptxas's resources. The hardware allocates at least 16 registers per thread, and 32 where the code
// is linked with the driver's (measured for printf, assert, malloc and free).
void add_launch_metrics(Runtime& runtime, const Function& function,
                        const KernelAttributes& attributes, const Request& request,
                        LaunchReport& report) {
  constexpr std::uint32_t kFewestRegisters = 16, kFewestWithDriver = 32;
  const std::size_t reserved = runtime.device().reserved_shared_per_block;
  const auto resources = function.binary->resources(runtime.device(), function.name);
  // If there is machine code, use ptxas's size, which is rounded up. From sm_90 on the section
  // includes the system's reserved bytes.
  const std::size_t in_front = runtime.device().target() >= 90 ? reserved : 0;
  const std::size_t static_shared = resources && resources->shared_bytes > in_front
                                        ? resources->shared_bytes - in_front
                                        : attributes.static_shared_bytes;
  report.exact["launch__shared_mem_per_block_static"] = static_shared;
  report.exact["launch__shared_mem_per_block_dynamic"] = request.dynamic_shared;
  report.exact["launch__shared_mem_per_block_driver"] = reserved;
  if (!resources) return;
  const std::uint32_t registers = std::max(
      report.linked_with_driver ? kFewestWithDriver : kFewestRegisters, resources->registers);
  // The device runtime's code may need more registers.
  auto& by_registers = report.launches.empty() ? report.exact : report.estimates;
  by_registers["launch__registers_per_thread"] = registers;
  const Occupancy o =
      occupancy(runtime.device(), {registers, static_cast<int>(extent(request.block).count()),
                                   static_shared + request.dynamic_shared, resources->barriers});
  report.exact["launch__occupancy_limit_blocks"] = static_cast<std::uint64_t>(o.by_blocks);
  by_registers["launch__occupancy_limit_registers"] = static_cast<std::uint64_t>(o.by_registers);
  report.estimates["launch__occupancy_limit_shared_mem"] = static_cast<std::uint64_t>(o.by_shared);
  report.exact["launch__occupancy_limit_warps"] = static_cast<std::uint64_t>(o.by_warps);
  report.exact["launch__occupancy_limit_barriers"] =
      static_cast<std::uint64_t>(std::min(o.by_blocks, o.by_barriers));
  by_registers["sm__maximum_warps_avg_per_active_cycle"] = static_cast<std::uint64_t>(o.warps);
}

// Executes a sample of the blocks. Returns false, without executing any, if the sample would be the
// whole grid or the kernel cannot be sampled.
bool execute_sample(Runtime& runtime, Function& function, const Kernel& kernel, LaunchConfig config,
                    std::span<const std::byte> params, LaunchRecord& record) {
  const auto strata = sample(config.grid, runtime.settings.sample_blocks);
  try {
    for (const Stratum& stratum : strata) {
      config.blocks = stratum.blocks;
      add_scaled(record.report, vgpu::launch(kernel, config, params, runtime.memory), stratum);
      record.sampled_blocks.insert(record.sampled_blocks.end(), stratum.blocks.begin(),
                                   stratum.blocks.end());
    }
  } catch (const Unsupported& unsupported) {
    if (!record.sampled_blocks.empty()) throw;
    if (!std::exchange(function.sampling_said, true)) {
      say(fmt::format("{} is executed whole, not sampled: {}", function.shown, unsupported.what()));
    }
    return false;
  }
  std::ranges::sort(record.sampled_blocks);
  if (!strata.empty() && !std::exchange(function.sampling_said, true)) {
    say(fmt::format("{}: {} of {} blocks are executed; what the others would write is not written",
                    function.shown, record.sampled_blocks.size(), config.grid.count()));
  }
  return !strata.empty();
}

void execute(Runtime& runtime, Function& function, const Kernel& kernel, const LaunchConfig& config,
             std::span<const std::byte> params, bool cooperative, LaunchRecord& record) {
  const bool sampled = runtime.settings.sample_blocks != 0 && !cooperative &&
                       execute_sample(runtime, function, kernel, config, params, record);
  if (!sampled) record.report = vgpu::launch(kernel, config, params, runtime.memory);
}

cudaError_t error_of(FaultKind kind) {
  switch (kind) {
    case FaultKind::kOutOfBounds:
    case FaultKind::kUseAfterFree: return cudaErrorIllegalAddress;
    case FaultKind::kMisaligned: return cudaErrorMisalignedAddress;
    case FaultKind::kIllegal: return cudaErrorIllegalInstruction;
    case FaultKind::kAssert: return cudaErrorAssert;
    case FaultKind::kDeadlock:
    case FaultKind::kTimeout: return cudaErrorLaunchTimeout;
    case FaultKind::kStackOverflow: return cudaErrorHardwareStackError;
    case FaultKind::kBarrierDivergence:
    case FaultKind::kTrap:
    case FaultKind::kRace:
    case FaultKind::kUninitialized:
    case FaultKind::kMbarrier:
    case FaultKind::kBadOperand:
    case FaultKind::kRegisters:
    case FaultKind::kClusterExit: return cudaErrorLaunchFailure;
  }
  return cudaErrorLaunchFailure;
}

void report(Runtime& runtime, const Fault& fault) {
  report_check(runtime,
               {to_string(fault.kind), fault.kernel, fault.what(), fault.file, fault.line});
}

}  // namespace

void keep_fault(Runtime& runtime, const Fault& fault) {
  const Task* const task = WorkQueue::current();
  if (runtime.fault.code == cudaSuccess) {
    runtime.fault = {error_of(fault.kind), to_string(fault.kind), fault.what(),
                     task == nullptr ? 0 : task->number, task == nullptr};
  }
  say(fault.what());
  report(runtime, fault);
}

void keep_finding(Runtime& runtime, const Fault& fault, std::uint64_t times) {
  const FoundList::Seen seen = runtime.found.note(fault, times);
  if (seen == FoundList::Seen::kNew) say(fault.what());
  if (seen != FoundList::Seen::kBefore) report(runtime, fault);
}

namespace {

// Keeps the kernel's output until the program synchronises with it.
void keep_output(Runtime& runtime, Function& function, const LaunchReport& report) {
  if (!report.output.empty())
    runtime.output.push_back({WorkQueue::current()->number, report.output});
  runtime.printed |= !report.output.empty() || report.lost_prints != 0;
  if (report.lost_prints == 0 || std::exchange(function.lost_prints_said, true)) return;
  say(fmt::format(
      "{}: the text of {} calls of printf is lost, the oldest ones: the buffer has {} bytes "
      "(cudaLimitPrintfFifoSize)",
      function.shown, report.lost_prints, runtime.limits[cudaLimitPrintfFifoSize]));
}

// What a queued launch needs.
struct Queued {
  Function& function;
  const Kernel& kernel;
  Request request;  // without its arguments
  LaunchConfig config;
  std::vector<std::byte> params;
  bool recorded = false;  // in the log
};

void run_launches(Runtime& runtime, Function& by, const std::vector<DeviceLaunch>& launches,
                  unsigned depth);

void run(Runtime& runtime, Queued& launch) {
  Function& function = launch.function;
  LaunchConfig& config = launch.config;
  config.begin_clock = runtime.clock;
  KernelPatience patience(runtime);
  config.patience = &patience;
  constexpr std::uint64_t kLongest = 1000000000;
  if (const std::uint64_t seconds = std::min(runtime.settings.timeout_seconds, kLongest);
      seconds != 0)
    config.deadline = {std::chrono::steady_clock::now() + std::chrono::seconds(seconds), seconds};
  LaunchRecord record{
      function.shown, config.grid, config.block, {}, runtime.device().place, {}, {}};
  Findings findings;
  if (!runtime.settings.fail_fast) config.findings = &findings;
  std::optional<Fault> fault;
  const bool may_repeat =
      runtime.settings.reuse && runtime.settings.sample_blocks == 0 && config.depth == 0;
  LaunchTurn turn(runtime.known, launch.kernel, config, launch.params, may_repeat);
  std::vector<Found> found;
  if (!turn.repeat(record.report, found)) {
    try {
      const Unlocked meanwhile(runtime.mutex);
      execute(runtime, function, launch.kernel, config, launch.params, config.cooperative, record);
    } catch (const Fault& thrown) {
      fault = thrown;
    }
    found = findings.sorted();
    if (!fault) turn.executed(record.report, found);
  }
  for (const Found& one : found) keep_finding(runtime, one.fault, one.times);
  if (fault) {
    keep_fault(runtime, *fault);
    return;
  }
  runtime.clock = std::max(runtime.clock, record.report.end_clock);
  keep_output(runtime, function, record.report);
  if (!record.report.unwritten.empty() && !std::exchange(function.unwritten_said, true)) {
    say(record.report.unwritten +
        "\n  no fault in itself: --check init shows whether anything depends on it");
  }
  if (launch.recorded) {
    count::mark_unmeasured(runtime.device().target(), record.report);
    record.fallback = sass::fallback(launch.kernel);
    add_launch_metrics(runtime, function, vgpu::attributes(launch.kernel), launch.request,
                       record.report);
    say(runtime.log.add(record));
  }
  run_launches(runtime, function, record.report.launches, config.depth + 1);
}

// A launch that passed the checks, as it is queued.
Queued prepared(Runtime& runtime, Function& function, const Kernel& kernel, const Request& request,
                std::vector<std::byte> params) {
  const KernelAttributes& attributes = vgpu::attributes(kernel);
  Queued queued{function, kernel, request, {}, std::move(params)};
  queued.request.arguments = nullptr;
  LaunchConfig& config = queued.config;
  config.grid = extent(request.grid);
  config.block = extent(request.block);
  config.cluster = cluster_of(attributes, request);
  config.in_clusters = request.cluster.x != 0 || attributes.cluster.count() != 0;
  config.dynamic_shared_bytes = static_cast<std::uint32_t>(request.dynamic_shared);
  config.host_threads = runtime.settings.host_threads;
  config.check_race = runtime.settings.checks.race;
  config.check_init = runtime.settings.checks.init;
  config.check_init_shared = runtime.settings.checks.init_shared;
  config.defer_doubts = true;
  config.check_sync = runtime.settings.checks.sync;
  config.check_local = runtime.settings.checks.memory;
  config.stack_bytes = static_cast<std::uint32_t>(runtime.limits[cudaLimitStackSize]);
  config.print_bytes = runtime.limits[cudaLimitPrintfFifoSize];
  config.heap = &runtime.heap;
  config.textures = runtime.textures.objects();
  config.device = Runtime::ordinal();
  config.devices = static_cast<int>(runtime.settings.devices.size());
  config.trace = runtime.settings.trace;
  config.schedule = runtime.settings.schedule;
  config.numerics = runtime.settings.numerics;
  config.cooperative = request.cooperative;
  config.registers = function.binary->registers(runtime.device(), function.name).value_or(0);
  queued.recorded = runtime.log.wanted() && runtime.settings.selection.takes(function.shown);
  config.count = queued.recorded;
  config.count_lines = queued.recorded && runtime.settings.count_lines;
  return queued;
}

// Throws Failure if the engine cannot execute it.
void require_executable(const Queued& queued) {
  try {
    vgpu::check_launch(queued.kernel, queued.config, queued.params);
  } catch (const Unsupported& unsupported) {
    const bool said = std::exchange(queued.function.refusal_said, true);
    refuse(cudaErrorNotSupported,
           said ? "" : fmt::format("{} cannot run: {}", queued.function.shown, unsupported.what()));
  }
}

void run_copy(Runtime& runtime, const Function& by, const DeviceCopy& what) {
  const std::string name =
      fmt::format("{} in {}", what.value ? "cudaMemsetAsync" : "cudaMemcpyAsync", by.shown);
  void* const to = reinterpret_cast<void*>(what.to);            // NOLINT(performance-no-int-to-ptr)
  const void* const from = reinterpret_cast<void*>(what.from);  // NOLINT
  if (what.value)
    set(runtime, name.c_str(), to, what.bytes, *what.value, {what.bytes});
  else
    copy(runtime, name.c_str(), to, what.bytes, from, what.bytes, {what.bytes}, cudaMemcpyDefault);
}

// Executes the grids and copies that a kernel launched, in order, and after them its tail launches.
// Each grid is followed by those that it launches itself.
void run_launches(Runtime& runtime, Function& by, const std::vector<DeviceLaunch>& launches,
                  unsigned depth) {
  for (const bool tail : {false, true}) {
    for (const DeviceLaunch& one : launches) {
      if (one.tail != tail || runtime.fault.code != cudaSuccess) continue;
      if (one.copy) {
        run_copy(runtime, by, *one.copy);
        continue;
      }
      Function& function = runtime.modules.function_named(by.binary, one.kernel);
      const Kernel& kernel = loaded_kernel(runtime, function);
      Request request;
      request.grid = {one.grid.x, one.grid.y, one.grid.z};
      request.block = {one.block.x, one.block.y, one.block.z};
      request.dynamic_shared = one.dynamic_shared_bytes;
      try {
        require_launchable(runtime, function, vgpu::attributes(kernel), request);
      } catch (const Failure& failure) {
        say(fmt::format("{} (launched by {})", failure.message, by.shown));
        continue;
      }
      Queued queued = prepared(runtime, function, kernel, request, one.params);
      queued.config.depth = depth;
      require_executable(queued);
      run(runtime, queued);
    }
  }
}

}  // namespace

void launch(Runtime& runtime, Stream& stream, const void* handle, const Request& request) {
  Function& function = known_function(runtime, handle);
  const Kernel& kernel = loaded_kernel(runtime, function);
  const KernelAttributes& attributes = vgpu::attributes(kernel);
  require_launchable(runtime, function, attributes, request);
  const std::size_t count = attributes.params.size();
  if (count != 0 &&
      (request.arguments == nullptr || std::find(request.arguments, request.arguments + count,
                                                 nullptr) != request.arguments + count))
    refuse();
  const Queued queued =
      prepared(runtime, function, kernel, request, pack(attributes, request.arguments));
  require_executable(queued);
  submit(
      runtime, stream, [&runtime, launch = queued]() mutable { run(runtime, launch); },
      runtime.settings.launch_blocking);
}

}  // namespace vgpu::runtime
