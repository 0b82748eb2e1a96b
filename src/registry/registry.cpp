// SPDX-License-Identifier: Apache-2.0
// The registry. rungs.inc is generated from the lists in src/CMakeLists.txt. Each name there is a
// file whose namespace exports one symbol, its kernels.
#include <ladder/registry.hpp>

#include <algorithm>
#include <array>
#include <numeric>

#include "problem/names.hpp"

#define LADDER_RUNG(name)                         \
  namespace ladder::name {                        \
  extern const std::span<const KernelInfo> kInfo; \
  }
#include "rungs.inc"
#undef LADDER_RUNG

namespace ladder {
namespace {

std::vector<KernelInfo> collect() {
  std::vector<KernelInfo> all;
  const auto append = [&](std::span<const KernelInfo> infos) {
    all.insert(all.end(), infos.begin(), infos.end());
  };
#define LADDER_RUNG(name) append(name::kInfo);
#include "rungs.inc"
#undef LADDER_RUNG
  return all;
}

// Levenshtein distance, for "did you mean".
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row.back();
}

std::string_view first_part(std::string_view text) { return text.substr(0, text.find('_')); }

// To the id, or to its first part, which is a rung's number.
std::size_t distance_to_id(std::string_view name, std::string_view id) {
  return std::min(distance(name, id), distance(name, first_part(id)));
}

bool means(std::string_view name, const KernelInfo& info) {
  if (name == info.id || name == info.rung || name == to_string(info.place)) return true;
  if (info.role == Role::kLibrary) return name == first_part(info.id);
  return !name.empty() && info.role != Role::kLibraryKernel && first_part(info.rung) == name;
}

}  // namespace

const char* to_string(Place place) { return place == Place::kHost ? "host" : "cuda"; }
const char* to_string(Role role) {
  return name_of<Role::kBaseline>(role, {"rung", "library", "library kernel", "baseline"});
}
const char* to_string(Precision precision) {
  return name_of<Precision::kAuto>(precision, {"ieee", "tf32", "bf16", "fp16", "tf32x3", "bf16x3",
                                               "bf16x6", "bf16x9", "fp16x3", "fp8", "auto"});
}

std::span<const Precision> precisions() {
  static constexpr std::array kAll{Precision::kIeee,   Precision::kTf32,   Precision::kBf16,
                                   Precision::kFp16,   Precision::kTf32x3, Precision::kBf16x3,
                                   Precision::kBf16x6, Precision::kBf16x9, Precision::kFp16x3,
                                   Precision::kFp8,    Precision::kAuto};
  return kAll;
}

Precision stands_for(Precision precision) {
  switch (precision) {
    case Precision::kTf32:
    case Precision::kBf16:
    case Precision::kFp16:
    case Precision::kFp8: return precision;
    default: return Precision::kIeee;
  }
}

Problem in_types_of(const KernelInfo& kernel, Problem problem) {
  problem.in = kernel.in;
  problem.out = kernel.out;
  problem.scaling = kernel.scaling;
  if (kernel.k_major && problem.layout == Layout::kRowMajor && problem.op_a == Op::kNone &&
      problem.op_b == Op::kNone) {
    const std::int64_t gap = problem.ldb - extent_b(problem).used;
    problem.op_b = Op::kTranspose;
    problem.ldb = std::max<std::int64_t>(1, extent_b(problem).used + gap);
  }
  return problem;
}

Status accepts(const KernelInfo& kernel, const Problem& problem, const Device& device) {
  if (problem.in == kernel.in && problem.out == kernel.out && problem.scaling == kernel.scaling)
    return kernel.accepts(problem, device);
  const std::string scales = kernel.scaling == Scaling::kNone
                                 ? ""
                                 : std::string(" with ") + to_string(kernel.scaling) + " scales";
  return {Code::kUnsupportedProblem, std::string("takes ") + to_string(kernel.in) + " operands" +
                                         scales + " and gives " + to_string(kernel.out) + ", not " +
                                         to_string(problem)};
}

std::span<const KernelInfo> kernels() {
  static const std::vector<KernelInfo> all = collect();
  return all;
}

Result<std::vector<const KernelInfo*>> find_kernels(std::string_view name) {
  std::vector<const KernelInfo*> found;
  for (const KernelInfo& info : kernels()) {
    if (means(name, info)) found.push_back(&info);
  }
  if (!found.empty()) return found;

  std::vector<std::string_view> near;
  for (const KernelInfo& info : kernels()) near.push_back(info.id);
  std::ranges::stable_sort(
      near, [&](auto a, auto b) { return distance_to_id(name, a) < distance_to_id(name, b); });
  near.resize(std::min<std::size_t>(3, near.size()));
  std::string message = "no kernel '" + std::string(name) + "'; nearest:";
  for (const auto id : near) message += " " + std::string(id);
  return Status(Code::kInvalidArgument, message + " (ladder list shows all)");
}

const KernelInfo* baseline_of(const KernelInfo& kernel) {
  for (const KernelInfo& other : kernels()) {
    if (other.role == Role::kBaseline && other.place == kernel.place &&
        other.all_cores == kernel.all_cores && other.precision == stands_for(kernel.precision) &&
        other.in == kernel.in && other.out == kernel.out && other.scaling == kernel.scaling)
      return &other;
  }
  return nullptr;
}

}  // namespace ladder
