// SPDX-License-Identifier: Apache-2.0
#include "host/team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "host/per_thread.hpp"
#include "problem/number.hpp"

namespace ladder::host {

// Owns a calling thread's team; destroyed when the thread ends.
struct TeamOwner {
  Team* team = nullptr;
  unsigned forks = 0;  // number of forks of the process when the team was created
  ~TeamOwner();
};

namespace {

constexpr int kSizeBits = 16;
constexpr std::uint64_t kSizeMask = (1U << kSizeBits) - 1;
constexpr int kSpins = 1 << 14;  // 0.3 to 1 ms: covers the usual gap between two small products
constexpr int kSpinsOfTurn = 1 << 9;

// Namespace scope, not static variables of functions: another thread may hold their initialisation
// lock during a fork, and the lock would stay held in the child.
std::atomic<unsigned> forks{0};
std::atomic<int> most{0};
[[maybe_unused]] const int kRegistered = ::pthread_atfork(nullptr, nullptr, [] { ++forks; });
const PerThread<TeamOwner> owners;

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

template <class T>
void wait_while(const std::atomic<T>& word, T old) {
  for (int i = 0; i < kSpins; ++i) {
    if (word.load(std::memory_order_acquire) != old) return;
    pause();
    if (i % kSpinsOfTurn == kSpinsOfTurn - 1)
      ::sched_yield();  // yields: the awaited thread may need this core
  }
  word.wait(old, std::memory_order_acquire);
}

int available_threads() {
  if (const char* variable = std::getenv("OMP_NUM_THREADS"); variable != nullptr) {
    const std::string_view text = variable;  // "8", or for nested regions "8,2"
    const int number = parse_number<int>(text.substr(0, text.find(','))).value_or(0);
    if (number > 0) return std::min(number, static_cast<int>(kSizeMask));
  }
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

TeamOwner::~TeamOwner() {
  // Not during a product (a signal handler may leave one by pthread_exit()): its workers wait for
  // this thread.
  if (team != nullptr && forks == host::forks && !team->busy_) delete team;
}

int Team::most_threads() {
  if (most == 0) most = available_threads();
  return most;
}

void Team::set_most_threads(int threads) { most = threads; }

Team* Team::of_this_thread() {
  TeamOwner* const owner = owners.get();
  if (owner == nullptr) return nullptr;
  if (owner->team == nullptr || owner->forks != forks) {
    // After a fork the inherited team is leaked: its threads exist only in the parent.
    owner->team = new (std::nothrow) Team;
    owner->forks = forks;
  }
  return owner->team;
}

Team::~Team() {
  if (workers_.empty()) return;
  post(0);
  for (std::thread& worker : workers_) worker.join();
}

void Team::start(int threads, Function function, const void* work) {
  while (static_cast<int>(workers_.size()) + 1 < threads && hire()) {
  }
  function_ = function;
  work_ = work;
  size_ = std::min(threads, static_cast<int>(workers_.size()) + 1);
  busy_ = true;
  if (size_ > 1) post(size_);
  function(work, *this, 0);
  barrier();
  busy_ = false;
}

// Workers block all signals, which the program's own threads handle.
bool Team::hire() {
  sigset_t all, former;
  sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &former);
  bool hired = true;
  try {
    workers_.emplace_back(&Team::serve, this, static_cast<int>(workers_.size()) + 1,
                          product_.load());
  } catch (const std::exception&) {  // out of threads or memory
    hired = false;
  }
  (void)::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return hired;
}

// Size 0 tells the workers to end.
void Team::post(int size) {
  const std::uint64_t count = (product_.load() >> kSizeBits) + 1;
  product_.store(count << kSizeBits | static_cast<std::uint64_t>(size));
  product_.notify_all();
}

void Team::serve(int thread, std::uint64_t seen) {
  while (true) {
    wait_while(product_, seen);
    seen = product_.load();
    const int size = static_cast<int>(seen & kSizeMask);
    if (size == 0) return;
    if (thread >= size) continue;
    function_(work_, *this, thread);
    barrier();
  }
}

void Team::barrier() {
  const int size = size_;  // read before arriving: afterwards the caller may start the next product
  if (size == 1) return;
  const std::uint32_t passed = barriers_.load();
  if (arrived_.fetch_add(1) + 1 < size) return wait_while(barriers_, passed);
  arrived_.store(0);
  barriers_.store(passed + 1);
  barriers_.notify_all();
}

}  // namespace ladder::host
