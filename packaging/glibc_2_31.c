// SPDX-License-Identifier: Apache-2.0
// What a later glibc has and objects compiled against it use, for programs that are linked against glibc 2.31.
#include <sys/random.h>

// Since 2.32. Never 1: then atomic operations stay atomic.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Since 2.36; libstdc++'s std::random_device uses it.
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
  unsigned value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) continue;
  return value;
}
