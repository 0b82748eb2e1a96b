// SPDX-License-Identifier: Apache-2.0
#include "engine/execute/address.hpp"

#include <sys/mman.h>

#include <new>

namespace vgpu::execute {

const Windows& windows() {
  static const Windows reserved = [] {
    constexpr u64 kAlignment = u64{1} << 32;
    void* at = mmap(nullptr, kAlignment + kAllWindows * kWindowBytes, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    const u64 first = (reinterpret_cast<u64>(at) + kAlignment - 1) / kAlignment * kAlignment;
    return Windows{first, first + kWindowBytes, first + 2 * kWindowBytes, first + 3 * kWindowBytes};
  }();
  return reserved;
}

}  // namespace vgpu::execute
