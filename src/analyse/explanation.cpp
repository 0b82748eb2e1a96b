// SPDX-License-Identifier: Apache-2.0
#include "analyse/explanation.hpp"

namespace ladder::analyse {

Result<Explanation> explain(const KernelInfo& kernel, const Problem& problem, const Machine& machine,
                            const Device& device, const ExplainOptions& options) {
  Explanation e;
  e.id = kernel.id;
  e.idea = kernel.idea;
  e.machine = machine;
  e.problem = problem;
  e.problem.in = kernel.in;
  e.problem.out = kernel.out;
  e.work = work_of(e.problem);
  e.bounds = bounds_of(e.work, machine);
  auto seen = observe(kernel, device, problem.beta);
  if (!seen) return seen.status();
  e.subject.seen = std::move(seen).value();
  e.subject.tile = tile_of(kernel.rung, e.subject.seen.kernel);

  const double blocks = blocks_for(e.subject, e.problem);
  for (const auto& [metric, scale] : e.subject.seen.scales) {
    if (!metric.ends_with(".sum") || !scale.exact) continue;
    const double value = scaled(e.subject.seen, metric, blocks, static_cast<double>(problem.k));
    if (value != 0) e.counters.push_back({metric, value, std::nullopt, std::nullopt, scale.certain});
  }
  auto code = find_code(options.code_file, e.subject.seen.kernel, device.cc);
  if (!code) {
    e.no_prediction = code.status().message();
    return e;
  }
  e.subject.code = decode(code.value().bytes);
  const auto loop = hot_loop(e.subject.code);
  if (!loop) {
    e.no_prediction = loop.status().message();
    return e;
  }
  e.subject.loop = loop.value();
  auto prediction = predict(e.subject, e.problem, machine);
  if (prediction) {
    e.prediction = std::move(prediction).value();
  } else {
    e.no_prediction = prediction.status().message();
  }
  return e;
}

}  // namespace ladder::analyse
