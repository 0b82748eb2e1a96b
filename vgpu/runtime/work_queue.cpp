// SPDX-License-Identifier: Apache-2.0
#include "runtime/work_queue.hpp"

#include <pthread.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <new>
#include <system_error>
#include <thread>
#include <utility>

namespace vgpu::runtime {
namespace {

using namespace std::chrono_literals;

// How long a kernel that polls memory sleeps between its looks, at most.
constexpr auto kLongestNap = 200us;
// How long it may take until the memory that a kernel polls is written, if a thread waits for the
// kernel and it is unlikely that others write it.
constexpr auto kPatience = 10s;
constexpr auto kBriefly = 1s;

thread_local const Task* executed = nullptr;
thread_local bool has_added = false;  // since the last call of wait_for_room()

std::size_t threads_of_process() {
  std::error_code error;
  std::filesystem::directory_iterator tasks("/proc/self/task", error);
  if (error) return ~std::size_t{0};
  return static_cast<std::size_t>(std::distance(begin(tasks), end(tasks)));
}

// Blocks all signals in its lifetime, so that threads made in it leave them to the program's.
class NoSignals {
 public:
  NoSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &former_);
  }
  ~NoSignals() { pthread_sigmask(SIG_SETMASK, &former_, nullptr); }
  NoSignals(const NoSignals&) = delete;
  NoSignals& operator=(const NoSignals&) = delete;

 private:
  sigset_t former_{};
};

bool is_done(const Ticket& task) { return task->done; }

}  // namespace

const Task* WorkQueue::current() { return executed; }

Ticket WorkQueue::add(std::function<void()> run, std::vector<Ticket> after, int device) {
  auto task = std::make_shared<Task>();
  task->number = ++last_number_;
  task->device = device;
  if (closed_) {
    task->done = true;
    return task;
  }
  std::erase_if(after, is_done);
  has_added = true;
  task->run = std::move(run);
  task->after = std::move(after);
  pending_.push_back(task);
  need_worker();
  ready_.notify_one();
  if (!polling_.empty()) ready_.notify_all();
  return task;
}

// The first queued task whose predecessors have ended.
Ticket WorkQueue::runnable() const {
  const auto found = std::ranges::find_if(pending_, [](const Ticket& task) {
    return !task->running && std::ranges::all_of(task->after, is_done);
  });
  return found == pending_.end() ? nullptr : *found;
}

void WorkQueue::execute(const Ticket& task) {
  busy_ = task->running = true;
  executed = task.get();
  task->run();
  executed = nullptr;
  task->run = nullptr;
  task->after.clear();
  task->done = true;
  task->end = Task::Clock::now();
  pending_.erase(std::ranges::find(pending_, task));
  busy_ = false;
  fruitless_ = 0;
  if (task->awaited || (awaits_room_ && pending_.size() == kFewPending)) changed_.notify_all();
  if (!polling_.empty()) ready_.notify_all();
}

void WorkQueue::work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const Ticket task = busy_ ? nullptr : runnable();
    if (task != nullptr) {
      execute(task);
    } else {
      ready_.wait(lock);
    }
  }
}

// Where no thread can be created, the threads that wait execute the tasks.
void WorkQueue::need_worker() {
  if (workers_ > polling_.size()) return;
  const NoSignals during_creation;
  try {
    std::thread thread([this] { work(); });
    pthread_setname_np(thread.native_handle(), "vgpu");
    thread.detach();
    ++workers_;
  } catch (const std::system_error&) {
  }
}

void WorkQueue::wait_until(const std::function<bool()>& condition) {
  std::unique_lock lock(mutex_, std::adopt_lock);
  waits_.push_back(&condition);
  fruitless_ = 0;  // the program may have written memory before it waits
  while (!condition()) {
    const Ticket task = workers_ != 0 || busy_ ? nullptr : runnable();
    if (task != nullptr)
      execute(task);
    else
      changed_.wait(lock);
  }
  std::erase(waits_, &condition);
  lock.release();
}

void WorkQueue::wait(const std::vector<Ticket>& tasks) {
  if (std::ranges::all_of(tasks, is_done)) return;
  for (const Ticket& task : tasks) task->awaited = true;
  wait_until([&] { return std::ranges::all_of(tasks, is_done); });
}

void WorkQueue::wait_briefly(const Ticket& task) {
  if (workers_ == 0 || executed != nullptr) return;
  std::unique_lock lock(mutex_, std::adopt_lock);
  task->awaited = true;
  polled_ = false;
  changed_.wait_for(lock, kBriefly, [&] { return task->done || polled_; });
  lock.release();
}

void WorkQueue::wait_for_room() {
  if (!std::exchange(has_added, false) || pending_.size() <= kMostPending) return;
  awaits_room_ = true;
  wait_until([&] { return pending_.size() <= kFewPending; });
}

void WorkQueue::close() {
  if (executed != nullptr) return;  // a host function of a stream ends the process
  closing_ = true;
  while (!pending_.empty()) wait({pending_.back()});
  closed_ = true;
}

void WorkQueue::drop_queued() {
  for (const Ticket& task : pending_) {
    if (task->running) continue;
    task->run = nullptr;
    task->after.clear();
    task->done = true;
  }
  std::erase_if(pending_, is_done);
  changed_.notify_all();
}

// Whether nobody will write what kernels poll, because a thread waits for them that should.
bool WorkQueue::hopeless(Writer writer) const {
  if (!every_kernel_looked() || writer == Writer::kAnybody || waits_.empty()) return false;
  const auto may_go_on = [](const auto* condition) { return (*condition)(); };
  if (std::ranges::any_of(waits_, may_go_on)) return false;
  const bool all_wait = closing_ || threads_of_process() <= workers_ + waits_.size();
  if (all_wait && writer == Writer::kDevice) return true;
  // Other threads may queue a copy; functions that handle signals may write the host's memory.
  const bool unlikely = all_wait || writer == Writer::kDevice;
  return unlikely && Task::Clock::now() - fruitless_since_ > kPatience;
}

bool WorkQueue::let_others_run(Writer writer, bool still) {
  std::unique_lock lock(mutex_, std::adopt_lock);
  struct Release {
    std::unique_lock<std::mutex>& lock;
    ~Release() { lock.release(); }
  } const release{lock};
  if (!std::exchange(polled_, true)) changed_.notify_all();
  if (!still || fruitless_ == 0) {
    fruitless_ = 0;
    fruitless_since_ = Task::Clock::now();
  }
  ++fruitless_;
  if (runnable() == nullptr) {
    if (closing_ && writer != Writer::kDevice && every_kernel_looked()) throw Abandoned();
    if (hopeless(writer)) return false;
    ready_.wait_for(lock, std::min<Task::Clock::duration>(fruitless_ * 1us, kLongestNap));
  }
  if (runnable() == nullptr && polling_.empty()) return true;
  const Task* const self = executed;
  polling_.push_back(self);
  need_worker();
  busy_ = false;
  ready_.notify_all();
  ready_.wait(lock, [&] { return !busy_ && polling_.front() == self && runnable() == nullptr; });
  polling_.pop_front();
  busy_ = true;
  return true;
}

bool WorkQueue::after_fork() {
  const bool whole = pending_.empty();
  new (&ready_) std::condition_variable;
  new (&changed_) std::condition_variable;
  pending_.clear();
  polling_.clear();
  waits_.clear();
  workers_ = fruitless_ = 0;
  busy_ = false;
  return whole;
}

}  // namespace vgpu::runtime
