// SPDX-License-Identifier: Apache-2.0
// Launches a kernel in several processes, or exits early, according to its argument.
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstring>

#include "require.hpp"

__global__ void nothing() {}

static void launch(unsigned blocks) {
  nothing<<<blocks, 32>>>();
  require(cudaDeviceSynchronize());
}

static int wait_for(pid_t child) {
  int status = 0;
  require(waitpid(child, &status, 0) == child, "waitpid");
  return status;
}

int main(int argc, char** argv) {
  require(argc == 2, "one argument");
  const char* const how = argv[1];
  if (std::strcmp(how, "idle") == 0) return 0;
  launch(1);
  if (std::strcmp(how, "killed") == 0) {
    launch(2);
    std::raise(SIGKILL);
  }
  if (std::strcmp(how, "fork") == 0 || std::strcmp(how, "exec") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      if (std::strcmp(how, "exec") == 0) {
        execl("/proc/self/exe", "processes", "once", nullptr);
        _exit(127);
      }
      launch(7);
      launch(8);
      return 0;
    }
    launch(2);
    require(wait_for(child) == 0, "the child");
    launch(3);
  }
  if (std::strcmp(how, "again") == 0) execl("/proc/self/exe", "processes", "once", nullptr);
  return 0;
}
