// SPDX-License-Identifier: Apache-2.0
#include "measure/host_rig.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>
#include <thread>

namespace ladder {

bool other_threads_sleep() {
  const std::string self = std::to_string(syscall(SYS_gettid));
  std::error_code failed;
  for (std::filesystem::directory_iterator task("/proc/self/task", failed), end;
       !failed && task != end; task.increment(failed)) {
    if (task->path().filename() == self) continue;
    std::ifstream file(task->path() / "stat");
    std::string line;
    std::getline(file, line);
    // The state follows the name, which is in parentheses and may itself contain parentheses.
    const std::size_t name_end = line.rfind(')');
    if (name_end != std::string::npos && line.compare(name_end, 3, ") R") == 0) return false;
  }
  return true;
}

void wait_for_other_threads(double longest_s) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(longest_s);
  while (!other_threads_sleep() && Clock::now() < until) std::this_thread::yield();
}

}  // namespace ladder
