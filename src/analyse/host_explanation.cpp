// SPDX-License-Identifier: Apache-2.0
#include "analyse/host_explanation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <numeric>

#ifdef LADDER_HAVE_HIGHWAY
#include "host/best_rate.hpp"
#include "host/blocking.hpp"
#include "host/rates.hpp"
#include "host/tuned.hpp"
#endif

namespace ladder::analyse {
namespace {

constexpr double kFloat = 4, kLineBytes = 64;

#ifdef LADDER_HAVE_HIGHWAY
// results are stored here so that the compiler does not remove the loops
std::atomic<std::uint64_t> sink;

// Rate of dependent float additions, per second.
double additions_a_second() {
  return host::best_rate(1 << 16, [](std::int64_t n) {
    float sum = 0;
    for (; n > 0; --n) {
      sum += 1e-3F;
#if defined(__x86_64__)
      asm volatile("" : "+x"(sum));  // prevents folding and reordering
#elif defined(__aarch64__)
      asm volatile("" : "+w"(sum));
#endif
    }
    sink = static_cast<std::uint64_t>(sum);
  });
}

double read_rate(std::int64_t bytes) {
  const std::vector<std::uint64_t> memory(static_cast<std::size_t>(bytes) / sizeof(std::uint64_t),
                                          1);
  return static_cast<double>(bytes) * host::best_rate(1, [&](std::int64_t passes) {
           for (; passes > 0; --passes)
             sink = std::accumulate(memory.begin(), memory.end(), std::uint64_t{sink});
         });
}
#endif

// Adds the bytes to the smallest cache level that holds a reused working set of `kept` bytes.
void add(HostTraffic& to, double bytes, double kept, const HostMachine& m) {
  if (kept <= m.l1_bytes) return;
  (kept <= m.l2_bytes ? to.l2 : kept <= m.l3_bytes ? to.l3 : to.memory) += bytes;
}

double ceil_div(double a, double b) { return std::ceil(a / b); }

}  // namespace

Result<HostMachine> measure_host([[maybe_unused]] int threads) {
#ifdef LADDER_HAVE_HIGHWAY
  const host::Rates rates = host::measure_rates(threads);
  const host::CacheSizes caches = host::cache_sizes();
  HostMachine m;
  m.cpu = host::cpu_name();
  m.target = rates.target;
  m.threads = threads;
  m.clock_hz = rates.clock_hz;
  m.fma_clock_hz = rates.fma_clock_hz;
  m.tile_clock_hz = rates.tile_clock_hz;
  m.fma_flops = rates.fma_flops;
  m.tile_flops = rates.tile_flops;
  m.vector_bytes = static_cast<int>(host::micro_kernel().lanes * kFloat);
  m.add_cycles = rates.clock_hz / additions_a_second();
  m.l1_bandwidth = rates.l1_bandwidth;
  m.l2_bandwidth = rates.l2_bandwidth;
  m.memory_bandwidth = rates.memory_bandwidth;
  m.l1_bytes = static_cast<double>(caches.l1);
  m.l2_bytes = static_cast<double>(caches.l2);
  m.l3_bytes = static_cast<double>(caches.l3);
  // A multiple of L2's size so that reads come from L3, but at most half of L3, since other tenants
  // of the machine may use the rest.
  m.l3_bandwidth = threads * read_rate(std::min(caches.l3 / 2, 4 * caches.l2));
  return m;
#else
  return Status(Code::kUnsupportedProblem,
                "this build lacks Highway, by which the machine is measured");
#endif
}

HostTraffic host_traffic(std::string_view rung, const Problem& p, const HostMachine& machine) {
  const auto m = static_cast<double>(p.m), n = static_cast<double>(p.n),
             k = static_cast<double>(p.k);
  HostTraffic t;
  if (rung == "h01_naive") {
    // Each step of k reads one cache line of B's column. The following columns hit the same lines
    // if k lines fit in L2; otherwise each step reads a line again.
    const double column = k * kLineBytes;
    add(t, column <= machine.l2_bytes ? m * n * k * kFloat : m * n * k * kLineBytes, column,
        machine);
    // B is read again for each row of C.
    add(t, m * k * n * kFloat * kFloat / kLineBytes, k * n * kFloat, machine);
  } else if (rung == "h02_loop_order") {
    add(t, m * n * k * kFloat, k * n * kFloat, machine);  // all of B per row of A
    add(t, 2 * m * n * k * kFloat, n * kFloat, machine);  // one row of C per k
  } else if (rung == "h03_cache_block") {
    constexpr double kRows = 1024, kColumns = 1024, kDepth = 128;  // the rung's Tile
    add(t, m * n * k * kFloat, std::min(k, kDepth) * std::min(n, kColumns) * kFloat, machine);
    const double once = k * n * kFloat * ceil_div(m, kRows) +
                        m * k * kFloat * ceil_div(n, kColumns) +
                        2 * m * n * kFloat * ceil_div(k, kDepth);
    add(t, once, work_of(p).least_bytes(), machine);
#ifdef LADDER_HAVE_HIGHWAY
  } else if (rung == "h04_simd_pack" || rung == "h05_threads") {
    const host::Way way = host::way_for(as_row_major(p).problem, host::micro_kernel());
    const host::Blocks blocks = host::blocks(way.tile);
    const auto rows = static_cast<double>(blocks.rows), columns = static_cast<double>(blocks.cols),
               depth = static_cast<double>(blocks.depth);
    // One sliver of B per panel of A. Packed copies are written once and read once. C is read and
    // written once per block of k.
    add(t, m * n * k * kFloat / way.tile.rows, std::min(k, depth) * std::min(n, columns) * kFloat,
        machine);
    const double copies =
        (way.pack_a ? 2 : 1) * m * k + (way.pack_b ? 2 : 1) * k * n * ceil_div(m, rows);
    add(t, (copies + 2 * m * n * ceil_div(k, depth)) * kFloat, work_of(p).least_bytes(), machine);
#endif
  }
  return t;
}

void predict_host(HostExplanation& e) {
  if (!e.loop || !reads_ab(e.problem)) return;
  const HostMix& mix = e.loop->mix;
  const HostMachine& m = e.machine;
  const double products = flops(e.problem) / 2;
  const double rounds = products / mix.multiplies / m.threads;  // per core
  Prediction p;
  const auto pipe = [&](const char* name, double seconds) {
    if (seconds > 0) p.pipes.push_back({name, seconds * kMsPerSecond});
  };
  // If every operand is a whole vector, the clock may differ from that of scalar code, so the
  // measured rate with operands from L1 is used.
  const double ports = mix.vector_bytes >= m.vector_bytes && mix.loads > 0
                           ? m.fed_per_cycle()
                           : m.multiply_adds_per_cycle();
  pipe("multiply-add ports", rounds * mix.arithmetic / ports / m.clock_hz);
  pipe("load and store ports",
       rounds * (mix.loads + mix.stores) / m.loads_per_cycle() / m.clock_hz);
  pipe("additions that wait for one another", rounds * mix.chained * m.add_cycles / m.clock_hz);
  pipe("L2", e.traffic.l2 / m.l2_bandwidth);
  pipe("L3", e.traffic.l3 / m.l3_bandwidth);
  pipe("memory",
       std::max(e.traffic.memory, e.work.least_bytes() > m.l3_bytes ? e.work.least_bytes() : 0) /
           m.memory_bandwidth);
  std::ranges::stable_sort(p.pipes, std::greater(), &Pipe::ms);
  p.ms = p.pipes.front().ms;
  p.tflops = flops(e.problem) / p.ms / 1e9;
  p.limiter = p.pipes.front().name;
  p.why = fmt::format(
      "A round of the hot loop has {} instructions, {} of them arithmetic on {} bits, for {:.0f} "
      "products; {} loads and {} stores.",
      mix.instructions, mix.arithmetic, mix.vector_bytes * 8, mix.multiplies, mix.loads,
      mix.stores);
  e.prediction = std::move(p);
}

HostExplanation explain_host(const KernelInfo& kernel, const Problem& problem,
                             const HostMachine& machine) {
  HostExplanation e;
  e.id = kernel.id;
  e.rung = kernel.rung;
  e.idea = kernel.idea;
  e.problem = problem;
  e.machine = machine;
  e.work = work_of(problem);
  e.traffic = host_traffic(kernel.rung, problem, machine);
  auto function = host_function(kernel, problem);
  if (!function) {
    e.no_prediction = function.status().message();
    return e;
  }
  const auto loop = hot_loop(function.value());
  e.function = std::move(function).value();
  if (loop) {
    e.loop = loop.value();
  } else {
    e.no_prediction = loop.status().message();
  }
  predict_host(e);
  return e;
}

}  // namespace ladder::analyse
