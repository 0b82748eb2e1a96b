// SPDX-License-Identifier: Apache-2.0
// Symbols of later glibc versions that compiled objects use, for programs that are linked against
// glibc 2.31.
#include <sys/random.h>

// Since glibc 2.32. Always 0, so that atomic operations stay atomic.
__attribute__((visibility("hidden"))) char __libc_single_threaded = 0;

// Since glibc 2.36; used by libstdc++'s std::random_device.
__attribute__((visibility("hidden"))) unsigned arc4random(void) {
  unsigned value = 0;
  while (getrandom(&value, sizeof value, 0) != (ssize_t)sizeof value) continue;
  return value;
}
