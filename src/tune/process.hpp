// SPDX-License-Identifier: Apache-2.0
// Child processes. Each has its own process group, so that Ctrl-C reaches only the parent; has a
// time limit; and is killed with all its descendants when the parent ends.
#pragma once
#include <ladder/status.hpp>

#include <sys/types.h>
#include <chrono>
#include <functional>
#include <string>
#include <vector>

namespace ladder::tune {

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;
Deadline in_seconds(double seconds, Deadline from = Clock::now());

// Polled while waiting; true ends the wait.
using Stop = std::function<bool()>;

// The absolute folders of PATH. Relative ones are ignored, so that a program is never taken from
// the current folder.
std::vector<std::string> search_path();

// Finds a program by name in the search path, CUDA_HOME/bin or /usr/local/cuda/bin. The environment
// variable `variable` overrides it with a path or another name. "" if not found.
std::string find_tool(const char* variable, const std::string& name);

class Child {
 public:
  // Starts `command` (a path, or a name in the search path) with pipes for its standard input and
  // output. `errors_too`: its standard error goes to the output pipe. Errors (kIo): no process can
  // be created, or no such program.
  static Result<Child> start(const std::vector<std::string>& command, bool errors_too);
  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child();  // kills the whole group if it still runs

  bool write(const std::string& text);  // false if the child no longer reads

  enum class Read { kLine, kEnd, kTime, kStopped };
  // Reads one line without its line end (kLine). At the end of the output (kEnd), `line` holds what
  // followed the last line end. At the deadline or `stop`, `line` is unchanged.
  Read read_line(std::string& line, Deadline deadline, const Stop& stop);

  // Waits if the output has ended, else kills. Text: "exit status 3", "signal 11 (Segmentation
  // fault)".
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
  std::string pending_;  // read but not yet returned
};

struct Finished {
  bool ended = false;      // ended by itself
  bool timed_out = false;  // if not ended: true for the time limit, false for `stop`
  Child::End end;
  std::string output;  // standard output and error
};
// Errors (kIo): see Child::start(). `line`: receives each line of the standard output, and the
// standard error stays this process's own.
using LineSink = std::function<void(const std::string& line)>;
Result<Finished> run(const std::vector<std::string>& command, Deadline deadline, const Stop& stop,
                     const LineSink& line = {});

}  // namespace ladder::tune
