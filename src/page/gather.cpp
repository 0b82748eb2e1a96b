// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <algorithm>

#include "page/page.hpp"

namespace ladder::page {
namespace {

void explain_rows(Contents& c, const analyse::Machine& machine, const Device& virtual_gpu) {
  for (const Pick& pick : c.rows) {
    const Row& row = *pick.row;
    if (row.place != Place::kCuda || row.role == Role::kBaseline) continue;
    const auto all = kernels();
    const auto found = std::ranges::find(all, row.kernel, &KernelInfo::id);
    if (found == all.end()) {
      c.unexplained.push_back(row.kernel + ": not a kernel of this build");
      continue;
    }
    auto explained = analyse::explain(*found, row.problem, machine, virtual_gpu, {});
    if (!explained) {
      c.unexplained.push_back(row.kernel + ": " + explained.status().message());
      continue;
    }
    analyse::Explanation e = std::move(explained).value();
    if (pick.derived.tflops)
      e.measured = analyse::Measured{row.timing->ms.median, *pick.derived.tflops, row.device.name,
                                     pick.derived.sm_clock_mhz};
    c.explained.push_back(std::move(e));
  }
}

// If nothing was timed, the bars show the model's predictions and are labelled as such.
std::vector<Bar> predicted_bars(const Contents& c) {
  std::vector<Bar> bars;
  for (const analyse::Explanation& e : c.explained) {
    if (e.prediction)
      bars.push_back({e.id, e.idea, e.prediction->tflops, false, true, std::nullopt});
  }
  return bars;
}

std::vector<BlockLimit> limits_of(const Contents& c) {
  std::vector<BlockLimit> limits;
  for (const analyse::Explanation& e : c.explained) {
    const analyse::Observation& seen = e.subject.seen;
    if (seen.registers == 0) continue;
    const analyse::Occupancy o =
        analyse::occupancy_of({seen.threads, seen.registers, seen.shared_bytes}, e.machine);
    for (const auto& [name, blocks] : {std::pair{"threads", o.by_threads},
                                       {"registers", o.by_registers},
                                       {"shared memory", o.by_shared},
                                       {"blocks", o.by_blocks}})
      limits.push_back({e.id, name, std::min(blocks, o.by_blocks), blocks == o.blocks});
  }
  return limits;
}

std::vector<RooflinePoint> points_of(const Contents& c) {
  std::vector<RooflinePoint> points;
  for (const analyse::Explanation& e : c.explained) {
    if (!e.prediction) continue;
    const double l2_ms = e.prediction->pipe_ms("L2") + e.prediction->pipe_ms("copies from L2");
    const double l2_bytes =
        l2_ms * 1e-3 * e.machine.l2_bytes_per_cycle * e.machine.sm_count * e.machine.clock_hz;
    const double memory_bytes = e.prediction->pipe_ms("device memory") * 1e-3 * e.machine.bandwidth;
    if (!(l2_bytes > 0) || !(memory_bytes > 0)) continue;
    points.push_back({e.id, e.measured ? e.measured->tflops : e.prediction->tflops, !e.measured,
                      flops(e.problem) / l2_bytes, flops(e.problem) / memory_bytes});
  }
  return points;
}

// The roofs of the explained rungs: the peak of CUDA cores and, if such rungs exist, of tensor
// cores; also the CUDA-core peak at the lowest clock measured for rungs on CUDA cores.
std::vector<Roof> roofs_of(const analyse::Machine& m, const Contents& c) {
  std::vector<Roof> roofs{{"FP32, nominal clock", m.peak_flops() * 1e-12, 0},
                          {"device memory", 0, m.bandwidth},
                          {"L2", 0, m.l2_bytes_per_cycle * m.sm_count * m.clock_hz}};
  double least = 0;
  for (const analyse::Explanation& e : c.explained) {
    if (!e.prediction) continue;
    if (e.peak != m.peak_flops()) {
      const bool there =
          std::ranges::any_of(roofs, [&](const Roof& r) { return r.name == e.peak_name; });
      if (!there) roofs.push_back({e.peak_name, e.peak * 1e-12, 0});
    } else if (e.measured && e.measured->clock_mhz &&
               (least == 0 || *e.measured->clock_mhz < least)) {
      least = *e.measured->clock_mhz;
    }
  }
  if (least > 0 && least * 1e6 < 0.99 * m.clock_hz)
    roofs.push_back({fmt::format("FP32 at {:.0f} MHz, the lowest clock seen", least),
                     m.peak_flops() * 1e-12 * least * 1e6 / m.clock_hz, 0});
  return roofs;
}

void add(std::vector<Chart>& charts, Result<Chart> chart) {
  if (chart) charts.push_back(std::move(chart).value());  // a chart without data is omitted
}

void add_charts(Contents& c, const std::optional<analyse::Machine>& machine) {
  const std::string device = c.rows.front().row->device.name;
  const std::vector<Precision> timed = precisions_of(c.rows);
  const auto climb = [&](std::vector<Bar> bars, Precision precision) {
    add(c.charts, climb_chart(bars, to_string(c.problem), device, precision));
    c.climbs.push_back(std::move(bars));
  };
  for (const Precision precision : timed)
    climb(measured_bars(of_precision(c.rows, precision)), precision);
  if (timed.empty()) climb(predicted_bars(c), Precision::kIeee);
  for (const Precision precision : precisions()) {
    add(c.charts, sizes_chart(c.documents, precision));
    add(c.charts, time_chart(c.documents, precision));
  }
  if (machine) {
    c.roofs = roofs_of(*machine, c);
    c.points = points_of(c);
    add(c.charts, roofline_chart(c.roofs, c.points, machine->name));
  }
  add(c.charts, accuracy_chart(c.rows));
  if (machine) add(c.charts, occupancy_chart(limits_of(c), machine->name));
  add(c.charts, samples_chart(c.rows));
}

// Whether `name` occurs in `text` as whole words: "NVIDIA L4" is not in "NVIDIA L40S".
bool has_words(const std::string& text, const std::string& name) {
  const auto at = text.find(name);
  if (at == text.npos) return false;
  const std::size_t end = at + name.size();
  return end == text.size() || text[end] == ' ';
}

}  // namespace

std::optional<analyse::Machine> machine_of(const Device& device) {
  if (!device.has_cuda) return std::nullopt;
  std::optional<analyse::Machine> best;
  for (const vgpu::Device& known : vgpu::devices()) {
    analyse::Machine machine = analyse::make_machine(known);
    const bool named = has_words(device.name, machine.name);
    if (named && (!best || machine.name.size() > best->name.size())) best = std::move(machine);
  }
  return best;
}

Result<Contents> gather(std::span<const Document> documents, std::vector<std::string> files,
                        const Device* virtual_gpu) {
  const auto problem = main_problem(documents);
  if (!problem)
    return Status(Code::kInvalidArgument,
                  "no row has a rung that was timed or counted: nothing to show");
  Contents c;
  c.documents = documents;
  c.files = std::move(files);
  c.problem = *problem;
  c.rows = rows_at(documents, *problem);
  const std::optional<analyse::Machine> machine = machine_of(c.rows.front().row->device);
  if (machine && virtual_gpu != nullptr) {
    explain_rows(c, *machine, *virtual_gpu);
  } else if (c.rows.front().row->place == Place::kCuda) {
    c.unexplained.push_back(machine ? "kernels are analysed where the virtual GPU runs"
                                    : c.rows.front().row->device.name +
                                          " is not in the database of devices");
  }
  add_charts(c, machine);
  return c;
}

}  // namespace ladder::page
