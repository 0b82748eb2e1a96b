// SPDX-License-Identifier: Apache-2.0
#include "app/process.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

namespace vgpu::app {
namespace {

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

constexpr std::array kForwarded = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2};

volatile std::sig_atomic_t running_program = 0;

// Forwards a signal to the program, except signals from the terminal (SI_KERNEL): the program is in
// the same process group and receives those itself.
void forward(int signal, siginfo_t* info, void*) {
  if (running_program > 0 && info->si_code != SI_KERNEL) ::kill(running_program, signal);
}

sigset_t forwarded_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : kForwarded) sigaddset(&set, signal);
  return set;
}

// Handles the forwarded signals with forward() during its lifetime. They are blocked until
// release().
class Forwarding {
 public:
  Forwarding() {
    const sigset_t set = forwarded_signals();
    sigprocmask(SIG_BLOCK, &set, &former_mask_);
    for (std::size_t i = 0; i < kForwarded.size(); ++i) {
      struct sigaction action {};
      action.sa_sigaction = forward;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      sigaction(kForwarded[i], &action, &former_[i]);
    }
  }
  ~Forwarding() {
    running_program = 0;
    for (std::size_t i = 0; i < kForwarded.size(); ++i)
      sigaction(kForwarded[i], &former_[i], nullptr);
    sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
  }
  Forwarding(const Forwarding&) = delete;
  Forwarding& operator=(const Forwarding&) = delete;

  void release(pid_t program) {
    running_program = program;
    sigprocmask(SIG_SETMASK, &former_mask_, nullptr);
  }
  const sigset_t& former_mask() const { return former_mask_; }
  bool was_ignored(std::size_t i) const { return former_[i].sa_handler == SIG_IGN; }

 private:
  sigset_t former_mask_;
  std::array<struct sigaction, kForwarded.size()> former_{};
};

// Starts the program in a new process, which is killed when this process ends for any reason.
// Otherwise like posix_spawn. Throws std::system_error if the program cannot be started.
pid_t start(const std::string& path, char* const* arguments, char* const* environment,
            const sigset_t& defaults, const sigset_t& mask) {
  std::array<int, 2> ends{};  // a pipe through which the child sends the error of execve
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  const pid_t parent = ::getpid();
  const pid_t program = ::fork();
  if (program == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(128 + SIGKILL);  // the parent has already ended
    for (const int signal : kForwarded) {
      if (sigismember(&defaults, signal) == 1) ::signal(signal, SIG_DFL);
    }
    sigprocmask(SIG_SETMASK, &mask, nullptr);
    ::execve(path.c_str(), arguments, environment);
    const int error = errno;
    [[maybe_unused]] const ssize_t written = ::write(ends[1], &error, sizeof error);
    ::_exit(127);
  }
  int error = program < 0 ? errno : 0;
  ::close(ends[1]);
  if (program > 0) {
    while (::read(ends[0], &error, sizeof error) < 0 && errno == EINTR) {
    }
    if (error != 0) ::waitpid(program, nullptr, 0);
  }
  ::close(ends[0]);
  if (error != 0) throw std::system_error(error, std::generic_category(), path);
  return program;
}

int wait_for(pid_t program) {
  int status = 0;
  while (::waitpid(program, &status, 0) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "waitpid");
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

Environment current_environment() {
  Environment environment;
  for (char** entry = ::environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

void set(Environment& environment, std::string_view name, std::string_view value) {
  const std::string prefix = std::string(name) + "=";
  std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(prefix); });
  environment.push_back(prefix + std::string(value));
}

std::string get(const Environment& environment, std::string_view name) {
  const std::string prefix = std::string(name) + "=";
  for (const std::string& entry : environment) {
    if (entry.starts_with(prefix)) return entry.substr(prefix.size());
  }
  return "";
}

Found find_program(const std::string& name) {
  Found found{"", 127};
  const auto candidate = [&](const std::string& path) {
    struct stat file {};
    if (::stat(path.c_str(), &file) != 0 || S_ISDIR(file.st_mode)) return false;
    if (::access(path.c_str(), X_OK) == 0) {
      found = {path, 0};
      return true;
    }
    found.error = 126;
    return false;
  };
  if (name.find('/') != name.npos) {
    candidate(name);
    return found;
  }
  const char* variable = ::getenv("PATH");
  std::string_view path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  while (true) {
    const auto colon = path.find(':');
    const std::string folder(path.substr(0, colon));
    if (candidate((folder.empty() ? "." : folder) + "/" + name) || colon == path.npos) return found;
    path = path.substr(colon + 1);
  }
}

int run(const std::string& path, const std::vector<std::string>& arguments,
        const Environment& environment) {
  Forwarding forwarding;
  sigset_t defaults;
  sigemptyset(&defaults);
  for (std::size_t i = 0; i < kForwarded.size(); ++i) {
    if (!forwarding.was_ignored(i)) sigaddset(&defaults, kForwarded[i]);
  }
  const auto argument_list = pointers(arguments), variables = pointers(environment);
  const pid_t program =
      start(path, argument_list.data(), variables.data(), defaults, forwarding.former_mask());
  forwarding.release(program);
  return wait_for(program);
}

std::string output_of(const std::string& path, const std::vector<std::string>& arguments,
                      const Environment& environment) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::generic_category(), "pipe");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  pid_t program = 0;
  const int error = ::posix_spawn(&program, path.c_str(), &actions, nullptr,
                                  pointers(arguments).data(), pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  ::close(ends[1]);
  std::string text;
  int status = 0;
  if (error == 0) {
    std::array<char, 4096> buffer;
    for (ssize_t n; (n = ::read(ends[0], buffer.data(), buffer.size())) > 0;) {
      text.append(buffer.data(), static_cast<std::size_t>(n));
    }
    status = wait_for(program);
  }
  ::close(ends[0]);
  if (error == EMFILE || error == EAGAIN || error == ENOMEM)
    throw std::system_error(error, std::generic_category(), path);
  while (text.ends_with('\n')) text.pop_back();
  if (status != 0)
    throw std::runtime_error(text.empty() ? path + " fails (Too many open files? ulimit -n)"
                                          : text);
  return text;
}

}  // namespace vgpu::app
