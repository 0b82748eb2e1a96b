// SPDX-License-Identifier: Apache-2.0
// What all test programs share: where they run, and what follows from a wrong result.
#pragma once
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

// Tests assert what CUDA documents, on every machine; what is a choice of the virtual GPU (that its
// checker answers, or that it is stricter than a driver must be) only there.
inline bool on_virtual_gpu() { return dlsym(RTLD_DEFAULT, "vgpuDeviceName") != nullptr; }

// Of programs that only make sense on the virtual GPU.
inline void skip_on_hardware() {
  constexpr int kSkipped = 77;
  if (!on_virtual_gpu()) std::exit(kSkipped);
}

// Ends the program with status 1. With TESTS_GO_ON in the environment it ends so when it ends, and
// one run shows everything that is wrong (bench/h200/vgpu_tests.sh).
inline void wrong_result() {
  if (std::getenv("TESTS_GO_ON") == nullptr) std::exit(1);
  [[maybe_unused]] static const int at_end = std::atexit([] {
    std::fflush(nullptr);
    std::_Exit(1);
  });
}
