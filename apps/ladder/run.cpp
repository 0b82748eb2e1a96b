// SPDX-License-Identifier: Apache-2.0
// ladder run FILE.cu: compiles a user's kernel, then verifies, measures or counts, compares and
// explains it like a rung. The kernel runs in a child process with a time limit.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <unistd.h>
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "analyse/explanation.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "report/temporary.hpp"
#include "report/terminal.hpp"
#include "run.hpp"
#include "tune/process.hpp"

namespace ladder::app {
namespace {

namespace fs = std::filesystem;
constexpr const char* kLoadedVerb = "run-loaded";
constexpr const char* kPassedVerdict = "passed\n";
constexpr const char* kFailedVerdict = "failed\n";
constexpr std::int64_t kGpuSide = 4096, kVirtualSide = 256;

Problem problem_for(const RunOptions& o, std::int64_t side) {
  Problem problem = shape_or(o.shape, make_problem(side, side, side));
  problem.beta = o.beta;
  return problem;
}

std::vector<const KernelInfo*> rivals_of(const RunOptions& o) {
  std::vector<const KernelInfo*> list;
  for (const std::string& name : o.against) {
    const auto found = find_kernels(name);
    if (!found) {
      if (name == "cublas_ieee") continue;  // built without cuBLAS
      throw BadInput("--against: " + found.status().message());
    }
    for (const KernelInfo* kernel : found.value()) {
      if (kernel->place == Place::kCuda) list.push_back(kernel);
    }
  }
  return list;
}

// The user's code can also set the child's exit status, with _exit() or by a crash after the
// verdict. The status is accepted only if the file that the child writes last has the same status.
int judge(const RunOptions& o, const tune::Child::End& end, const std::string& verdict) {
  const auto told = read_file(verdict);
  const bool passed = told && told.value() == kPassedVerdict;
  if (passed ? end.status == kOk : told && end.status > 0) return end.status;
  fmt::print(stderr, "ladder: {}: the process that ran it ended {} its verdict: {}\n", o.file,
             told ? "otherwise than" : "without", end.text);
  return kFailed;
}

}  // namespace

// The parent process: builds, then starts a child that loads the result.
int run_user_kernel(const RunOptions& o) {
  (void)problem_for(o, kGpuSide);
  (void)rivals_of(o);
  (void)selected_machine(o.explain_on, "boost", "--explain-on");
  std::error_code error;
  if (!fs::is_directory(fs::path(o.source) / "include" / "ladder", error))
    throw BadInput(fmt::format(
        "--source: {}: no checkout of ladder; its headers are needed to compile", o.source));
  catch_interrupt();
  const auto scratch = required(Temporary::folder("run"));
  const auto deadline = tune::in_seconds(o.limit_s);
  const analyse::UserKernel kernel{o.file,   o.kernel, o.grid,  o.block,
                                   o.shared, o.strict, o.needs, o.arguments};
  constexpr int kCc = 90;
  const auto built = analyse::build(kernel, kCc, scratch.path(), o.source, deadline, interrupted);
  if (!built) {
    if (interrupted()) return kInterrupted;
    throw BadInput(built.status().message());
  }
  if (!o.json) {
    fmt::print("compiled: at most {} registers per thread, {} bytes of static shared memory{}\n",
               built.value().registers, built.value().shared_bytes,
               built.value().spill_bytes > 0
                   ? fmt::format(", {} bytes spilled", built.value().spill_bytes)
                   : "");
    std::fflush(stdout);
  }

  const std::string folder = scratch.path().string(), verdict = folder + "/verdict";
  std::vector<std::string> command{"env",
                                   "TMPDIR=" + folder,
                                   fmt::format("/proc/{}/exe", ::getpid()),
                                   kLoadedVerb,
                                   built.value().library.string(),
                                   "--verdict",
                                   verdict,
                                   "--device",
                                   o.device,
                                   "--explain-on",
                                   o.explain_on,
                                   "--source",
                                   o.source};
  if (!o.shape.empty()) command.insert(command.end(), {"--shape", o.shape});
  for (const std::string& name : o.against) command.insert(command.end(), {"--against", name});
  const bool has_beta = !kernel.is_plain() || kernel.takes("beta");
  if (o.only_explain)
    command.insert(command.end(), {"--only-explain", "--clock", o.clock, "--beta",
                                   fmt::format("{}", has_beta ? o.beta : 0)});
  if (o.json) command.emplace_back("--json");
  // A plain kernel reads C, hence beta = 1.
  if (!o.only_explain && kernel.is_plain() && has_beta && !o.strict)
    command.insert(command.end(), {"--beta", "1"});
  if (o.no_explain) command.emplace_back("--no-explain");
  const auto print = [](const std::string& line) {
    fmt::print("{}\n", line);
    std::fflush(stdout);
  };
  const auto finished = required(tune::run(command, deadline, interrupted, print));
  if (finished.ended) return judge(o, finished.end, verdict);
  if (!finished.timed_out) return kInterrupted;
  fmt::print(stderr, "ladder: {}: not done within {} s (--limit)\n", o.file, o.limit_s);
  return kFailed;
}

namespace {

// Why cases were refused: the most frequent reason.
std::string refusals(const Verdict& v) {
  std::map<std::string, int> reasons;
  for (const CaseResult& one : v.cases)
    if (one.outcome == Outcome::kRefused) ++reasons[one.reason];
  if (reasons.empty()) return "";
  const auto most = std::ranges::max_element(
      reasons, {}, [](const auto& reason_and_times) { return reason_and_times.second; });
  return fmt::format(" ({} of them: {})", most->second, most->first);
}

// The child process.
class Trial {
 public:
  Trial(const RunOptions& o, const Target& target)
      : o_(o), printer_(stdout, stderr, TerminalStyle{}), device_(*target.cuda) {}

  int run(const KernelInfo& kernel) {
    const Problem problem = problem_for(o_, device_.is_virtual ? kVirtualSide : kGpuSide);
    if (Status status = kernel.accepts(problem, device_); !status) {
      printer_.line(
          fmt::format("{}: refuses {}: {}", kernel.id, to_string(problem), status.message()));
      return kFailed;
    }
    // The shape comes first: a kernel that fails on it would also fail on the battery, which takes
    // longer.
    Row row = make_row(kernel, problem, device_);
    row.verdict = verify(kernel, cases_of(problem, 1), device_, {}, store_);
    if (row.verdict.ok()) {
      std::vector<CaseResult> all =
          verify(kernel, make_battery(Battery::kQuick, 1), device_, {}, store_).cases;
      all.insert(all.end(), row.verdict.cases.begin(), row.verdict.cases.end());
      row.verdict = summarize(std::move(all));
    }
    const Verdict& v = row.verdict;
    printer_.line(fmt::format("verified: {}, {} of {} cases, {} refused{}", to_string(v.outcome),
                              v.passed, v.cases.size() - v.refused, v.refused, refusals(v)));
    if (!v.ok()) {
      printer_.line("  " + v.reason);
      return kFailed;
    }
    compare(kernel, problem, std::move(row));
    return kOk;
  }

 private:
  void compare(const KernelInfo& kernel, const Problem& problem, Row own) {
    std::vector<Row> rows;
    std::vector<const KernelInfo*> all{&kernel};
    rows.push_back(std::move(own));
    for (const KernelInfo* rival : rivals_of(o_)) {
      // baselines are never counted
      if (device_.is_virtual && rival->role == Role::kBaseline) continue;
      if (!rival->accepts(problem, device_)) continue;
      Row row = make_row(*rival, problem, device_);
      row.verdict = verify(*rival, cases_of(problem, 1), device_, {}, store_);
      if (!row.verdict.ok()) continue;
      all.push_back(rival);
      rows.push_back(std::move(row));
    }
    if (device_.is_virtual) {
      for (std::size_t i = 0; i < all.size(); ++i) {
        auto counted = count(*all[i], problem, device_, 1);
        if (counted) rows[i].counters = std::move(counted).value();
      }
    } else if (auto measured = measure(all, problem, device_, MeasureOptions{})) {
      for (std::size_t i = 0; i < all.size(); ++i) rows[i].timing = std::move(measured.value()[i]);
      if (all.back()->role == Role::kBaseline) {
        const BaselineTiming baseline{std::string(all.back()->id), *rows.back().timing};
        for (Row& row : rows) row.baseline = baseline;
      }
    } else {
      printer_.line("not timed: " + measured.status().message());
    }
    for (const Row& row : rows) printer_.expect(row);
    for (const Row& row : rows) printer_.row(row);
  }

  const RunOptions& o_;
  TablePrinter printer_;
  const Device& device_;
  ReferenceStore store_;
};

int explain_user(const RunOptions& o, const KernelInfo& kernel, const Device& device) {
  const analyse::Machine machine = selected_machine(o.explain_on, o.clock);
  const Problem problem = problem_for(o, kGpuSide);
  analyse::ExplainOptions options;
  options.code_file = o.library;
  const auto e = analyse::explain(kernel, problem, machine, device, options);
  if (!e) {
    fmt::print(o.only_explain ? stderr : stdout, "not explained: {}\n", e.status().message());
    return kFailed;
  }
  if (!o.json) fmt::print("\n");
  print_explanation(e.value(), o.json);
  if (o.json || o.only_explain) return kOk;
  fmt::print("\nPREDICTED BESIDE IT, {} on {}\n", to_string(problem), machine.name);
  for (const KernelInfo* rival : rivals_of(o)) {
    if (rival->role == Role::kBaseline) continue;
    const auto other = analyse::explain(*rival, problem, machine, device, {});
    if (other && other.value().prediction)
      fmt::print("  {:<22}{:>8.3g} TFLOP/s, limited by {}\n", rival->id,
                 other.value().prediction->tflops, other.value().prediction->limiter);
  }
  return kOk;
}

int try_kernels(const RunOptions& o) {
  const Target target = select_target(o.device);
  if (!target.cuda) throw BadInput("--device: " + target.why_no_cuda);
  const auto library = required(analyse::UserLibrary::open(o.library));
  int status = kOk;
  for (const KernelInfo* kernel : library.kernels()) {
    if (o.only_explain) {
      status = std::max(status, explain_user(o, *kernel, *target.cuda));
      continue;
    }
    const int one = Trial(o, target).run(*kernel);
    status = std::max(status, one);
    if (one != kOk || o.no_explain) continue;
    if (target.cuda->is_virtual) {
      explain_user(o, *kernel, *target.cuda);
    } else {
      fmt::print("explained on the virtual GPU: ladder run ... --device virtual:h200\n");
    }
  }
  return status;
}

int run_loaded(const RunOptions& o) {
  const auto tell = [&](const char* verdict) {
    if (Status written = write_atomic(o.verdict, verdict); !written)
      throw BadInput("--verdict: " + written.message());
  };
  try {
    const int status = try_kernels(o);
    tell(status == kOk ? kPassedVerdict : kFailedVerdict);
    return status;
  } catch (const BadInput&) {
    tell(kFailedVerdict);
    throw;
  }
}

void add_shared(CLI::App& verb, RunOptions& o) {
  verb.add_option("--device", o.device, "auto (a GPU, else virtual:h200), cuda:N or virtual:NAME");
  verb.add_option("--shape", o.shape,
                  "MxNxK, or N for a cube; default 4096 on a GPU and to explain, 256 to count");
  verb.add_option("--against", o.against, "kernels to compare with; default r05, r10 and cuBLAS")
      ->allow_extra_args(false);
  verb.add_option("--explain-on", o.explain_on,
                  "the device to predict for: " + vgpu::known_devices());
  verb.add_flag("--no-explain", o.no_explain, "verify and measure or count only");
  verb.add_option("--source", o.source, "the checkout of ladder, for its headers");
}

}  // namespace

void add_run(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand(
      "run", "Compile your own kernel; verify, measure or count, compare and explain it");
  auto o = std::make_shared<RunOptions>();
  verb->add_option("FILE.cu", o->file,
                   "a rung (ladder new writes one), or a file with a plain kernel")
      ->required();
  verb->add_option("--kernel", o->kernel,
                   "name of a plain kernel, e.g. \"sgemm<32>\"; default the only kernel");
  verb->add_option(
      "--args", o->arguments,
      "arguments of the plain kernel, default \"M, N, K, alpha, A, B, beta, C\"; without "
      "alpha it accepts only alpha = 1, without beta only beta = 0");
  verb->add_option("--grid", o->grid,
                   "grid of the plain kernel, in M, N, K: \"ceil_div(N, 32), ceil_div(M, 32)\"");
  verb->add_option("--block", o->block, "block of the plain kernel, e.g. \"32, 32\"");
  verb->add_option("--shared", o->shared, "bytes of dynamic shared memory, in M, N, K");
  verb->add_option("--needs", o->needs,
                   "problems that it accepts, e.g. \"M % 128 == 0 && N % 128 == 0\"");
  verb->add_flag("--strict", o->strict,
                 "the plain kernel does not read C where beta = 0, nor A and B where alpha = 0");
  add_number(*verb, "--limit", o->limit_s, kSecondsRange,
             "time limit in seconds for the whole command; default 300");
  add_shared(*verb, *o);
  verb->footer(
      "A crash, a hang or a fault of the kernel ends only the process that runs it, and is "
      "reported.\n"
      "Examples:\n"
      "  ladder new r99_mine && ladder run r99_mine.cu\n"
      "  ladder run mine.cu --args \"A, B, C, N\" --needs \"M == N && K == N\" "
      "--grid \"N / 16, N / 16\" --block \"16, 16\"\n"
      "  ladder run sgemm.cu --kernel sgemm_naive --grid \"CEIL_DIV(M, 32), CEIL_DIV(N, 32)\" "
      "--block \"32, 32\"\n"
      "  ladder run sgemm.cu --kernel \"sgemm<128, 128, 8>\" --grid \"N / 128, M / 128\" --block "
      "256 \\\n"
      "             --needs \"M % 128 == 0 && N % 128 == 0 && K % 8 == 0\" --explain-on a6000");
  verb->callback([&chosen, o] { chosen = [o] { return run_user_kernel(*o); }; });

  CLI::App* loaded = hidden_verb(app, kLoadedVerb);
  auto l = std::make_shared<RunOptions>();
  loaded->add_option("LIBRARY", l->library)->required();
  add_number(*loaded, "--beta", l->beta, kFloatRange, "");
  loaded->add_option("--verdict", l->verdict)->required();
  loaded->add_option("--clock", l->clock);
  loaded->add_flag("--only-explain", l->only_explain);
  loaded->add_flag("--json", l->json);
  add_shared(*loaded, *l);
  loaded->callback([&chosen, l] { chosen = [l] { return run_loaded(*l); }; });
}

}  // namespace ladder::app
