// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace vgpu::runtime {
namespace {

// Pinned host memory lives among the device's allocations, so that kernels can reach it, but does not count
// as the device's: room for it is added.
constexpr std::size_t kHostRoom = std::size_t{64} << 30;

const char* environment(const char* name) { return std::getenv(name); }

}  // namespace

Runtime& Runtime::get() {
  static Runtime* const runtime = new Runtime;
  return *runtime;
}

Runtime::Runtime() : settings(settings_from(environment)), memory(settings.device->memory_bytes + kHostRoom) {
  if (settings.error.empty()) settings.error = log.open(settings.device->id, settings.counters_file);
  if (!settings.error.empty()) say(settings.error);
}

void say(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines += fmt::format("vgpu: {}\n", text.substr(0, end));
    text = end == text.npos ? "" : text.substr(end + 1);
  }
  std::fflush(stdout);
  std::fwrite(lines.data(), 1, lines.size(), stderr);
}

cudaError_t& last_error() {
  thread_local cudaError_t error = cudaSuccess;
  return error;
}

cudaError_t finish(cudaError_t code) {
  if (code != cudaSuccess && code != cudaErrorNotReady) last_error() = code;
  return code;
}

cudaError_t finish(const Failure& failure) {
  if (!failure.message.empty()) say(failure.message);
  return finish(failure.code);
}

}  // namespace vgpu::runtime
