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

// Returns the newest form for that version or an older one. If `per_thread` is set and the function
// has per-thread forms, only these are considered.
DriverFunction find_driver_function(std::string_view name, int version, bool per_thread) {
  const auto named = [&](const EntryPoint& entry) { return entry.name == name; };
  const bool has_per_thread = std::ranges::any_of(
      kEntryPoints, [&](const EntryPoint& entry) { return named(entry) && entry.per_thread; });
  DriverFunction found;
  int found_version = 0;
  for (const EntryPoint& entry : kEntryPoints) {
    if (!named(entry) || entry.per_thread != (per_thread && has_per_thread)) continue;
    found.known = true;
    if (entry.version > version || entry.version <= found_version) continue;
    found.address = reinterpret_cast<void*>(entry.address);
    found_version = entry.version;
  }
  return found;
}

}  // namespace vgpu::runtime
