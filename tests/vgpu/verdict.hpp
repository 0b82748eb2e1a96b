// SPDX-License-Identifier: Apache-2.0
// What all test programs share: where they run, and what follows from a wrong result.
#pragma once
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>

// Tests assert what CUDA documents, on every machine; what is a choice of the virtual GPU (that its
// checker answers, or that it is stricter than a driver must be) only there.
inline bool on_virtual_gpu() { return dlsym(RTLD_DEFAULT, "vgpuDeviceName") != nullptr; }

constexpr int kSkipped = 77;  // the exit status

// Of programs that only make sense on the virtual GPU.
inline void skip_on_hardware() {
  if (!on_virtual_gpu()) std::exit(kSkipped);
}

// With TESTS_GO_ON in the environment one run shows everything that is wrong
// (bench/h200/vgpu_tests.py).
inline bool tests_go_on() { return std::getenv("TESTS_GO_ON") != nullptr; }

inline bool any_wrong = false;

// Ends the program with status 1: at once, or when it ends if tests go on.
inline void wrong_result() {
  if (!tests_go_on()) std::exit(1);
  any_wrong = true;
  [[maybe_unused]] static const int at_end = std::atexit([] {
    if (!any_wrong) return;
    std::fflush(nullptr);
    std::_Exit(1);
  });
}

// The last check that began or passed: its line, and its call where that is known.
struct Place {
  int line = 0;
  const char* call = "";
};
inline thread_local Place place;

inline void require(bool condition, const char* what = "a condition", int line = __builtin_LINE()) {
  place = {line};
  if (condition) return;
  std::fprintf(stderr, "wrong: %s (line %d)\n", what, line);
  wrong_result();
}

// If tests go on, the place is printed when a signal ends the program.
inline const bool tells_place = [] {
  const auto tell = [](int number) {
    char text[300];
    const int length = std::snprintf(text, sizeof text, "signal %d after line %d %.200s\n", number,
                                     place.line, place.call);
    [[maybe_unused]] const auto written = write(STDERR_FILENO, text, static_cast<size_t>(length));
    std::signal(number, SIG_DFL);
    std::raise(number);
  };
  if (tests_go_on())
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGABRT, SIGTERM}) std::signal(number, tell);
  return true;
}();

// A part of a test, which needs nothing of the parts before it. If tests go on, a process of its
// own runs it, so that its crash hides no other part; no part but those may use the device then.
template <class Part>
void run_part(const char* name, Part part) {
  if (!tests_go_on()) return part();
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    any_wrong = false;
    part();
    std::exit(0);
  }
  int status = 1;
  if (waitpid(child, &status, 0) == child && status == 0) return;
  std::fprintf(stderr, "wrong: the part '%s'\n", name);
  wrong_result();
}
