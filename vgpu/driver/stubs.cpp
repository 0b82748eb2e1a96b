// SPDX-License-Identifier: Apache-2.0
// Every entry point of the driver API, so that any program loads, and the table of them for
// cuGetProcAddress. An entry point that nothing else defines prints that it is not implemented and
// returns CUDA_ERROR_NOT_SUPPORTED. The CUDA headers are deliberately not included, because the
// stubs have no parameters.
#include <algorithm>
#include <string_view>

#include "runtime/driver_function.hpp"

namespace vgpu {
void say_unimplemented(const char* name, bool& said);  // errors.cpp
}

#define VGPU_DRIVER(symbol, name, version, per_thread)                   \
  extern "C" __attribute__((weak, visibility("default"))) int symbol() { \
    static bool said = false;                                            \
    vgpu::say_unimplemented(#symbol, said);                              \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */                           \
  }
#include "driver_names.inc"
#include "interop_names.inc"
#undef VGPU_DRIVER

namespace vgpu::runtime {
namespace {

struct EntryPoint {
  std::string_view name;
  int version;
  bool per_thread;
  int (*address)();
};

const EntryPoint kEntryPoints[] = {
#define VGPU_DRIVER(symbol, name, version, per_thread) {#name, version, per_thread, &symbol},
#include "driver_names.inc"
#include "interop_names.inc"
#undef VGPU_DRIVER
};

}  // namespace

// The newest form for that version or an older one. If the per-thread default stream is asked for
// and the function has per-thread forms, only these are considered.
std::optional<int> find_driver_function(const char* name, void** function, int version,
                                        unsigned long long flags) {
  constexpr unsigned long long kLegacy = 1, kPerThread = 2;
  constexpr int kFound = 0, kUnknown = 1, kNewerOnly = 2;
  if (name == nullptr || function == nullptr || flags >= (kLegacy | kPerThread))
    return std::nullopt;
  const bool per_thread = flags == kPerThread;
  const auto named = [&](const EntryPoint& entry) { return entry.name == name; };
  const bool has_per_thread = std::ranges::any_of(
      kEntryPoints, [&](const EntryPoint& entry) { return named(entry) && entry.per_thread; });
  *function = nullptr;
  int found_version = 0, result = kUnknown;
  for (const EntryPoint& entry : kEntryPoints) {
    if (!named(entry) || entry.per_thread != (per_thread && has_per_thread)) continue;
    if (result == kUnknown) result = kNewerOnly;
    if (entry.version > version || entry.version <= found_version) continue;
    *function = reinterpret_cast<void*>(entry.address);
    found_version = entry.version;
    result = kFound;
  }
  return result;
}

}  // namespace vgpu::runtime
