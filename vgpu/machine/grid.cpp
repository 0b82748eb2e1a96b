// SPDX-License-Identifier: Apache-2.0
// Runs a grid on the host's cores. Blocks whose results cannot depend on their order are
// distributed dynamically to worker threads, of a launch on trial (memory/trial.hpp) also those
// that add floats atomically. If the order may matter (an atomic whose old value is used, polling),
// blocks run in order on one thread, each for a quantum of instructions, so that a block may wait
// for a later one. Under a random schedule several blocks
// interleave on that thread in slices of random length, which exposes missing synchronisation
// between blocks.
#include "machine/grid.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <functional>
#include <map>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "ir/driver_constants.hpp"
#include "ir/fault.hpp"
#include "ir/operations.hpp"
#include "machine/cluster.hpp"
#include "machine/fault.hpp"
#include "machine/float_control.hpp"
#include "machine/operations.hpp"
#include "machine/sums.hpp"

namespace vgpu::machine {
namespace {

// Instructions that a block runs, in block order, before others do.
constexpr i64 kQuantum = 1 << 26;
constexpr u64 kResident = 1024;  // maximum number of blocks that have begun and not ended
// Maximum slice, instead of kQuantum, if clusters interleave.
constexpr i64 kClusterTurn = 1 << 16;
constexpr u64 kTogether = 8;        // clusters that interleave, unless all of them wait
constexpr u64 kIdleRounds = 1000;   // consecutive idle rounds that count as a deadlock
constexpr u64 kRoundsPerLook = 16;  // idle rounds between two calls of Patience::wait
// How long one thread runs before others start, where their number is the host's: to start and to
// join them takes about as long, and a small launch needs none. It looks at the clock after each
// block, and after so many instructions of one.
constexpr std::chrono::microseconds kAlone{50};
constexpr i64 kAloneQuantum = 1 << 12;

struct Outcome {
  std::exception_ptr error;
  u64 error_block = ~u64{0};
  u64 longest = 0;                  // maximum over clusters of instructions executed
  u64 end_clock = 0;                // latest value of %clock read
  bool waited = false;              // as GridRun::waited
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

// Runs clusters in order. The next one begins when all before it have ended or wait; under a random
// schedule, when fewer than kTogether run.
class InOrder {
 public:
  InOrder(const Launch& launch, observer::Counters& counters, DeviceClock& clock)
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
    bool waited = false;  // since a thread has made progress
    while (next < count || !running_.empty()) {
      bool all_idle = true;
      for (std::size_t i = 0; i < running_.size();) {
        const bool done = turn_of(*running_[i]);
        // The first idle round of a turn may follow rounds that made progress.
        all_idle &= !done && running_[i]->idle_rounds > 1;
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
      waited &= all_idle;
      if (idle <= kIdleRounds) continue;
      Patience* const patience = launch_.config.patience;
      if (patience == nullptr || !patience->wait(polled(), waited))
        report_waiting(running_.front()->block(0), "all blocks wait so");
      waited = outcome.waited = true;
      idle -= kRoundsPerLook;
    }
  }

 private:
  // The addresses that threads poll.
  std::vector<u64> polled() const {
    std::vector<u64> addresses;
    for (const auto& cluster : running_) {
      for (u32 rank = 0; rank < cluster->size(); ++rank) {
        const Block& block = cluster->block(rank);
        for (u32 w = 0; w < block.warp_count; ++w) {
          for (const u64 address : block.warps[w].polled_at)
            if (address != 0) addresses.push_back(address);
        }
      }
    }
    std::sort(addresses.begin(), addresses.end());
    addresses.erase(std::unique(addresses.begin(), addresses.end()), addresses.end());
    return addresses;
  }

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
  observer::Counters& counters_;
  std::vector<SiteMemo> memos_;
  DeviceClock& clock_;
  std::vector<std::unique_ptr<Cluster>> running_, spare_;
};

void work_in_order(const Launch& launch, observer::Counters& counters, Outcome& outcome) {
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

// What the workers of a launch share.
struct Shared {
  explicit Shared(Trial* trial) {
    if (trial != nullptr) sums.emplace(*trial);
  }
  std::atomic<u64> next = 0, first_error = ~u64{0};
  std::optional<SumOrder> sums;
};

// One of several workers that take clusters from a common counter. start_others: what the first one
// does when it has run long; may be null.
void work(const Launch& launch, observer::Counters& counters, Shared& shared, Outcome& outcome,
          std::function<void()> start_others = nullptr) {
  const FloatEnvironment environment;
  std::vector<SiteMemo> memos(launch.program.sites);
  const std::vector<u64>& chosen = launch.config.blocks;
  const u64 count =
      chosen.empty() ? launch.config.grid.count() / launch.config.cluster.count() : chosen.size();
  u64 current = 0;
  DeviceClock clock;
  const auto until = std::chrono::steady_clock::now() + kAlone;
  const auto look_at_clock = [&] {
    if (!start_others || std::chrono::steady_clock::now() < until) return;
    start_others();
    start_others = nullptr;
  };
  try {
    Cluster cluster(launch, counters, memos.data(), clock);
    for (;;) {
      look_at_clock();
      const u64 turn = shared.next.fetch_add(1);
      if (turn >= count) return;
      current = chosen.empty() ? turn : chosen[turn];
      // Blocks after the first faulty one need not run. Earlier ones must, because they may be
      // faulty too.
      if (current > shared.first_error.load()) return;
      // Values that depend on which blocks ran before on this worker would change between runs.
      clock.latest = launch.config.begin_clock;
      std::optional<ClusterSums> sums;
      if (shared.sums) sums.emplace(*launch.trial);
      for (u32 rank = 0; rank < cluster.size(); ++rank)
        cluster.block(rank).sums = sums ? &*sums : nullptr;
      cluster.start(current);
      while (!take_turn(launch, cluster, outcome, start_others ? kAloneQuantum : kQuantum)) {
        look_at_clock();
        if (cluster.idle_rounds > kIdleRounds) {
          report_waiting(cluster.block(0), cluster.size() > 1
                                               ? "no other thread of the cluster runs"
                                               : "no other thread of the block runs");
        }
      }
      outcome.end_clock = std::max(outcome.end_clock, clock.latest);
      if (sums) shared.sums->ended(turn, sums->take());
    }
  } catch (...) {
    outcome.error = std::current_exception();
    outcome.error_block = current;
    u64 known = shared.first_error.load();
    while (current < known && !shared.first_error.compare_exchange_weak(known, current)) {
    }
  }
}

// Whether blocks may wait for each other, or depend on their order apart from what they add.
bool is_ordered(const Launch& launch) {
  const bool random = launch.config.schedule.kind == CopySchedule::Kind::kRandom;
  return launch.program.ordered || launch.config.cooperative || (launch.program.sums && random);
}

unsigned most_workers(const LaunchConfig& config) {
  const u64 blocks = config.blocks.empty() ? config.grid.count() : config.blocks.size();
  const unsigned host = std::max(
      1u, config.host_threads != 0 ? config.host_threads : std::thread::hardware_concurrency());
  return static_cast<unsigned>(std::min<u64>(host, blocks / config.cluster.count()));
}

// The contents of the constant banks.
void fill_banks(Launch& launch) {
  const MachineCode& code = *launch.program.machine_code;
  const LaunchConfig& config = launch.config;
  const std::vector<std::byte>& params = launch.params;
  auto& banks = launch.banks;
  std::vector<std::byte>& first = banks[0];
  first.resize(code.param_base + params.size());
  const ir::DriverConstants places = ir::driver_constants(launch.program.attributes.target);
  const auto put = [&](const ir::DriverConstant& place, const auto& value) {
    if (place.bytes == sizeof(value) && place.offset + sizeof(value) <= first.size())
      std::memcpy(first.data() + place.offset, &value, sizeof(value));
  };
  const u32 block_extents[] = {config.block.x, config.block.y, config.block.z};
  const u32 grid_extents[] = {config.grid.x, config.grid.y, config.grid.z};
  put(places.block, block_extents);
  put(places.grid, grid_extents);
  put(places.shared_window, windows().shared);
  put(places.local_window, windows().local);
  put(places.stack, code.stack_bytes);
  put(places.dynamic_shared, config.dynamic_shared_bytes);
  put(places.reserved_shared, launch.program.shared_begin);
  put(places.multiprocessors, ir::kMultiprocessors);
  put(places.constants, reinterpret_cast<u64>(code.bank3));
  put(places.workspace, launch.grid_workspace >> 32 | launch.grid_workspace << 32);
  const Dim3 &grid = config.grid, &cluster = config.cluster;
  // Code divides by a cluster's extents: the product with the reciprocal, rounded to zero.
  const auto reciprocal = [](u32 extent) {
    const float nearest = 1.0F / static_cast<float>(extent);
    const bool exact = (extent & (extent - 1)) == 0;
    return exact ? nearest : std::nextafterf(nearest, 1.0F);
  };
  put(places.in_cluster, u32{config.in_clusters ? 1u : 0u});
  const struct {
    u32 extents[3];
    float reciprocals[3];
    u32 clusters[3];
  } of_cluster = {{cluster.x, cluster.y, cluster.z},
                  {reciprocal(cluster.x), reciprocal(cluster.y), reciprocal(cluster.z)},
                  {grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z}};
  put(places.cluster, of_cluster);
  put(places.cluster_size, static_cast<u32>(cluster.count()));
  put(places.params_address, windows().param + code.param_base);
  std::copy(params.begin(), params.end(), first.begin() + code.param_base);
  banks[2] = code.bank2;
  if (code.bank3 != nullptr) {
    const u64 address = reinterpret_cast<u64>(code.bank3);
    if (const Allocation* const bank = launch.map->find(address); bank != nullptr)
      note_touched(launch, *bank, address, code.bank3_bytes, false);
    banks[3].assign(code.bank3, code.bank3 + code.bank3_bytes);
  }
  banks[4] = code.bank4;
  // Code loads whole words and vectors, of which the end of the last value is a part.
  constexpr std::size_t kWidestLoad = 16;
  for (std::vector<std::byte>& bank : banks)
    bank.resize((bank.size() + kWidestLoad - 1) / kWidestLoad * kWidestLoad);
}

}  // namespace

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
  if (!config.blocks.empty() && (program.ordered || program.sums)) {
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

Launch prepare(const Program& program, const LaunchConfig& config,
               std::span<const std::byte> params, Memory& memory,
               std::optional<GridWorkspace>& workspace) {
  if (config.cooperative) workspace.emplace(memory);
  Launch launch{program,
                config,
                {params.begin(), params.end()},
                memory,
                std::make_shared<const LaunchAllocations>(memory),
                current_isa()};
  const u32 alignment = program.shared_dynamic_alignment;
  const u32 dynamic_begin =
      (program.shared_begin + program.shared_static + alignment - 1) / alignment * alignment;
  launch.shared_end = config.dynamic_shared_bytes == 0
                          ? program.shared_begin + program.shared_static
                          : dynamic_begin + config.dynamic_shared_bytes;
  // ptxas loads a 12-byte value at the end of shared memory by LDS.128 and ignores the rest:
  // hardware allocates shared memory in larger units. It knows the end of static memory only; of
  // other memory nvcc joins single bytes to words (and see sass/lower/passes.cpp).
  constexpr u32 kWidestLoad = 16, kWord = 4;
  const u32 unit = program.machine_code && config.dynamic_shared_bytes == 0 ? kWidestLoad : kWord;
  launch.shared_read_end = (launch.shared_end + unit - 1) / unit * unit;
  if (workspace) launch.grid_workspace = workspace->address();
  if (program.machine_code) fill_banks(launch);
  return launch;
}

bool may_try(const Launch& launch) {
  return launch.program.sums && !is_ordered(launch) && most_workers(launch.config) > 1;
}

GridRun run_grid(const Launch& launch) {
  const LaunchConfig& config = launch.config;
  const Program& program = launch.program;
  const bool ordered = is_ordered(launch);
  const bool alone = ordered || (program.sums && launch.trial == nullptr);
  const unsigned workers = alone ? 1 : most_workers(config);
  std::vector<observer::Counters> counters(workers, observer::Counters(program, config.trace));
  std::vector<Outcome> outcomes(workers);
  if (ordered) {
    work_in_order(launch, counters[0], outcomes[0]);
  } else {
    Shared shared(launch.trial);
    std::vector<std::thread> threads;
    threads.reserve(workers);
    const auto start_others = [&] {
      try {
        for (unsigned i = 1; i < workers; ++i) {
          threads.emplace_back([&, i] { work(launch, counters[i], shared, outcomes[i]); });
        }
      } catch (const std::system_error&) {
        // No more threads can be created; the existing ones share all blocks.
      }
    };
    if (config.host_threads != 0) start_others();
    const bool later = config.host_threads == 0 && workers > 1;
    work(launch, counters[0], shared, outcomes[0],
         later ? std::function<void()>(start_others) : nullptr);
    for (std::thread& thread : threads) thread.join();
  }

  GridRun run{nullptr, PrintFifo(config.print_bytes), 0, 0, false, std::move(counters[0])};
  for (std::size_t i = 1; i < counters.size(); ++i) run.counters.add(counters[i]);
  u64 error_block = ~u64{0};
  std::map<u64, const PrintFifo*> by_block;
  for (const Outcome& outcome : outcomes) {
    if (outcome.error_block < error_block) run.error = outcome.error;
    error_block = std::min(error_block, outcome.error_block);
    run.longest = std::max(run.longest, outcome.longest);
    run.end_clock = std::max(run.end_clock, outcome.end_clock);
    run.waited |= outcome.waited;
    run.output.lose(outcome.lost_prints);
    for (const auto& [block, part] : outcome.output) by_block.emplace(block, &part);
  }
  run.end_clock = std::max(run.end_clock, config.begin_clock + run.longest);
  for (const auto& [block, part] : by_block) run.output.add(*part);
  return run;
}

GridRun run_again(const Launch& launch, const GridRun& first, const observer::UnwrittenFill& fill) {
  constexpr u64 kLonger = 2;
  Launch again = launch;
  again.config.check_race = again.config.check_init = again.config.trace = false;
  again.observer = nullptr;
  Findings known;  // those of the first run
  if (again.config.findings != nullptr) again.config.findings = &known;
  again.fill = fill;
  again.most_instructions = std::max<u64>(kQuantum, kLonger * first.longest);
  return run_grid(again);
}

}  // namespace vgpu::machine
