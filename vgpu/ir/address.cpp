// SPDX-License-Identifier: Apache-2.0
#include "ir/address.hpp"

namespace vgpu::ir {

const Windows& windows() {
  // The first address that a process cannot use: x86-64 gives it 47 bits.
  constexpr u64 kFirst = u64{1} << 47;
  static constexpr Windows kWindows{kFirst, kFirst + kWindowBytes, kFirst + 2 * kWindowBytes,
                                    kFirst + 3 * kWindowBytes};
  return kWindows;
}

}  // namespace vgpu::ir
