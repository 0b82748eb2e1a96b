// SPDX-License-Identifier: Apache-2.0
// The measurement of ladder bench: each kernel is verified on each shape, then timed in rounds with
// the baseline and with kernels of similar speed.
#pragma once
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common.hpp"
#include "measure/session.hpp"
#include "report/terminal.hpp"

namespace ladder::app {

struct BenchPlan {
  std::vector<const KernelInfo*> kernels;
  std::vector<Problem> problems;
  std::vector<bool> cold;  // the cache modes to measure in: cold (true) or warm
  const KernelInfo* baseline = nullptr;
  bool own_baseline =
      true;  // if `baseline` is null: use the first baseline of each kernel's precision, or none
  std::vector<Case> battery;   // in addition to the shape itself; run once per kernel
  std::size_t group_size = 8;  // kernels per round, without the baseline
  double max_launch_s = 1;     // a kernel that takes longer on a shape is skipped there
  MeasureOptions measure;      // all fields except `cold`
};

class Bench {
 public:
  // `device_lost` is called after a kernel has made the device unusable; previous rows are already
  // recorded.
  Bench(const BenchPlan& plan, const Target& target, Recorder& recorder, TablePrinter& printer,
        std::function<void()> device_lost)
      : plan_(plan),
        target_(target),
        recorder_(recorder),
        printer_(printer),
        device_lost_(std::move(device_lost)) {}

  // Skips the rows in `done`. Returns false if interrupted.
  bool run(const std::vector<Row>& done);

 private:
  struct Entry {
    const KernelInfo* kernel;
    Row row;
    double probe_ms = 0;  // 0: not to be timed
    bool waiting = true;  // no final result yet
  };

  bool run_problem(const Problem& problem, bool cold, const std::vector<Row>& done);
  void prepare(Entry& entry, Session& session);
  bool too_slow(Entry& entry);
  Verdict verdict_of(const KernelInfo& kernel, const Problem& problem);
  void time_groups(std::vector<Entry>& entries, Session& session);
  void time_group(const std::vector<Entry*>& group, Session& session);
  const KernelInfo* baseline_of(const KernelInfo& kernel) const;
  void not_timed(Entry& entry, const Status& status);

  const BenchPlan& plan_;
  const Target& target_;
  Recorder& recorder_;
  TablePrinter& printer_;
  std::function<void()> device_lost_;
  ReferenceStore store_;
  bool lost_ = false;
  std::map<std::string_view, std::vector<CaseResult>> battery_results_;
  std::map<std::string_view, Verdict> verdicts_;  // of the current problem
  struct Rate {
    double flops_per_s = 0;
    std::string shape;
  };
  std::map<std::string_view, Rate> rates_;  // the best so far
};

}  // namespace ladder::app
