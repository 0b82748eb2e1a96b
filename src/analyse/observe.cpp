// SPDX-License-Identifier: Apache-2.0
#include "analyse/observe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

#include "measure/operands.hpp"
#include "operands/virtual_gpu.hpp"

namespace ladder::analyse {
namespace {

// Problem size: multiples of every rung's tile, with a depth divisible by 8, 16, 24, 32 and 64; of
// kernels of 8-bit operands by 128, too.
constexpr std::int64_t kSide = 256, kDepth = 192, kDepthOfBytes = 2 * kDepth, kDepths = 3;
constexpr const char* kTensorProducts[] = {"sm__inst_executed_pipe_tensor_op_hmma.sum",
                                           "sm__inst_executed_pipe_tensor_op_gmma.sum"};

// Enables tracing for the launches in its scope.
class Tracing {
 public:
  Tracing() { virtual_gpu::trace(true); }
  ~Tracing() { virtual_gpu::trace(false); }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
};

std::uint64_t value_of(const CountedLaunch& launch, const std::string& metric) {
  for (const Metrics* metrics : {&launch.exact, &launch.estimates}) {
    if (const auto at = metrics->find(metric); at != metrics->end()) return at->second;
  }
  return 0;
}

// The operations of the launch's matrix instructions, of the types for which there is a metric.
std::uint64_t matrix_operations(const CountedLaunch& launch) {
  std::uint64_t operations = 0;
  for (const Metrics* metrics : {&launch.exact, &launch.estimates}) {
    for (const auto& [metric, value] : *metrics)
      operations += metric.starts_with("sm__ops_path_tensor") ? value : 0;
  }
  return operations;
}

// The launch that computes the product: the one with the most operations of tensor cores, else
// instructions of theirs (which arithmetic on halves counts for, too), else FFMAs.
const CountedLaunch& main_launch(const Counters& counters) {
  const auto work = [](const CountedLaunch& launch) {
    std::uint64_t products = 0;
    for (const char* metric : kTensorProducts) products += value_of(launch, metric);
    return std::tuple(matrix_operations(launch), products, value_of(launch, kMultiplyAdds));
  };
  return *std::ranges::max_element(counters.launches,
                                   [&](const auto& a, const auto& b) { return work(a) < work(b); });
}

double blocks_of(const CountedLaunch& launch) {
  return static_cast<double>(launch.grid[0]) * static_cast<double>(launch.grid[1]) *
         static_cast<double>(launch.grid[2]);
}

void add_scales(Observation& into, const std::array<CountedLaunch, kDepths>& launches,
                const std::array<double, kDepths>& depth, bool certain) {
  const Metrics& names = certain ? launches[2].exact : launches[2].estimates;
  for (const auto& entry : names) {
    std::array<double, kDepths> values{};
    for (std::size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<double>(value_of(launches[i], entry.first)) / into.blocks;
    Observation::Scale scale;
    scale.per_k = (values[2] - values[1]) / (depth[2] - depth[1]);
    scale.fixed = values[2] - scale.per_k * depth[2];
    scale.exact = std::abs(scale.fixed + scale.per_k * depth[0] - values[0]) <
                  1e-6 * std::max(1.0, values[0]);
    scale.certain = certain;
    into.scales[entry.first] = scale;
  }
}

struct Seen {
  Counters counters;
  std::vector<Trace> traces;
  std::vector<Matrix> matrices;
};

// Runs one traced launch.
Result<Seen> launch_once(const KernelInfo& kernel, const Problem& problem) {
  const auto images = make_images(problem, {Values::kUniform, 1}, Precision::kIeee);
  if (!images) return images.status();
  const auto set = OperandSet::make(Place::kCuda, problem, images.value());
  if (!set) return set.status();
  const Operands operands = set.value().operands();
  const Tracing tracing;
  virtual_gpu::reset_counters();
  if (Status status = kernel.launch(problem, operands, nullptr); !status)
    return virtual_gpu::fault_or(status);
  if (Status status = synchronize(); !status) return virtual_gpu::fault_or(status);
  auto counters = parse_counters(virtual_gpu::counters_json());
  if (!counters) return counters.status();
  if (counters.value().launches.empty())
    return Status(Code::kLaunchFailed, "the kernel launched nothing");
  auto traces = parse_trace(virtual_gpu::trace_json());
  if (!traces) return traces.status();
  const auto matrix = [&problem](char name, const float* at, const Extent& extent) {
    const std::int64_t bytes = bytes_of(name == 'C' ? problem.out : problem.in);
    return Matrix{name, reinterpret_cast<std::uint64_t>(at),
                  static_cast<std::uint64_t>(bytes * extent.elements()), extent.ld, bytes};
  };
  return Seen{
      std::move(counters).value(),
      std::move(traces).value(),
      {matrix('A', operands.a, extent_a(problem)), matrix('B', operands.b, extent_b(problem)),
       matrix('C', operands.c, extent_c(problem))}};
}

// Formats ascending values: "0-31", "0,8,...,120" or "3,5,9".
std::string series(const std::vector<std::int64_t>& values) {
  if (values.size() == 1) return std::to_string(values.front());
  const std::int64_t step = values[1] - values[0];
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i] - values[i - 1] != step) return fmt::format("{}", fmt::join(values, ","));
  }
  if (step == 1) return fmt::format("{}-{}", values.front(), values.back());
  if (values.size() <= 3) return fmt::format("{}", fmt::join(values, ","));
  return fmt::format("{},{},...,{}", values[0], values[1], values.back());
}

}  // namespace

std::string elements_of(const Access& access, const std::vector<Matrix>& matrices) {
  if (access.memory != Memory::kGlobal || access.mask == 0) return "";
  const std::uint64_t first =
      access.addresses[static_cast<std::size_t>(std::countr_zero(access.mask))];
  const auto matrix = std::ranges::find_if(
      matrices, [&](const Matrix& m) { return first >= m.begin && first - m.begin < m.bytes; });
  if (matrix == matrices.end()) return "";
  std::map<std::int64_t, std::uint32_t> lanes_of_row;
  std::map<std::int64_t, std::vector<std::int64_t>> columns_of_row;
  for (int lane = 0; lane < kWarp; ++lane) {
    if ((access.mask >> lane & 1) == 0) continue;
    const auto element = static_cast<std::int64_t>(
                             access.addresses[static_cast<std::size_t>(lane)] - matrix->begin) /
                         matrix->element_bytes;
    lanes_of_row[element / matrix->ld] |= 1U << lane;
    columns_of_row[element / matrix->ld].push_back(element % matrix->ld);
  }
  for (auto& [row, columns] : columns_of_row) {
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  const auto plural = [](const std::string& what, const std::string& text) {
    return what + (text.find_first_of("-,") == std::string::npos ? " " : "s ") + text;
  };
  const std::string width =
      access.bytes > matrix->element_bytes
          ? fmt::format(", {} elements each", access.bytes / matrix->element_bytes)
          : "";
  const bool alike = std::ranges::all_of(columns_of_row, [&](const auto& row) {
    return row.second == columns_of_row.begin()->second;
  });
  if (alike) {
    std::vector<std::int64_t> rows;
    rows.reserve(columns_of_row.size());
    for (const auto& row : columns_of_row) rows.push_back(row.first);
    return fmt::format("{}: {}, {}{}", matrix->name, plural("row", series(rows)),
                       plural("column", series(columns_of_row.begin()->second)), width);
  }
  std::string text = fmt::format("{}:", matrix->name);
  for (const auto& [row, columns] : columns_of_row)
    text += fmt::format(" row {} lanes {} {};", row, lanes_text(lanes_of_row[row]),
                        plural("column", series(columns)));
  return text + width;
}

namespace {

// At least `least`, and rows lie in banks, sectors and lines as with the leading dimension `ld`.
std::int64_t like_ld(std::int64_t ld, std::int64_t least) {
  constexpr std::int64_t kElements = 1024;
  return ld >= least ? ld : ld + (least - ld + kElements - 1) / kElements * kElements;
}

// The observed problem of depth `depth`, with the alignment of the rows of `like` where the kernel
// takes it. `deepest` is the depth of the largest observed problem.
Problem observed(const KernelInfo& kernel, const Problem& like, std::int64_t depth,
                 std::int64_t deepest, const Device& device) {
  const Problem tight = in_types_of(kernel, make_problem(kSide, kSide, depth, 1, like.beta));
  Problem alike = tight;
  alike.lda = like_ld(like.lda, deepest);
  alike.ldb = like_ld(like.ldb, tight.op_b == Op::kNone ? kSide : deepest);
  alike.ldc = like_ld(like.ldc, kSide);
  return kernel.accepts(alike, device) ? alike : tight;
}

}  // namespace

Result<Observation> observe(const KernelInfo& kernel, const Device& device, const Problem& like) {
  if (!device.is_virtual || kernel.place != Place::kCuda || !virtual_gpu::active())
    return Status(Code::kUnsupportedDevice, "only the virtual GPU traces, and only CUDA kernels");
  Observation seen;
  std::array<CountedLaunch, kDepths> launches;
  std::array<double, kDepths> depths{};
  const std::int64_t step = bytes_of(kernel.in) == 1 ? kDepthOfBytes : kDepth;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const std::int64_t depth = step * static_cast<std::int64_t>(i + 1);
    seen.problem = observed(kernel, like, depth, step * kDepths, device);
    if (Status status = kernel.accepts(seen.problem, device); !status) return status;
    auto once = launch_once(kernel, seen.problem);
    if (!once) return once.status();
    seen.launches = static_cast<int>(once.value().counters.launches.size());
    launches[i] = main_launch(once.value().counters);
    depths[i] = static_cast<double>(depth);
    seen.matrices = once.value().matrices;
    for (const Trace& trace : once.value().traces) {
      if (trace.kernel == launches[i].kernel) seen.trace = trace;
    }
  }
  const CountedLaunch& launch = launches.back();
  seen.kernel = launch.kernel;
  seen.engine = launch.engine;
  seen.blocks = blocks_of(launch);
  seen.block_shape = launch.block;
  seen.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]);
  seen.registers = static_cast<int>(value_of(launch, "launch__registers_per_thread"));
  seen.shared_bytes = static_cast<int>(value_of(launch, "launch__shared_mem_per_block_static") +
                                       value_of(launch, "launch__shared_mem_per_block_dynamic"));
  add_scales(seen, launches, depths, false);
  add_scales(seen, launches, depths, true);
  return seen;
}

double scaled(const Observation& observation, const std::string& metric, double blocks, double k) {
  const auto at = observation.scales.find(metric);
  if (at == observation.scales.end()) return std::numeric_limits<double>::quiet_NaN();
  return blocks * (at->second.fixed + at->second.per_k * k);
}

}  // namespace ladder::analyse
