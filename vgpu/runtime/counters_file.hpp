// SPDX-License-Identifier: Apache-2.0
// The counters file while its process runs: FILE.part, which is whole JSON after every launch and
// takes FILE's place, on disk, when the process ends. Where the process ends otherwise, the program
// vgpu does that (app/counters.hpp).
//
// A file has one writer. The first process of a program that launches a kernel writes FILE; others,
// children made by fork or exec as well, write FILE.PID. %p in the name is the process id: then
// every process has a file of its own.
#pragma once
#include <sys/types.h>

#include <string>
#include <string_view>

namespace vgpu {

// "" or why a file of that name cannot be made or replaced.
std::string check_counters_file(const std::string& name);

class CountersFile {
 public:
  // `claims`: the folder in which the processes of a program note the names they have taken, made
  // by the program vgpu; "": there is none. `head` and `tail` are the JSON around the launches.
  CountersFile(std::string name, std::string claims, std::string head, std::string tail);
  ~CountersFile();
  CountersFile(const CountersFile&) = delete;
  CountersFile& operator=(const CountersFile&) = delete;

  struct Said {
    std::string note, error;  // for the user; both "" mostly
  };
  Said add(std::string_view launch);
  // Nothing is to come, most likely: the file takes its place. A process that launched nothing has
  // one without launches, unless it is a child or another has the name.
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
  off_t end_ = 0;  // of the last launch; the tail follows
  bool empty_ = true, failed_ = false, placed_ = false;
};

}  // namespace vgpu
