// SPDX-License-Identifier: Apache-2.0
// A library with a thread-local variable as allocators and sanitizers have them.
thread_local char own_tls[100000] __attribute__((tls_model("initial-exec")));

char* own_tls_address() { return own_tls; }
