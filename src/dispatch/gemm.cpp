// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <ladder/gemm.hpp>
#include <ladder/registry.hpp>

#include <algorithm>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <vector>

#include "dispatch/query.hpp"

namespace ladder {
namespace {

constexpr int kHostMemory = -1;

std::string place_of(int ordinal) {
  return ordinal == kHostMemory ? "on the host" : "on CUDA device " + std::to_string(ordinal);
}

// The CUDA device whose memory this is, or kHostMemory: also where no CUDA runtime answers.
int device_of(const void* pointer) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, pointer) != cudaSuccess) {
    cudaGetLastError();  // it is not the caller's
    return kHostMemory;
  }
  const bool on_device = attributes.type == cudaMemoryTypeDevice || attributes.type == cudaMemoryTypeManaged;
  return on_device ? attributes.device : kHostMemory;
}

struct Argument {
  const char* name;
  const float* pointer;
};

// The operands that the problem touches.
std::vector<Argument> used_operands(const Problem& p, const Operands& o) {
  std::vector<Argument> used;
  if (p.m == 0 || p.n == 0) return used;
  if (reads_ab(p)) used = {{"a", o.a}, {"b", o.b}};
  used.push_back({"c", o.c});
  return used;
}

// The devices of this process do not change: each is asked once a thread.
Result<Device> queried(int ordinal) {
  static thread_local std::vector<std::optional<Device>> known;
  const auto at = static_cast<std::size_t>(ordinal);
  if (known.size() <= at) known.resize(at + 1);
  if (!known[at]) {
    auto device = query_device(ordinal);
    if (!device) return device.status();
    known[at] = std::move(device).value();
  }
  return *known[at];
}

}  // namespace

namespace {

// The rung for problems that leave others' tiles empty, by name: among rungs of its precision it is the highest, but not the
// one for most problems.
constexpr std::string_view kForFewTiles = "r21_split_k";

// Where parts of k pay, measured on an H200: C thin, or small with few products, or with sums far deeper than C is wide.
bool has_few_tiles(const Problem& p) {
  constexpr std::int64_t kThin = 64, kSmall = std::int64_t{1} << 19, kDeep = 16;
  constexpr double kFew = 2 * 0x1p28;  // operations
  if (std::min(p.m, p.n) <= kThin) return true;
  if (p.m > kSmall / p.n) return false;
  return flops(p) <= kFew || p.k >= kDeep * std::max(p.m, p.n);
}

// From where the passes, the choice and kernels that end at once cost less than tensor cores gain: a cube of 768. On an
// H200 a product of that size takes CUDA cores 35 us.
bool gains_by_words(const Problem& p) {
  constexpr double kLeast = 768.0 * 768 * 768;
  constexpr std::int64_t kTile = 192;  // fewer rows or columns: the pass over the other operand takes longer
  return std::min(p.m, p.n) >= kTile && flops(p) >= 2 * kLeast;
}

Result<const KernelInfo*> highest(const Problem& problem, Place place, Precision precision,
                                  const Device& device) {
  std::string why;
  const bool few_tiles = has_few_tiles(problem);
  for (const KernelInfo& kernel : std::views::reverse(kernels())) {
    if (kernel.role != Role::kRung || kernel.place != place || kernel.precision != precision) continue;
    if (kernel.in != problem.in || kernel.out != problem.out) continue;
    if (kernel.rung == kForFewTiles && !few_tiles) continue;
    const Status status = accepts(kernel, problem, device);
    if (status) return &kernel;
    if (why.empty())
      why = "no kernel takes " + to_string(problem) + "; " + std::string(kernel.id) + ": " + status.message();
  }
  if (why.empty()) {
    why = std::string("there is no ") + (place == Place::kHost ? "host" : "CUDA") + " kernel in " +
          to_string(precision) + " for " + to_string(problem);
  }
  return Status(Code::kUnsupportedProblem, why);
}

}  // namespace

Result<const KernelInfo*> select(const Problem& problem, Place place, Precision precision,
                                 const Device& device) {
  if (precision != Precision::kAuto) return highest(problem, place, precision, device);
  if (place == Place::kCuda && gains_by_words(problem)) {
    auto guarded = highest(problem, place, Precision::kAuto, device);
    if (guarded) return guarded;
  }
  return highest(problem, place, Precision::kIeee, device);
}

Status sgemm(const Problem& problem, const Operands& operands, Stream stream, Precision precision) {
  if (Status status = validate(problem); !status) return status;
  if (problem.in != Type::kF32 || problem.out != Type::kF32)
    return {Code::kInvalidArgument, "in, out: sgemm takes f32 operands"};
  const std::vector<Argument> used = used_operands(problem, operands);
  if (used.empty()) return Status::ok();
  for (const Argument& argument : used) {
    if (argument.pointer == nullptr)
      return {Code::kInvalidArgument, std::string(argument.name) + ": null, but the problem uses it"};
  }
  const int ordinal = device_of(operands.c);
  for (const Argument& argument : used) {
    const int other = device_of(argument.pointer);
    if (other != ordinal) {
      return {Code::kInvalidArgument,
              std::string(argument.name) + ": lies " + place_of(other) + ", but c " + place_of(ordinal)};
    }
  }
  if (ordinal == kHostMemory) {
    static const Device host = host_device();
    const auto kernel = select(problem, Place::kHost, precision, host);
    return kernel ? kernel.value()->launch(problem, operands, nullptr) : kernel.status();
  }
  int current = 0;
  if (cudaGetDevice(&current) != cudaSuccess || current != ordinal) {
    return {Code::kInvalidArgument, "c: lies " + place_of(ordinal) + ", but device " +
                                        std::to_string(current) + " is the current one"};
  }
  const auto device = queried(ordinal);
  if (!device) return device.status();
  const auto kernel = select(problem, Place::kCuda, precision, device.value());
  return kernel ? kernel.value()->launch(problem, operands, stream) : kernel.status();
}

}  // namespace ladder
