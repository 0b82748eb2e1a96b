// SPDX-License-Identifier: Apache-2.0
// The counters file of a running process. While the process runs, the launches are written to
// FILE.part (FILE.PID.part if `vgpu` did not start the program), which is complete JSON after every
// launch. When the process ends, the part file is flushed to disk and renamed to FILE. If the
// process is killed, the program `vgpu` renames it (app/counters.cpp).
//
// Each file has one writer. The first process of a program that launches a kernel writes FILE.
// Every other process, including children created by fork or exec, writes FILE.PID. If the name
// contains %p, it is replaced by the process id, and every process writes its own file.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

namespace vgpu {

// Returns "", or the reason why a file of that name cannot be created or replaced.
std::string check_counters_file(const std::string& name);

class CountersFile {
 public:
  // `claims` is the folder, created by the program `vgpu`, in which the processes of a program
  // record the file names that they have claimed; "" if there is none. `head` and `tail` are the
  // JSON text before and after the launches.
  CountersFile(std::string name, std::string claims, std::string head, std::string tail);
  ~CountersFile();
  CountersFile(const CountersFile&) = delete;
  CountersFile& operator=(const CountersFile&) = delete;

  struct Said {
    std::string note, error;  // messages for the user; usually both are ""
  };
  Said add(std::string_view launch);
  // Renames FILE.part to FILE; called when the process ends. A process that launched nothing writes
  // a file without launches, unless it is a forked child or another process has claimed the name.
  Said close();

 private:
  Said open();
  bool claim(const std::string& suffix);
  std::string append(std::string_view text);
  std::string fail(const std::string& what, int error);

  std::string pattern_, claims_, head_, tail_;
  pid_t made_by_;
  pid_t opened_by_ = 0;
  std::string path_, part_, claim_;
  int file_ = -1;
  off_t end_ = 0;  // offset of the end of the last launch, where the tail begins
  bool empty_ = true, failed_ = false, placed_ = false;
};

}  // namespace vgpu
