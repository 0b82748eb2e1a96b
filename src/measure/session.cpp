// SPDX-License-Identifier: Apache-2.0
#include "measure/session.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "measure/host_rig.hpp"
#include "measure/peak.hpp"
#include "measure/sampler.hpp"
#include "measure/turns.hpp"
#include "operands/encode.hpp"
#include "operands/input.hpp"

namespace ladder {
namespace {

// duration of a replayed sample, far above a graph's launch overhead
constexpr double kReplayMs = 0.5;
// A launch of up to this duration is timed again: one alone may have waited for the host.
constexpr double kShortMs = 20;
constexpr std::size_t kMostReplayed = 4096;  // launches per graph, and operand copies
constexpr double kL2Parts = 2;               // total size of the operand copies, in L2 cache sizes

double l2_bytes(const Device& device) {
  int bytes = 0;
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device.ordinal) == cudaSuccess
             ? bytes
             : 0;
}

double operand_bytes(const Problem& problem) {
  return static_cast<double>(bytes_of(problem.in)) *
             static_cast<double>(extent_a(problem).elements() + extent_b(problem).elements()) +
         static_cast<double>(bytes_of(problem.out)) *
             static_cast<double>(extent_c(problem).elements());
}

}  // namespace

Result<Session> Session::open(Place place, const Problem& problem, const Device& device, bool cold,
                              std::uint64_t seed) {
  if (place == Place::kCuda && device.is_virtual)
    return Status(Code::kUnsupportedDevice, "the virtual GPU has no clock worth measuring");
  Session session;
  session.place_ = place;
  session.problem_ = problem;
  session.device_ = device;
  const Input input{Values::kUniform, seed};
  if (place == Place::kCuda) {
    const auto drawing = drawing_of(problem, input, Precision::kIeee);
    if (!drawing) return drawing.status();
    const double l2 = l2_bytes(device);
    const double bytes = operand_bytes(problem);
    std::size_t copies = 1;
    if (cold)
      copies = std::clamp<std::size_t>(
          static_cast<std::size_t>(std::ceil(kL2Parts * l2 / std::max(bytes, 1.0))), 2,
          kMostReplayed);
    session.from_memory_ = l2 > 0 && static_cast<double>(copies) * bytes >= kL2Parts * l2;
    for (std::size_t i = 0; i < copies; ++i) {
      auto set = OperandSet::draw(problem, drawing.value());
      if (!set) return set.status();
      session.copies_.push_back(std::move(set).value());
    }
  } else {
    const auto images = make_images(problem, input, Precision::kIeee);
    if (!images) return images.status();
    auto set = OperandSet::make(place, problem, images.value());
    if (!set) return set.status();
    session.copies_.push_back(std::move(set).value());
  }
  auto timer = Timer::make(place);
  if (!timer) return timer.status();
  session.timer_ = std::move(timer).value();
  return session;
}

Launch Session::next_launch(const KernelInfo& kernel) {
  const Operands operands = copies_[next_++ % copies_.size()].operands();
  return [this, &kernel, operands](Stream stream) {
    return kernel.launch(problem_, operands, stream);
  };
}

Result<double> Session::probe_ms(const KernelInfo& kernel) {
  const auto times = timer_->time({next_launch(kernel), next_launch(kernel)});
  if (!times) return times.status();
  const double second = times.value().back();
  if (second > kShortMs) return second;
  const auto more = timer_->time({next_launch(kernel), next_launch(kernel), next_launch(kernel)});
  if (!more) return more.status();
  return std::min(second, *std::ranges::min_element(more.value()));
}

// Runs the session's kernels on a GPU for the sampler.
class CudaRig final : public Rig {
 public:
  CudaRig(Session& session, std::span<const KernelInfo* const> kernels,
          const MeasureOptions& options)
      : session_(session) {
    if (session.place_ == Place::kCuda) nvml_ = Nvml::open(session.device_.ordinal);
    for (const KernelInfo* kernel : kernels) entries_.push_back({kernel, {}, 1, 0});
    if (session.place_ == Place::kCuda) failed_ = prepare(options);
  }

  const Status& failed() const { return failed_; }
  int launches_per_sample(std::size_t i) const { return entries_[i].launches; }

  std::size_t kernels() const override { return entries_.size(); }

  Result<std::vector<double>> run(int rounds) override {
    const std::size_t count = entries_.size();
    std::vector<std::size_t> at;  // for each launch, the index of its time in the result
    std::vector<Launch> launches;
    for (std::size_t r = 0; r < static_cast<std::size_t>(rounds); ++r, ++round_) {
      for (std::size_t turn = 0; turn < count; ++turn) {
        const std::size_t i = kernel_in_turn(count, round_, turn);
        const Entry& entry = entries_[i];
        launches.push_back(entry.replay
                               ? entry.replay
                               : with_handicap(entry, session_.next_launch(*entry.kernel)));
        at.push_back(r * count + i);
      }
    }
    auto times = session_.timer_->time(launches);
    if (!times) return times;
    std::vector<double> by_kernel(at.size());
    for (std::size_t launch = 0; launch < at.size(); ++launch)
      by_kernel[at[launch]] = times.value()[launch] / entries_[at[launch] % count].launches;
    return by_kernel;
  }

  double seconds() override {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  }
  Telemetry read() override { return nvml_ ? nvml_->read() : Telemetry{}; }

 private:
  struct Entry {
    const KernelInfo* kernel;
    Launch replay;       // graph of several launches, if one launch is too short
    int launches;        // number of launches in `replay`
    double handicap_ms;  // spin after each launch
  };

  Launch with_handicap(const Entry& entry, Launch launch) const {
    if (!(entry.handicap_ms > 0)) return launch;
    return [launch = std::move(launch), ms = entry.handicap_ms,
            hz = session_.device_.sm_clock_hz](Stream stream) {
      if (Status status = launch(stream); !status) return status;
      return spin(ms, hz, stream);
    };
  }

  Status prepare(const MeasureOptions& options) {
    for (Entry& entry : entries_) {
      if (!(options.replay_below_ms > 0) && !(options.handicap > 0)) continue;
      const auto probe = session_.probe_ms(*entry.kernel);
      if (!probe) return probe.status();
      if (entry.kernel->role != Role::kBaseline)
        entry.handicap_ms = options.handicap * probe.value();
      if (probe.value() >= options.replay_below_ms) continue;
      // Uses every operand copy; otherwise a replay would hit the cache.
      const double fill = std::ceil(kReplayMs / std::max(probe.value(), 1e-4));
      const std::size_t many = std::min(
          kMostReplayed, std::max(static_cast<std::size_t>(fill), session_.copies_.size()));
      std::vector<Launch> launches;
      for (std::size_t i = 0; i < many; ++i)
        launches.push_back(with_handicap(entry, session_.next_launch(*entry.kernel)));
      auto replay = session_.timer_->together(std::move(launches));
      if (!replay) continue;  // kernels that cannot be captured are launched one by one
      entry.replay = std::move(replay).value();
      entry.launches = static_cast<int>(many);
    }
    return Status::ok();
  }

  Session& session_;
  std::unique_ptr<Nvml> nvml_;
  std::vector<Entry> entries_;
  std::size_t round_ = 0;  // next round, counted over all calls
  Status failed_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

Result<std::string> Session::writes(const KernelInfo& kernel) {
  const Extent c = extent_c(problem_);
  // With C = beta C and beta = 1, a kernel need not write anything.
  if (c.lines == 0 || c.used == 0 || (!reads_ab(problem_) && reads_c(problem_)))
    return std::string();
  OperandSet& set = copies_[next_++ % copies_.size()];
  // Both ends of the first, the middle and the last row or column of C.
  std::vector<std::int64_t> places;
  for (const std::int64_t line : {std::int64_t{0}, c.lines / 2, c.lines - 1}) {
    places.push_back(line * c.ld);
    places.push_back(line * c.ld + c.used - 1);
  }
  const std::vector<std::byte> poison = encode(problem_.out, std::span(&kPoisonBits, 1));
  const auto offset = [&](std::int64_t at) { return poison.size() * static_cast<std::size_t>(at); };
  for (const std::int64_t at : places) {
    if (Status s = set.c().upload(poison.data(), poison.size(), offset(at)); !s) return s;
  }
  const Operands operands = set.operands();
  const auto times =
      timer_->time({[&](Stream stream) { return kernel.launch(problem_, operands, stream); }});
  if (!times) return times.status();
  for (const std::int64_t at : places) {
    std::vector<std::byte> now(poison.size());
    if (Status s = set.c().download(now.data(), now.size(), offset(at)); !s) return s;
    if (now == poison) return std::string("C was not written while it was timed");
  }
  return std::string();
}

Result<std::vector<Measurement>> Session::sample_cuda(std::span<const KernelInfo* const> kernels,
                                                      const MeasureOptions& options) {
  CudaRig rig(*this, kernels, options);
  if (!rig.failed()) return rig.failed();
  auto results = sample(rig, options);
  for (std::size_t i = 0; results && i < kernels.size(); ++i)
    results.value()[i].launches_per_sample = rig.launches_per_sample(i);
  return results;
}

Result<std::vector<Measurement>> Session::sample_host(std::span<const KernelInfo* const> kernels,
                                                      const MeasureOptions& options) {
  std::vector<HostRig::Kernel> launches;
  constexpr std::int64_t kCorner = 128;
  Problem corner = problem_;
  corner.m = std::min(corner.m, kCorner);
  corner.n = std::min(corner.n, kCorner);
  corner.k = std::min(corner.k, kCorner);
  for (const KernelInfo* kernel : kernels) {
    HostRig::Kernel one{next_launch(*kernel), {}};
    if (kernel->role != Role::kBaseline && !kernel->all_cores) {
      one.corner = [kernel, corner, operands = copies_.front().operands()](Stream stream) {
        return kernel->launch(corner, operands, stream);
      };
    }
    launches.push_back(std::move(one));
  }
  HostRig rig(std::move(launches), *timer_);
  auto results = sample(rig, options);
  for (std::size_t i = 0; results && i < kernels.size(); ++i)
    results.value()[i].telemetry = summarize(rig.telemetry(i));
  return results;
}

Result<std::vector<Measurement>> Session::measure(std::span<const KernelInfo* const> kernels,
                                                  const MeasureOptions& options) {
  if (kernels.empty()) return std::vector<Measurement>();
  auto results =
      place_ == Place::kCuda ? sample_cuda(kernels, options) : sample_host(kernels, options);
  if (!results) return results;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    Measurement& one = results.value()[i];
    one.copies = static_cast<int>(copies_.size());
    const double floor = place_ == Place::kCuda
                             ? floor_ms(problem_, kernels[i]->precision, device_, from_memory_)
                             : 0;
    if (std::string alarm = below_floor(one.ms.median, floor); !alarm.empty())
      one.alarms.push_back(std::move(alarm));
    auto alarm = writes(*kernels[i]);
    if (!alarm) return alarm.status();
    if (!alarm.value().empty()) one.alarms.push_back(std::move(alarm).value());
  }
  return results;
}

Result<std::vector<Measurement>> measure(std::span<const KernelInfo* const> kernels,
                                         const Problem& problem, const Device& device,
                                         const MeasureOptions& options) {
  if (kernels.empty()) return std::vector<Measurement>();
  const KernelInfo& first = *kernels.front();
  auto session =
      Session::open(first.place, in_types_of(first, problem), device, options.cold, options.seed);
  if (!session) return session.status();
  return session.value().measure(kernels, options);
}

}  // namespace ladder
