// SPDX-License-Identifier: Apache-2.0
#include "common.hpp"

#include <fmt/format.h>
#include <unistd.h>
#include <ladder/registry.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <iterator>
#include <string_view>
#include <thread>

#ifdef LADDER_HAVE_HIGHWAY
#include "host/rates.hpp"
#endif
#include "operands/buffer.hpp"
#include "problem/suites.hpp"
#include "report/files.hpp"
#include "report/table.hpp"

namespace ladder::app {
namespace {

std::atomic<bool> g_interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free, "set from a signal handler");

constexpr int kInterrupts[] = {SIGINT, SIGTERM, SIGHUP};

void on_interrupt(int) {
  constexpr std::string_view kSaid = "\nladder: ending; a second Ctrl-C ends at once\n";
  const int error = errno;
  for (const int number : kInterrupts) std::signal(number, SIG_DFL);
  g_interrupted.store(true);
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kSaid.data(), kSaid.size());
  errno = error;
}

std::string gib(double bytes) { return fmt::format("{:.1f} GiB", bytes / (1024.0 * 1024 * 1024)); }

}  // namespace

void add_common_options(CLI::App& verb, CommonOptions& options) {
  verb.add_option("kernels,--kernel", options.kernels,
                  "kernels by id, rung or number (ladder list); default: all");
  verb.add_option("--device", options.device, kDeviceHelp);
  verb.add_option("--shape", options.shapes,
                  "MxNxK or N, lists and ranges as for `ladder bench`; repeatable")
      ->allow_extra_args(false);
  verb.add_option("--json", options.json, "write rows and environment here (docs/schema.md)");
  add_number(verb, "--seed", options.seed, kSeedRange, "seed of the operands");
  verb.add_option("--battery", options.battery, "quick, or full: a few hundred problems more");
}

std::vector<const KernelInfo*> kernels_named(const std::string& name, const std::string& argument) {
  if (name.ends_with(".cu"))
    throw BadInput(fmt::format(
        "{}: {}: a file of your own is verified, measured and explained by `ladder run`", argument,
        name));
  return required(find_kernels(name), argument);
}

std::vector<const KernelInfo*> selected_kernels(const CommonOptions& options, const Target& target,
                                                bool every_library_kernel) {
  std::vector<const KernelInfo*> selected;
  const auto add = [&](const KernelInfo* kernel) {
    if (std::ranges::find(selected, kernel) == selected.end()) selected.push_back(kernel);
  };
  for (const std::string& name : options.kernels) {
    for (const KernelInfo* kernel : kernels_named(name, "--kernel")) add(kernel);
  }
  if (options.kernels.empty()) {
    for (const KernelInfo& kernel : kernels()) {
      if (kernel.role == Role::kLibraryKernel && !every_library_kernel) continue;
      if (kernel.place == Place::kHost || !target.host_only) add(&kernel);
    }
  }
  // Host rungs first; within a place the registry's order.
  std::ranges::stable_sort(selected, [](const KernelInfo* a, const KernelInfo* b) {
    return a->place == Place::kHost && b->place != Place::kHost;
  });
  return selected;
}

std::vector<Problem> selected_shapes(const CommonOptions& options) {
  std::vector<Problem> problems;
  for (const std::string& text : options.shapes) {
    std::ranges::copy(required(parse_shapes(text), "--shape"), std::back_inserter(problems));
  }
  return problems;
}

Problem shape_or(const std::string& text, const Problem& otherwise) {
  return text.empty() ? otherwise : required(parse_shape(text), "--shape");
}

std::vector<Case> selected_battery(const CommonOptions& options) {
  for (const Battery battery : {Battery::kQuick, Battery::kFull}) {
    if (options.battery == to_string(battery)) return make_battery(battery, options.seed);
  }
  throw BadInput(fmt::format("--battery: '{}' is neither quick nor full", options.battery));
}

void require_memory(const Problem& problem, const Device& device, const std::string& argument) {
  const MemoryNeed need = verification_memory(problem);
  const bool on_gpu = device.has_cuda && !device.is_virtual;
  const double host_need = need.host + (on_gpu ? 0 : need.operands);
  const auto refuse = [&](double bytes, const std::string& whose, double there) {
    throw BadInput(fmt::format("{}: {} needs {} of {} memory, {} are there", argument,
                               to_string(problem), gib(bytes), whose, gib(there)));
  };
  if (device.has_cuda && need.operands > static_cast<double>(device.memory_bytes)) {
    refuse(need.operands, device.name + "'s", static_cast<double>(device.memory_bytes));
  }
  const auto host_there = static_cast<double>(available_host_memory());
  if (host_need > host_there) refuse(host_need, "host", host_there);
}

void require_writable(const std::string& path, const std::string& argument) {
  if (path.empty()) return;
  required(check_writable(path), argument);
}

const Device& device_of(const KernelInfo& kernel, const Target& target) {
  static const Device none;
  if (kernel.place == Place::kHost) return target.host;
  return target.cuda ? *target.cuda : none;
}

Device rated_device_of(const KernelInfo& kernel, const Target& target) {
  Device device = device_of(kernel, target);
#ifdef LADDER_HAVE_HIGHWAY
  if (kernel.place == Place::kHost) {
    static const host::Rates one = host::measure_rates(1);
    static const host::Rates all =
        host::measure_rates(static_cast<int>(std::thread::hardware_concurrency()));
    const host::Rates& rates = kernel.all_cores ? all : one;
    device.fp32_flops = rates.fma_flops;
    device.sm_clock_hz = rates.fma_clock_hz;
    device.memory_bandwidth = rates.memory_bandwidth;
  }
#endif
  return device;
}

Recorder::Recorder(std::string path, std::string argument, const Target& target)
    : path_(std::move(path)), argument_(std::move(argument)), replaced_(is_replaced(path_)) {
  document_.environment = query_environment(target.main());
}

void Recorder::add(Row row) {
  document_.rows.push_back(std::move(row));
  written_ = false;
  if (replaced_ && std::chrono::steady_clock::now() >= due_) write();
}

void Recorder::finish() {
  if (!replaced_ || !written_) write();
}

void Recorder::write() {
  constexpr int kTimesLonger = 20;  // a pause between writes, compared with a write
  const auto start = std::chrono::steady_clock::now();
  if (!path_.empty()) write_file(path_, to_json(document_), argument_);
  const auto end = std::chrono::steady_clock::now();
  due_ = end + kTimesLonger * (end - start);
  written_ = true;
}

void required(const Status& status, const std::string& argument) {
  if (!status) throw BadInput((argument.empty() ? "" : argument + ": ") + status.message());
}

void write_file(const std::string& path, std::string_view text, const std::string& argument) {
  required(write_atomic(path, text), argument);
}

void write_between(const std::string& path, const std::string& marker, const std::string& text) {
  const std::string before = required(read_file(path), "--into");
  const std::string after = required(splice(before, marker, text), "--marker: " + path);
  if (after != before) write_file(path, after, "--into");
}

void catch_interrupt() {
  for (const int number : kInterrupts) {
    // under nohup the signal stays ignored
    if (std::signal(number, on_interrupt) == SIG_IGN) std::signal(number, SIG_IGN);
  }
}

bool interrupted() { return g_interrupted.load(); }

int exit_status(const std::vector<Row>& rows) {
  bool any_passed = false;
  for (const Row& row : rows) {
    if (row.verdict.outcome == Outcome::kRefused) continue;
    if (!row.verdict.ok()) return kFailed;
    any_passed = true;
  }
  return any_passed ? kOk : kFailed;
}

}  // namespace ladder::app
