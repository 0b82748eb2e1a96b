// SPDX-License-Identifier: Apache-2.0
#include "tune/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>
#include <utility>

#include "report/files.hpp"

namespace ladder::tune {
namespace {

constexpr int kTickMs = 50;  // polling interval of `stop`
constexpr int kNoProgram = 127;

struct Pipe {
  std::array<int, 2> ends{-1, -1};  // read, write
  Pipe() {
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) ends = {-1, -1};
  }
  ~Pipe() {
    for (const int end : ends) {
      if (end >= 0) (void)::close(end);
    }
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  bool ok() const { return ends[0] >= 0; }
  int take(int which) { return std::exchange(ends[static_cast<std::size_t>(which)], -1); }
};

void end_group(int) { (void)::kill(0, SIGKILL); }

// Ends this process with the program's exit status or signal.
[[noreturn]] void end_with(int status) {
  if (WIFSIGNALED(status)) {
    (void)::prctl(PR_SET_DUMPABLE, 0);  // the program has already written a core file
    (void)std::signal(WTERMSIG(status), SIG_DFL);
    (void)::raise(WTERMSIG(status));
  }
  ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : kNoProgram);
}

// The first process of the group. It starts the program, waits for it, and kills the whole group
// when `parent` dies (the system reports that only to direct children). After fork it makes only
// async-signal-safe calls, since other threads may hold any lock.
[[noreturn]] void guard(char* const* arguments, int in, int out, bool errors_too, pid_t parent) {
  (void)::setpgid(0, 0);
  for (const int number : {SIGINT, SIGHUP, SIGPIPE}) (void)std::signal(number, SIG_DFL);
  (void)std::signal(SIGTERM, end_group);
  (void)::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(kNoProgram);
  const pid_t program = ::vfork();
  if (program == 0) {
    (void)std::signal(SIGTERM, SIG_DFL);
    if (::dup2(in, STDIN_FILENO) < 0 || ::dup2(out, STDOUT_FILENO) < 0) ::_exit(kNoProgram);
    if (errors_too && ::dup2(out, STDERR_FILENO) < 0) ::_exit(kNoProgram);
    (void)::execv(arguments[0], arguments);
    ::_exit(kNoProgram);
  }
#ifdef SYS_close_range
  // Closes the pipes here, so that they end with the program and not with this process.
  (void)::syscall(SYS_close_range, 0U, ~0U, 0U);
#endif
  int status = 0;
  while (program > 0 && ::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  end_with(program > 0 ? status : W_EXITCODE(kNoProgram, 0));
}

// Discards the group's output until it ends; then all processes of the group are gone.
void wait_for_end(int out) {
  constexpr auto kLongest = std::chrono::seconds(2);
  const Deadline deadline = Clock::now() + kLongest;
  std::array<char, 4096> block{};
  pollfd ready{out, POLLIN, 0};
  while (Clock::now() < deadline) {
    if (::poll(&ready, 1, kTickMs) <= 0) continue;
    const ssize_t bytes = ::read(out, block.data(), block.size());
    if (bytes == 0 || (bytes < 0 && errno != EINTR)) return;
  }
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Returns a path unchanged and searches for a name; "" if there is no such program.
std::string find_program(const std::string& name, const std::vector<std::string>& folders) {
  if (name.find('/') != std::string::npos) return name;
  for (const std::string& folder : folders) {
    const std::filesystem::path program = std::filesystem::path(folder) / name;
    std::error_code error;
    if (std::filesystem::is_regular_file(program, error) && ::access(program.c_str(), X_OK) == 0)
      return program.string();
  }
  return "";
}

}  // namespace

Deadline in_seconds(double seconds, Deadline from) {
  return from + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

std::vector<std::string> search_path() {
  std::vector<std::string> folders;
  std::istringstream all(environment("PATH"));
  for (std::string folder; std::getline(all, folder, ':');) {
    if (folder.starts_with('/')) folders.push_back(folder);
  }
  if (folders.empty()) folders = {"/usr/local/bin", "/usr/bin", "/bin"};
  return folders;
}

std::string find_tool(const char* variable, const std::string& name) {
  std::vector<std::string> folders = search_path();
  if (const std::string home = environment("CUDA_HOME"); home.starts_with('/'))
    folders.push_back(home + "/bin");
  folders.emplace_back("/usr/local/cuda/bin");
  const std::string chosen = environment(variable);
  const std::string program = find_program(chosen.empty() ? name : chosen, folders);
  if (program.empty() || ::access(program.c_str(), X_OK) != 0) return "";
  return std::filesystem::absolute(program).string();
}

Result<Child> Child::start(const std::vector<std::string>& command, bool errors_too) {
  Pipe to;
  Pipe from;
  if (!to.ok() || !from.ok())
    return Status(Code::kIo, fmt::format("no pipe: {}", std::strerror(errno)));
  std::vector<std::string> copy = command;
  copy.front() = find_program(command.front(), search_path());
  if (copy.front().empty())
    return Status(Code::kIo, fmt::format("{}: not found in PATH", command.front()));
  std::vector<char*> arguments;
  arguments.reserve(copy.size() + 1);
  for (std::string& argument : copy) arguments.push_back(argument.data());
  arguments.push_back(nullptr);
  const pid_t parent = ::getpid();
  Child child;
  child.pid_ = ::fork();
  if (child.pid_ < 0) return Status(Code::kIo, fmt::format("no process: {}", std::strerror(errno)));
  if (child.pid_ == 0) guard(arguments.data(), to.ends[0], from.ends[1], errors_too, parent);
  (void)::setpgid(child.pid_, child.pid_);  // parent and child both call this, whichever runs first
  child.in_ = to.take(1);
  child.out_ = from.take(0);
  return child;
}

Child::Child(Child&& other) noexcept { *this = std::move(other); }

Child& Child::operator=(Child&& other) noexcept {
  if (this == &other) return *this;
  release();
  pid_ = std::exchange(other.pid_, -1);
  in_ = std::exchange(other.in_, -1);
  out_ = std::exchange(other.out_, -1);
  pending_ = std::move(other.pending_);
  return *this;
}

Child::~Child() { release(); }

void Child::release() noexcept {
  if (pid_ > 0) {
    (void)::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    if (out_ >= 0) wait_for_end(out_);
  }
  for (int* end : {&in_, &out_}) {
    if (*end >= 0) (void)::close(std::exchange(*end, -1));
  }
}

bool Child::write(const std::string& text) {
  // SIGPIPE from a dead child must not end the parent.
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  (void)::sigaction(SIGPIPE, &ignore, &before);
  const bool done = write_all(in_, text);
  (void)::sigaction(SIGPIPE, &before, nullptr);
  return done;
}

Child::Read Child::read_line(std::string& line, Deadline deadline, const Stop& stop) {
  while (true) {
    if (const auto end = pending_.find('\n'); end != std::string::npos) {
      line = pending_.substr(0, end);
      pending_.erase(0, end + 1);
      return Read::kLine;
    }
    if (stop && stop()) return Read::kStopped;
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return Read::kTime;
    pollfd ready{out_, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(std::min<long long>(left, kTickMs))) <= 0) continue;
    std::array<char, 4096> block{};
    const ssize_t bytes = ::read(out_, block.data(), block.size());
    if (bytes < 0 && errno == EINTR) continue;
    if (bytes <= 0) {
      line = std::exchange(pending_, "");
      return Read::kEnd;
    }
    pending_.append(block.data(), static_cast<std::size_t>(bytes));
  }
}

Child::End Child::wait() {
  End end;
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  (void)::kill(-pid_, SIGKILL);  // remaining processes of the group
  pid_ = -1;
  if (WIFSIGNALED(status)) {
    end.text = fmt::format("signal {} ({})", WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  } else {
    end.status = WEXITSTATUS(status);
    end.text = fmt::format("exit status {}", end.status);
  }
  return end;
}

void Child::kill() { release(); }

Result<Finished> run(const std::vector<std::string>& command, Deadline deadline, const Stop& stop,
                     const LineSink& sink) {
  auto child = Child::start(command, !sink);
  if (!child) return child.status();
  Finished finished;
  std::string line;
  while (true) {
    const Child::Read read = child.value().read_line(line, deadline, stop);
    if (read == Child::Read::kLine) {
      if (sink)
        sink(line);
      else
        finished.output += line + "\n";
      continue;
    }
    finished.output += read == Child::Read::kEnd ? line : "";
    finished.ended = read == Child::Read::kEnd;
    finished.timed_out = read == Child::Read::kTime;
    break;
  }
  if (!finished.ended) {
    child.value().kill();
    return finished;
  }
  finished.end = child.value().wait();
  if (!sink && finished.end.status == kNoProgram && finished.output.empty())
    return Status(Code::kIo, fmt::format("{}: cannot be run", command.front()));
  return finished;
}

}  // namespace ladder::tune
