// SPDX-License-Identifier: Apache-2.0
// The work that the program has submitted and that has not ended, and the threads that execute it.
// Tasks execute one at a time in the order of their submission, which every dependency allows.
// Results, counters and messages therefore do not depend on timing. A kernel that only polls memory
// lets those tasks execute meanwhile that do not depend on it.
#pragma once
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

namespace vgpu::runtime {

struct Task {
  using Clock = std::chrono::steady_clock;

  std::function<void()> run;  // begins and ends with the lock held, and may release it meanwhile
  std::vector<std::shared_ptr<Task>> after;  // tasks that must end before
  std::uint64_t number = 0;                  // in the order of submission, from 1
  int device = 0;
  bool running = false, done = false;
  bool awaited = false;  // a thread waits for its end
  Clock::time_point end;
};
using Ticket = std::shared_ptr<Task>;

// Ends a kernel whose results nobody will see.
struct Abandoned : std::exception {
  const char* what() const noexcept override { return "abandoned"; }
};

// Releases a lock that the thread holds, until the end of the scope.
class Unlocked {
 public:
  explicit Unlocked(std::mutex& mutex) : mutex_(mutex) { mutex_.unlock(); }
  ~Unlocked() { mutex_.lock(); }
  Unlocked(const Unlocked&) = delete;
  Unlocked& operator=(const Unlocked&) = delete;

 private:
  std::mutex& mutex_;
};

// All functions are called with the lock held.
class WorkQueue {
 public:
  // A thread that has added a task while more than these were queued waits until there are few.
  static constexpr std::size_t kMostPending = 1024, kFewPending = 512;

  explicit WorkQueue(std::mutex& mutex) : mutex_(mutex) {}

  Ticket add(std::function<void()> run, std::vector<Ticket> after, int device);
  // The task that the calling thread executes; null if none.
  static const Task* current();

  const std::deque<Ticket>& pending() const { return pending_; }
  std::uint64_t last_number() const { return last_number_; }

  // These release the lock while they wait.
  void wait(const std::vector<Ticket>& tasks);
  // Waits for a task whose results the program can see without a call: until it has ended, a kernel
  // only polls memory, or a second has passed.
  void wait_briefly(const Ticket& task);
  void wait_for_room();  // does nothing in a thread that has added none since the last call
  // Executes what is pending and accepts nothing more: the process ends. Kernels that wait for the
  // host are abandoned.
  void close();
  void drop_queued();  // ends the tasks that have not begun

  // Where the memory that a kernel polls can be written from.
  enum class Writer {
    kDevice,   // kernels and copies
    kHost,     // also the threads of this process
    kAnybody,  // also other processes
  };
  // Called by a kernel that only polls memory. Lets other tasks execute, or waits a little for the
  // host. Returns false if nobody will write the memory. `still`: nothing has changed since the
  // last call. Throws Abandoned.
  bool let_others_run(Writer writer, bool still);

  // In the child of a fork. Returns false if the parent had unfinished work, which the child lacks.
  bool after_fork();

 private:
  Ticket runnable() const;
  void execute(const Ticket& task);
  void work();
  void need_worker();
  void wait_until(const std::function<bool()>& condition);
  bool hopeless(Writer writer) const;
  // Whether every kernel that polls memory has looked at it since anything changed.
  bool every_kernel_looked() const { return fruitless_ > 2 * polling_.size() + 1; }

  std::mutex& mutex_;
  std::condition_variable ready_;    // for workers: a task is runnable, or a kernel may go on
  std::condition_variable changed_;  // for all others: a task has ended or was added
  std::deque<Ticket> pending_;       // queued and running tasks
  std::deque<const Task*> polling_;  // kernels that let others run
  std::uint64_t last_number_ = 0;
  unsigned workers_ = 0;
  // What threads of the program wait for, one each.
  std::vector<const std::function<bool()>*> waits_;
  unsigned fruitless_ = 0;  // calls of let_others_run() since anything changed
  Task::Clock::time_point fruitless_since_;
  bool awaits_room_ = false;
  bool polled_ = false;  // since wait_briefly() was called
  bool busy_ = false;    // a thread executes a task and does not let others run
  bool closing_ = false, closed_ = false;
};

}  // namespace vgpu::runtime
