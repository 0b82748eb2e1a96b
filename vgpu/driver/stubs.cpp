// SPDX-License-Identifier: Apache-2.0
// Every entry point of the driver API, so that any program loads, and the table of them for
// cuGetProcAddress. An entry point that nothing else defines prints that it is not implemented and
// returns CUDA_ERROR_NOT_SUPPORTED. The CUDA headers are deliberately not included, because the
// stubs have no parameters.
#include <string_view>

#include "runtime/driver_function.hpp"

namespace vgpu::runtime {
void say_unimplemented(const char* name, bool& said);  // errors.cpp
}

#define VGPU_DRIVER(symbol, name, version, per_thread)                   \
  extern "C" __attribute__((weak, visibility("default"))) int symbol() { \
    static bool said = false;                                            \
    vgpu::runtime::say_unimplemented(#symbol, said);                     \
    return 801; /* CUDA_ERROR_NOT_SUPPORTED */                           \
  }
#include "driver_names.inc"
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
#undef VGPU_DRIVER
};

}  // namespace

// Of the forms for that version or an older one, the newest; a per-thread form, if it is wanted and
// exists, before others.
DriverFunction find_driver_function(std::string_view name, int version, bool per_thread) {
  DriverFunction found;
  int found_version = 0;
  bool found_per_thread = false;
  for (const EntryPoint& entry : kEntryPoints) {
    if (entry.name != name || (entry.per_thread && !per_thread)) continue;
    found.known = true;
    if (entry.version > version) continue;
    const bool better =
        found.address == nullptr ||
        (entry.per_thread != found_per_thread ? entry.per_thread : entry.version > found_version);
    if (!better) continue;
    found.address = reinterpret_cast<void*>(entry.address);
    found_version = entry.version;
    found_per_thread = entry.per_thread;
  }
  return found;
}

}  // namespace vgpu::runtime
