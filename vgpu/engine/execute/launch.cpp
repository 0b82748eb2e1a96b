// SPDX-License-Identifier: Apache-2.0
// Runs a grid on the host's cores. Blocks whose results cannot depend on their order are
// distributed dynamically to worker threads. If the order may matter (a float atomic, an atomic
// whose old value is used, polling), blocks run in order on one thread, each for a quantum of
// instructions, so that a block may wait for a later one. Under a random schedule several blocks
// interleave on that thread in slices of random length, which exposes missing synchronisation
// between blocks.
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <deque>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "engine/check/unwritten.hpp"
#include "engine/check/watch.hpp"
#include "engine/execute/cluster.hpp"
#include "engine/execute/fault.hpp"
#include "engine/execute/kernel.hpp"
#include "engine/execute/operations.hpp"
#include "engine/sass/classify.hpp"
#include "engine/sass/code.hpp"

namespace vgpu::execute {
namespace {

// Instructions that a block runs, in block order, before others do.
constexpr i64 kQuantum = 1 << 26;
constexpr u64 kResident = 1024;  // maximum number of blocks that have begun and not ended
// Maximum slice, instead of kQuantum, if clusters interleave.
constexpr i64 kClusterTurn = 1 << 16;
constexpr u64 kTogether = 8;       // clusters that interleave, unless all of them wait
constexpr u64 kIdleRounds = 1000;  // consecutive idle rounds that count as a deadlock

// Kernels compute with default rounding and with subnormals, whatever mode the program has set.
class FloatEnvironment {
 public:
  FloatEnvironment() : saved_(_mm_getcsr()) { _mm_setcsr(0x1f80); }
  ~FloatEnvironment() { _mm_setcsr(saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  unsigned saved_;
};

struct Outcome {
  std::exception_ptr error;
  u64 error_block = ~u64{0};
  u64 longest = 0;                  // maximum over clusters of instructions executed
  u64 end_clock = 0;                // latest value of %clock read
  std::map<u64, PrintFifo> output;  // by block
  std::size_t output_bytes = 0;
  u64 lost_prints = 0;

  // If later blocks have printed as much as the buffer keeps, the output of the lowest blocks is
  // dropped.
  void take_output(const Launch& launch, Cluster& cluster) {
    output_bytes += cluster.take_output(output);
    while (!output.empty() &&
           output_bytes - output.begin()->second.bytes() >= launch.config.print_bytes) {
      const PrintFifo& first = output.begin()->second;
      output_bytes -= first.bytes();
      lost_prints += first.lost() + first.calls();
      output.erase(output.begin());
    }
  }
};

// Thrown if the second run, in which unwritten shared memory holds other values, takes much longer
// than the first.
struct Endless : std::exception {
  const char* what() const noexcept override { return "it does not come to its end"; }
};

// Runs the cluster for about `quantum` instructions. Returns true when it is done.
bool take_turn(const Launch& launch, Cluster& cluster, Outcome& outcome, i64 quantum) {
  const auto note_length = [&] {
    u64 length = 0;
    for (u32 rank = 0; rank < cluster.size(); ++rank) {
      const Block& block = cluster.block(rank);
      for (u32 w = 0; w < block.warp_count; ++w) length += block.warps[w].instructions;
    }
    outcome.longest = std::max(outcome.longest, length);
  };
  bool done = false;
  try {
    done = cluster.run(quantum);
  } catch (...) {
    note_length();
    throw;
  }
  note_length();
  if (done)
    outcome.take_output(launch, cluster);
  else if (outcome.longest > launch.most_instructions)
    throw Endless();
  return done;
}

// The workspace in which cooperative groups count the blocks that have arrived at a grid barrier: a
// size, followed by the barrier.
class GridWorkspace {
 public:
  explicit GridWorkspace(Memory& memory) : memory_(memory) {
    words_[0] = sizeof(words_);
    memory_.adopt(words_, sizeof(words_), "the grid's barrier");
  }
  ~GridWorkspace() { memory_.disown(words_); }
  GridWorkspace(const GridWorkspace&) = delete;
  GridWorkspace& operator=(const GridWorkspace&) = delete;
  u64 address() const { return reinterpret_cast<u64>(words_); }

 private:
  Memory& memory_;
  alignas(64) u32 words_[16] = {};
};

// Runs clusters in order. The next one begins when all before it have ended or wait; under a random
// schedule, when fewer than kTogether run.
class InOrder {
 public:
  InOrder(const Launch& launch, count::Counters& counters, DeviceClock& clock)
      : launch_(launch), counters_(counters), memos_(launch.program.sites), clock_(clock) {}

  void run(Outcome& outcome) {
    const u64 size = launch_.config.cluster.count(), count = launch_.config.grid.count() / size;
    const u64 most = launch_.config.cooperative ? count : std::max<u64>(1, kResident / size);
    const bool random = launch_.config.schedule.kind == CopySchedule::Kind::kRandom;
    const auto turn_of = [&](Cluster& cluster) {
      const i64 quantum = cluster.block(0).turn(kLanes + 1, random ? kClusterTurn : kQuantum);
      return take_turn(launch_, cluster, outcome, quantum);
    };
    u64 next = 0, idle = 0;
    while (next < count || !running_.empty()) {
      bool all_idle = true;
      for (std::size_t i = 0; i < running_.size();) {
        const bool done = turn_of(*running_[i]);
        all_idle &= !done && running_[i]->idle_rounds != 0;
        if (done)
          retire(i);
        else
          ++i;
      }
      const u64 resident = random && !all_idle ? std::min(most, kTogether) : most;
      while (next < count && running_.size() < resident) {
        all_idle = false;
        running_.push_back(fresh());
        running_.back()->start(next++);
        if (!turn_of(*running_.back())) break;
        retire(running_.size() - 1);
      }
      idle = all_idle ? idle + 1 : 0;
      if (idle > kIdleRounds) report_waiting(running_.front()->block(0), "all blocks wait so");
    }
  }

 private:
  std::unique_ptr<Cluster> fresh() {
    if (spare_.empty()) return std::make_unique<Cluster>(launch_, counters_, memos_.data(), clock_);
    std::unique_ptr<Cluster> cluster = std::move(spare_.back());
    spare_.pop_back();
    return cluster;
  }

  void retire(std::size_t i) {
    spare_.push_back(std::move(running_[i]));
    running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(i));
  }

  const Launch& launch_;
  count::Counters& counters_;
  std::vector<SiteMemo> memos_;
  DeviceClock& clock_;
  std::vector<std::unique_ptr<Cluster>> running_, spare_;
};

void work_in_order(const Launch& launch, count::Counters& counters, Outcome& outcome) {
  const FloatEnvironment environment;
  DeviceClock clock{launch.config.begin_clock};
  try {
    InOrder(launch, counters, clock).run(outcome);
  } catch (...) {
    outcome.error = std::current_exception();
    outcome.error_block = 0;
  }
  outcome.end_clock = clock.latest;
}

// One of several workers that take clusters from a common counter.
void work(const Launch& launch, count::Counters& counters, std::atomic<u64>& next,
          std::atomic<u64>& first_error, Outcome& outcome) {
  const FloatEnvironment environment;
  std::vector<SiteMemo> memos(launch.program.sites);
  const std::vector<u64>& chosen = launch.config.blocks;
  const u64 count =
      chosen.empty() ? launch.config.grid.count() / launch.config.cluster.count() : chosen.size();
  u64 current = 0;
  DeviceClock clock;
  try {
    Cluster cluster(launch, counters, memos.data(), clock);
    for (;;) {
      const u64 turn = next.fetch_add(1);
      if (turn >= count) return;
      current = chosen.empty() ? turn : chosen[turn];
      // Blocks after the first faulty one need not run. Earlier ones must, because they may be
      // faulty too.
      if (current > first_error.load()) return;
      // Values that depend on which blocks ran before on this worker would change between runs.
      clock.latest = launch.config.begin_clock;
      cluster.start(current);
      while (!take_turn(launch, cluster, outcome, kQuantum)) {
        if (cluster.idle_rounds > kIdleRounds) {
          report_waiting(cluster.block(0), cluster.size() > 1
                                               ? "no other thread of the cluster runs"
                                               : "no other thread of the block runs");
        }
      }
      outcome.end_clock = std::max(outcome.end_clock, clock.latest);
    }
  } catch (...) {
    outcome.error = std::current_exception();
    outcome.error_block = current;
    u64 known = first_error.load();
    while (current < known && !first_error.compare_exchange_weak(known, current)) {
    }
  }
}

void check_config(const Program& program, const LaunchConfig& config,
                  std::span<const std::byte> params) {
  if (config.grid.count() == 0 || config.block.count() == 0 || config.block.count() > 1024) {
    throw std::invalid_argument(fmt::format("{}: a block of {} threads, a grid of {} blocks",
                                            program.display_name, config.block.count(),
                                            config.grid.count()));
  }
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  const u64 size = cluster.count();
  if (size == 0 || size > kMostClusterBlocks || grid.x % cluster.x != 0 ||
      grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
    throw std::invalid_argument(fmt::format("{}: clusters of {}x{}x{} blocks in a grid of {}x{}x{}",
                                            program.display_name, cluster.x, cluster.y, cluster.z,
                                            grid.x, grid.y, grid.z));
  }
  if (!config.blocks.empty() && size > 1) {
    throw Unsupported(
        fmt::format("{}: some of its blocks alone: they run in clusters", program.display_name));
  }
  if (!config.blocks.empty() && program.ordered) {
    throw Unsupported(fmt::format(
        "{}: some of its blocks alone: they may depend on each other (it uses what atomics "
        "return, adds floats atomically, or waits for values in memory)",
        program.display_name));
  }
  if (!config.blocks.empty() && config.blocks.back() >= config.grid.count()) {
    throw std::invalid_argument(fmt::format("{}: no block {} in a grid of {}", program.display_name,
                                            config.blocks.back(), config.grid.count()));
  }
  if (params.size() < program.attributes.param_bytes) {
    throw std::invalid_argument(fmt::format("{}: {} bytes of parameters, {} needed",
                                            program.display_name, params.size(),
                                            program.attributes.param_bytes));
  }
}

// One complete run of all blocks.
struct GridRun {
  explicit GridRun(const Launch& launch) : print_bytes(launch.config.print_bytes) {
    const LaunchConfig& config = launch.config;
    const bool ordered = launch.program.ordered || config.cooperative;
    const u64 blocks = config.blocks.empty() ? config.grid.count() : config.blocks.size();
    const unsigned host = std::max(
        1u, config.host_threads != 0 ? config.host_threads : std::thread::hardware_concurrency());
    const unsigned workers =
        ordered ? 1 : static_cast<unsigned>(std::min<u64>(host, blocks / config.cluster.count()));
    counters.assign(workers, count::Counters(launch.program, config.trace));
    outcomes.resize(workers);
    if (ordered) {
      work_in_order(launch, counters[0], outcomes[0]);
      return;
    }
    std::atomic<u64> next = 0, first_error = ~u64{0};
    std::vector<std::thread> threads;
    threads.reserve(workers);
    try {
      for (unsigned i = 1; i < workers; ++i) {
        threads.emplace_back([&, i] { work(launch, counters[i], next, first_error, outcomes[i]); });
      }
    } catch (const std::system_error&) {
      // No more threads can be created; the existing ones share all blocks.
    }
    work(launch, counters[0], next, first_error, outcomes[0]);
    for (std::thread& thread : threads) thread.join();
  }

  // The error of the lowest block that has one; null if none.
  std::exception_ptr error() const {
    return std::min_element(
               outcomes.begin(), outcomes.end(),
               [](const Outcome& a, const Outcome& b) { return a.error_block < b.error_block; })
        ->error;
  }
  bool is_race() const {
    try {
      if (error()) std::rethrow_exception(error());
    } catch (const Fault& fault) {
      return fault.kind == FaultKind::kRace;
    } catch (const std::exception&) {  // another fault
    }
    return false;
  }
  PrintFifo output() const {
    PrintFifo all(print_bytes);
    std::map<u64, const PrintFifo*> by_block;
    for (const Outcome& outcome : outcomes) {
      all.lose(outcome.lost_prints);
      for (const auto& [block, part] : outcome.output) by_block.emplace(block, &part);
    }
    for (const auto& [block, part] : by_block) all.add(*part);
    return all;
  }
  check::Ending ending() const {
    try {
      if (error()) std::rethrow_exception(error());
    } catch (const std::exception& fault) {
      return {fault.what(), ""};
    }
    return {"", output().text()};
  }
  u64 longest() const {
    u64 most = 0;
    for (const Outcome& outcome : outcomes) most = std::max(most, outcome.longest);
    return most;
  }
  // Not below any value that a warp has read.
  u64 end_clock(u64 begin) const {
    u64 latest = begin + longest();
    for (const Outcome& outcome : outcomes) latest = std::max(latest, outcome.end_clock);
    return latest;
  }

  std::size_t print_bytes;
  std::vector<count::Counters> counters;  // by worker
  std::vector<Outcome> outcomes;
};

// Runs the kernel again without the checks of the first run.
GridRun run_again(const Launch& launch, const GridRun& first, const check::SharedFill& fill) {
  constexpr u64 kLonger = 2;
  const check::LaunchMarks none;
  Launch again = launch;
  again.config.check_race = again.config.check_init = again.config.trace = false;
  again.marks = &none;
  again.unwritten = nullptr;
  again.fill = &fill;
  again.most_instructions = std::max<u64>(kQuantum, kLonger * first.longest());
  return GridRun(again);
}

}  // namespace

LaunchReport run_grid(const Program& program, const LaunchConfig& config,
                      std::span<const std::byte> params, Memory& memory) {
  const auto begin = std::chrono::steady_clock::now();
  check_config(program, config, params);
  std::optional<GridWorkspace> workspace;
  if (config.cooperative) workspace.emplace(memory);
  Launch launch{program, config,       {params.begin(), params.end()},
                memory,  memory.map(), current_isa()};
  const u32 alignment = program.shared_dynamic_alignment;
  const u32 dynamic_begin =
      (program.shared_begin + program.shared_static + alignment - 1) / alignment * alignment;
  launch.shared_end = config.dynamic_shared_bytes == 0
                          ? program.shared_begin + program.shared_static
                          : dynamic_begin + config.dynamic_shared_bytes;
  const check::LaunchMarks marks = check::launch_marks(memory, config);
  launch.marks = &marks;
  if (program.machine_code != nullptr) {
    launch.banks = sass::make_banks(*program.machine_code, config, launch.params);
  }
  if (workspace) launch.grid_workspace = workspace->address();

  check::UnwrittenReads unwritten;
  std::optional<MemoryImage> before;
  // The kernel cannot run again if it uses the heap, because the heap has changed.
  if (config.check_init && config.check_init_shared && launch.shared_end > program.shared_begin &&
      !program.heap) {
    before.emplace(*launch.map);
    launch.unwritten = &unwritten;
  }
  GridRun run(launch);
  if (unwritten.any() && !run.is_race()) {
    check::require_no_effect(
        unwritten, memory, *before, run.ending(), config.defer_doubts,
        [&](const check::SharedFill& fill) { return run_again(launch, run, fill).ending(); });
  }
  if (run.error()) std::rethrow_exception(run.error());

  LaunchReport report;
  std::vector<count::Counters>& counters = run.counters;
  for (std::size_t i = 1; i < counters.size(); ++i) counters[0].add(counters[i]);
  if (program.machine_code != nullptr) {
    count::report(count::Engine::kSass, sass::instructions(program, counters[0]),
                  sass::doubts(program, counters[0]), config, report);
  } else {
    count::report(count::Engine::kPtx, count::instructions(program, counters[0]),
                  count::doubts(program, counters[0]), config, report);
  }
  const PrintFifo output = run.output();
  report.output = output.text();
  report.lost_prints = output.lost();
  report.called_driver = counters[0].called_driver;
  report.end_clock = run.end_clock(config.begin_clock);
  report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return report;
}

}  // namespace vgpu::execute
