// SPDX-License-Identifier: Apache-2.0
#include "measure/measure.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "measure/operands.hpp"
#include "measure/timer.hpp"
#include "verify/input.hpp"

namespace ladder {
namespace {

constexpr double kBatchMs = 5;  // launches enqueued at once, so that a short kernel never waits for the host
constexpr int kMaxBatchRounds = 32;
constexpr double kTelemetryMs = 20;  // between two readings

class Clock {
 public:
  double seconds() const {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

int copies_needed(Place where, const Problem& problem, const Images& images, const Device& device,
                  bool cold) {
  if (!cold || where == Place::kHost) return 1;
  int l2 = 0;
  if (cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, device.ordinal) != cudaSuccess) return 2;
  const double bytes =
      static_cast<double>(bytes_of(problem.in)) * static_cast<double>(images.a.size() + images.b.size()) +
      static_cast<double>(bytes_of(problem.out)) * static_cast<double>(images.c.size());
  return std::max(2, static_cast<int>(std::ceil(2.0 * l2 / std::max(bytes, 1.0))));
}

// A run of rounds over all kernels, the operands rotating from launch to launch.
class Session {
 public:
  Session(std::span<const KernelInfo* const> kernels, const Problem& problem)
      : kernels_(kernels), problem_(problem) {}

  Status open(const Device& device, const MeasureOptions& options) {
    const Place where = kernels_.front()->place;
    auto images = make_images(problem_, {Values::kUniform, options.seed}, Precision::kIeee);
    if (!images) return images.status();
    const int copies = copies_needed(where, problem_, images.value(), device, options.cold);
    for (int i = 0; i < copies; ++i) {
      auto set = OperandSet::make(where, problem_, images.value());
      if (!set) return set.status();
      copies_.push_back(std::move(set).value());
    }
    auto timer = Timer::make(where);
    if (!timer) return timer.status();
    timer_ = std::move(timer).value();
    return Status::ok();
  }

  // Times `rounds` rounds; element r * kernels + i is kernel i in round r.
  Result<std::vector<double>> run(int rounds) {
    std::vector<Launch> launches;
    for (int r = 0; r < rounds; ++r) {
      for (const KernelInfo* kernel : kernels_) {
        const Operands operands = copies_[next_++ % copies_.size()].operands();
        launches.push_back(
            [this, kernel, operands](Stream stream) { return kernel->launch(problem_, operands, stream); });
      }
    }
    return timer_->time(launches);
  }

  int copies() const { return static_cast<int>(copies_.size()); }

 private:
  std::span<const KernelInfo* const> kernels_;
  Problem problem_;
  std::vector<OperandSet> copies_;
  std::unique_ptr<Timer> timer_;
  std::size_t next_ = 0;
};

// Warms up in four or more windows; returns the rounds that fill a batch.
Result<int> warm_up(Session& session, const MeasureOptions& options, double& seconds) {
  const Clock clock;
  std::vector<double> windows;
  double round_ms = 0;
  while (true) {
    const Clock window;
    std::vector<double> rounds;
    do {
      auto times = session.run(1);
      if (!times) return times.status();
      double sum = 0;
      for (const double ms : times.value()) sum += ms;
      rounds.push_back(sum);
      if (options.interrupted && options.interrupted()) break;
    } while (window.seconds() < options.warmup_s / 4);
    round_ms = describe(rounds).median;
    windows.push_back(round_ms);
    seconds = clock.seconds();
    if (options.interrupted && options.interrupted()) break;
    const bool settled = seconds >= options.warmup_s && times_stopped_falling(windows);
    if (settled || seconds >= std::max(10 * options.warmup_s, 3 * round_ms * 1e-3)) break;
  }
  return std::clamp(static_cast<int>(kBatchMs / std::max(round_ms, 1e-3)), 1, kMaxBatchRounds);
}

}  // namespace

bool times_stopped_falling(std::span<const double> windows) {
  if (windows.size() < 2) return false;
  constexpr double kFalls = 0.99;  // a stretch that is faster by less than this is noise
  return windows.back() >= kFalls * windows[windows.size() - 2];
}

Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels, const Problem& any_types,
                                         const Device& device, const MeasureOptions& options) {
  if (kernels.empty()) return std::vector<Measurement>();
  const Place where = kernels.front()->place;
  const Problem problem = in_types_of(*kernels.front(), any_types);
  if (where == Place::kCuda && device.is_virtual) {
    return Status(Code::kUnsupportedDevice, "the virtual GPU has no clock worth measuring");
  }
  Session session(kernels, problem);
  if (Status status = session.open(device, options); !status) return status;

  std::vector<Measurement> results(kernels.size());
  double warmup = 0;
  const auto batch = warm_up(session, options, warmup);
  if (!batch) return batch.status();

  const auto nvml = where == Place::kCuda ? Nvml::open(device.ordinal) : nullptr;
  std::vector<Telemetry> telemetry;
  const Clock clock;
  double last_reading = -1;
  while (true) {
    auto times = session.run(batch.value());
    if (!times) return times.status();
    for (std::size_t at = 0; at < times.value().size(); ++at) {
      const double ms = times.value()[at];
      if (!(ms > 0)) return Status(Code::kLaunchFailed, "a launch took no time: nothing was measured");
      results[at % kernels.size()].samples_ms.push_back(ms);
    }
    if (nvml != nullptr && (clock.seconds() - last_reading) * 1e3 >= kTelemetryMs) {
      telemetry.push_back(nvml->read());
      last_reading = clock.seconds();
    }
    if (options.interrupted && options.interrupted()) break;
    const int n = static_cast<int>(results.front().samples_ms.size());
    if (n < options.min_samples) continue;
    const double share = clock.seconds() / static_cast<double>(kernels.size());
    if (n >= options.max_samples || share >= options.budget_s) break;
    const bool quiet = std::all_of(results.begin(), results.end(), [&](const Measurement& m) {
      return describe(m.samples_ms).noise() <= options.noise;
    });
    if (quiet && share >= options.settled_s) break;
  }
  for (Measurement& result : results) {
    result.ms = describe(result.samples_ms);
    result.telemetry = telemetry;
    result.warmup_s = warmup;
    result.copies = session.copies();
  }
  return results;
}

}  // namespace ladder
