// SPDX-License-Identifier: Apache-2.0
// What ThreadSanitizer should not report: races of the kernels under test. Several host threads
// execute a kernel's plain accesses to global memory as plain accesses.

extern "C" const char* __tsan_default_suppressions();  // NOLINT(bugprone-reserved-identifier)
const char* __tsan_default_suppressions() {            // NOLINT(bugprone-reserved-identifier)
  return "race:move_lanes\n";
}
