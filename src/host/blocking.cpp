// SPDX-License-Identifier: Apache-2.0
#include "host/blocking.hpp"

#include <unistd.h>

namespace ladder::host {

CacheSizes cache_sizes() {
  CacheSizes out;
#ifdef _SC_LEVEL1_DCACHE_SIZE
  const auto read = [](int name, std::int64_t& size) {
    const long bytes = sysconf(name);
    if (bytes > 0) size = bytes;
  };
  read(_SC_LEVEL1_DCACHE_SIZE, out.l1);
  read(_SC_LEVEL2_CACHE_SIZE, out.l2);
  read(_SC_LEVEL3_CACHE_SIZE, out.l3);
#endif
  return out;
}

Blocks blocks() {
  static const Blocks blocks = blocks_for(cache_sizes(), micro_kernel().rows, micro_kernel().cols());
  return blocks;
}

Packing packing_for(const Problem& p, const MicroKernel& kernel) {
  constexpr std::int64_t kReadsOfA = 4, kReadsOfB = 8;
  Packing out;
  const bool whole_vectors = p.n % kernel.lanes == 0 || kernel.partial_loads;
  out.b = p.op_b == Op::kTranspose || p.m > kReadsOfB * kernel.rows || !whole_vectors;
  out.a = p.n > kReadsOfA * kernel.cols();
  return out;
}

}  // namespace ladder::host
