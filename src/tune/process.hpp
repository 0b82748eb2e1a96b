// SPDX-License-Identifier: Apache-2.0
// Child processes: each in a group of its own, so that Ctrl-C reaches only the parent; bound to a
// time limit; and gone, with all that they started, when the parent is.
#pragma once
#include <ladder/status.hpp>

#include <sys/types.h>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ladder::tune {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

// Asked now and then while waiting; true ends the wait.
using Stop = std::function<bool()>;

// The folders of PATH that have an absolute name: a program is never one that lies where the user
// happens to stand.
std::vector<std::string> search_path();

// The program of this name in the search path, else in CUDA_HOME/bin or /usr/local/cuda/bin;
// `variable` of the environment names another, by a path or a name. "" if there is none.
std::string find_tool(const char* variable, const std::string& name);

class Child {
 public:
  // Starts `command` (a path, or a name in the search path) with a pipe at its standard input and
  // one at its standard output; `errors_too`: its standard error goes to the same pipe. Errors
  // (kIo): no process or no such program.
  static Result<Child> start(const std::vector<std::string>& command, bool errors_too);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // kills what still runs, the whole group

  bool write(const std::string& text);  // false if the child no longer reads

  enum class Read { kLine, kEnd, kTime, kStopped };
  // One line without its end, or what was said before the output ended, time ran out or `stop` said
  // so.
  Read read_line(std::string& line, Deadline deadline, const Stop& stop);

  // Waits after the output has ended, or kills. "exit status 3", "signal 11 (Segmentation fault)".
  struct End {
    int status = -1;  // exit status; -1 after a signal
    std::string text;
  };
  End wait();
  void kill();

 private:
  Child() = default;
  void release() noexcept;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1;
  std::string pending_;  // read, not yet returned
};

struct Finished {
  bool ended = false;      // by itself
  bool timed_out = false;  // else stopped
  Child::End end;
  std::string output;  // standard output and error
};
// Errors (kIo) as Child::start's.
Result<Finished> run(const std::vector<std::string>& command, Deadline deadline, const Stop& stop);

}  // namespace ladder::tune
