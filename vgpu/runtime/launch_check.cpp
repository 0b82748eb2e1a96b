// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.hpp"

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "runtime/occupancy.hpp"

namespace vgpu::runtime {
namespace {

constexpr Dim3 kLargestGrid{2147483647, 65535, 65535}, kLargestBlock{1024, 1024, 64};

std::string shown(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

bool within(const Dim3& d, const Dim3& largest) {
  return d.x >= 1 && d.y >= 1 && d.z >= 1 && d.x <= largest.x && d.y <= largest.y &&
         d.z <= largest.z;
}

// The same message is printed once in a row.
[[noreturn]] void refuse_launch(Function& function, cudaError_t code, std::string_view why) {
  std::string message = fmt::format("{}: {}", function.shown, why);
  if (message == function.refused)
    message.clear();
  else
    function.refused = message;
  refuse(code, message);
}

void check_sizes(Function& function, const Request& request) {
  const auto check = [&](const char* what, const char* of, const Dim3& size, const Dim3& largest) {
    if (within(size, largest)) return;
    refuse_launch(function, cudaErrorInvalidValue,
                  fmt::format("a {} of {} {}: 1x1x1 to {} are allowed", what, shown(size), of,
                              shown(largest)));
  };
  check("grid", "blocks", extent(request.grid), kLargestGrid);
  check("block", "threads", extent(request.block), kLargestBlock);
}

void check_threads(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                   std::uint64_t threads) {
  const auto check = [&](std::uint64_t most, cudaError_t code, std::string_view by) {
    if (threads <= most) return;
    refuse_launch(function, code,
                  fmt::format("a block of {} threads: {} allows {}", threads, by, most));
  };
  check(kMostThreads, cudaErrorInvalidValue, "the device");
  if (attributes.max_threads != 0)
    check(attributes.max_threads, cudaErrorInvalidValue, "the kernel's __launch_bounds__");
  check(static_cast<std::uint64_t>(thread_limit(runtime, function)), cudaErrorLaunchOutOfResources,
        "the number of its registers");
}

// Checks the cluster size against the kernel's own, the device, the allowed maximum and the grid.
void check_cluster(const Device& device, Function& function, const KernelAttributes& attributes,
                   const Request& request) {
  const Dim3 cluster = cluster_of(attributes, request), grid = extent(request.grid);
  const std::uint64_t blocks = cluster.count();
  const auto fail = [&](std::string_view why, cudaError_t code = cudaErrorInvalidClusterSize) {
    refuse_launch(function, code, fmt::format("clusters of {} blocks: {}", shown(cluster), why));
  };
  if (request.cluster.x != 0 && attributes.cluster.count() != 0 &&
      !(attributes.cluster == cluster)) {
    fail("the kernel was compiled for others");
  }
  if (blocks == 1) return;
  if (device.target() < 90) fail("they came with compute capability 9.0", cudaErrorNotSupported);
  if (blocks > most_cluster_blocks(function))
    fail("at most 8 are allowed, or 16 with cudaFuncAttributeNonPortableClusterSizeAllowed");
  if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
    fail("the grid is no multiple of that");
}

void check_shared(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                  std::size_t dynamic) {
  const std::size_t allowed = dynamic_shared_limit(runtime, function);
  const std::size_t most = runtime.device().shared_per_block_optin;
  if (dynamic <= allowed) return;
  refuse_launch(
      function, cudaErrorInvalidValue,
      fmt::format("{} bytes of dynamic shared memory; {} are allowed{}", dynamic, allowed,
                  dynamic + attributes.static_shared_bytes > most
                      ? fmt::format(", and with {} static bytes no more than {} can be",
                                    attributes.static_shared_bytes, most)
                      : ", until cudaFuncAttributeMaxDynamicSharedMemorySize allows more"));
}

void check_cooperative(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                       const Request& request) {
  const Device& device = runtime.device();
  const std::uint64_t blocks = extent(request.grid).count();
  const int each = blocks_per_multiprocessor(
      device, known_registers(runtime, function), static_cast<int>(extent(request.block).count()),
      attributes.static_shared_bytes + request.dynamic_shared);
  const std::uint64_t most = static_cast<std::uint64_t>(each) * device.multiprocessors;
  if (blocks <= most) return;
  refuse_launch(
      function, cudaErrorCooperativeLaunchTooLarge,
      fmt::format("a cooperative grid of {} blocks: {} fit on the device at a time, {} on each "
                  "multiprocessor",
                  blocks, most, each));
}

}  // namespace

Dim3 cluster_of(const KernelAttributes& attributes, const Request& request) {
  if (request.cluster.x != 0) return extent(request.cluster);
  return attributes.cluster.count() != 0 ? attributes.cluster : Dim3{};
}

void require_launchable(Runtime& runtime, Function& function, const KernelAttributes& attributes,
                        const Request& request) {
  check_sizes(function, request);
  check_threads(runtime, function, attributes, extent(request.block).count());
  check_cluster(runtime.device(), function, attributes, request);
  check_shared(runtime, function, attributes, request.dynamic_shared);
  if (request.cooperative) check_cooperative(runtime, function, attributes, request);
}

}  // namespace vgpu::runtime
