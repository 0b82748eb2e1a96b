// SPDX-License-Identifier: Apache-2.0
// ladder tune h04: searches block sizes.
#include "tune_others.hpp"

#include <fmt/format.h>
#include <time.h>
#include <ladder/registry.hpp>
#include <nlohmann/json.hpp>

#include <cctype>
#include <filesystem>
#include <random>
#include <vector>

#include "common.hpp"
#include "host/tuned.hpp"
#include "report/environment.hpp"
#include "report/json_text.hpp"
#include "report/terminal.hpp"

namespace ladder::app {
namespace {

constexpr std::string_view kRung =
    "h04_simd_pack";  // on one core; h05 uses the result for each of its threads

// CPU time of this thread: other threads on the core do not affect it.
double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::vector<float> uniform(std::int64_t count) {
  std::minstd_rand engine(1);
  std::uniform_real_distribution<float> values(-1.0F, 1.0F);
  std::vector<float> out(static_cast<std::size_t>(count));
  for (float& x : out) x = values(engine);
  return out;
}

// "intel-r-xeon-r-processor-48k-2048k.json".
std::string file_name(const std::string& cpu, const host::CacheSizes& caches) {
  std::string name;
  for (const char ch : cpu) {
    const auto byte = static_cast<unsigned char>(ch);
    if (std::isalnum(byte) != 0) {
      name += static_cast<char>(std::tolower(byte));
    } else if (!name.empty() && name.back() != '-') {
      name += '-';
    }
  }
  if (!name.ends_with('-')) name += '-';
  return fmt::format("{}{}k-{}k.json", name, caches.l1 >> 10, caches.l2 >> 10);
}

std::string describe_blocks(const host::Blocks& blocks) {
  return fmt::format("{} x {} x {}", blocks.rows, blocks.cols, blocks.depth);
}

}  // namespace

bool has_blocks(const std::string& name) {
  const auto found = find_kernels(name);
  return found && found.value().front()->rung == kRung;
}

int tune_blocks(const Problem& problem, double budget_s, const std::string& source,
                const std::string& output) {
  const std::string& cpu = host::cpu_name();
  const host::CacheSizes caches = host::cache_sizes();
  std::string path = output;
  if (path.empty()) {
    const std::filesystem::path folder = std::filesystem::path(source) / "src" / "host" / "tuned";
    std::error_code error;
    // on failure the write below reports the error
    std::filesystem::create_directories(folder, error);
    path = (folder / file_name(cpu, caches)).string();
  }
  require_writable(path, "--output");

  const std::vector<float> a = uniform(extent_a(problem).elements()),
                           b = uniform(extent_b(problem).elements());
  std::vector<float> c(static_cast<std::size_t>(extent_c(problem).elements()));
  const KernelInfo& kernel = *required(find_kernels(std::string(kRung)), "RUNG").front();
  const host::Shape tile = host::micro_kernel().shape(2);
  Status failed;
  const auto seconds = [&](const host::Blocks& blocks) {
    host::try_blocks(blocks, tile);
    const double begin = cpu_seconds();
    if (Status status = kernel.launch(problem, {a.data(), b.data(), c.data()}, nullptr); !status)
      failed = status;
    return cpu_seconds() - begin;
  };
  const host::Blocks by_rule = host::blocks_for(caches, tile);
  seconds(by_rule);  // touches the pages and lets the clock settle
  const auto trials =
      host::search_blocks(by_rule, host::block_candidates(caches, tile), seconds, budget_s);
  host::try_blocks(std::nullopt, tile);
  if (!failed) throw BadInput("--shape: " + failed.message());

  const auto rate = [&](const host::BlockTrial& trial) {
    return flops(problem) / trial.seconds * 1e-9;
  };
  TablePrinter printer(stdout, stderr, detect_style());
  double rule_rate = 0;
  for (const host::BlockTrial& trial : trials) {
    const bool is_rule = trial.blocks == by_rule;
    if (is_rule) rule_rate = rate(trial);
    printer.line(fmt::format("{:>18} {:7.1f} GFLOP/s, {} rounds{}", describe_blocks(trial.blocks),
                             rate(trial), trial.rounds,
                             is_rule ? "; what follows from the caches" : ""));
  }
  const host::BlockTrial& best = trials.front();
  const Environment e = query_environment({});
  const nlohmann::ordered_json json = {{"cpu", cpu},
                                       {"l1", caches.l1},
                                       {"l2", caches.l2},
                                       {"target", host::micro_kernel().target},
                                       {"rows", best.blocks.rows},
                                       {"cols", best.blocks.cols},
                                       {"depth", best.blocks.depth},
                                       {"problem", to_string(problem)},
                                       {"gflops", rate(best)},
                                       {"by_rule_gflops", rule_rate},
                                       {"rounds", best.rounds},
                                       {"date", e.date},
                                       {"ladder", e.version},
                                       {"commit", e.commit}};
  write_file(path, json_text(json, 1) + "\n", "--output");
  printer.line(fmt::format("saved in {}; h04 and h05 use it once they are built again", path));
  return kOk;
}

}  // namespace ladder::app
