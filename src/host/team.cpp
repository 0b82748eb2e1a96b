// SPDX-License-Identifier: Apache-2.0
#include "host/team.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "host/per_thread.hpp"
#include "problem/number.hpp"

#ifdef __linux__
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace ladder::host {

// Owns a calling thread's team; destroyed when the thread ends.
struct TeamOwner {
  Team* team = nullptr;
  unsigned forks = 0;  // number of forks of the process when the team was created
  ~TeamOwner();
};

namespace {

// A thread spins for this long: it covers the usual gap between two small products.
constexpr std::int64_t kSpinNs = 500'000, kSpinCrowdedNs = 5'000;
constexpr int kSpinsOfLook = 1 << 8;  // between two looks at the clock, 3 to 12 microseconds
// A spinning thread that loses its core for longer was replaced by other work.
constexpr std::int64_t kLostNs = 150'000;
constexpr std::int64_t kCrowdedNs = 50'000'000;
// After a product that workers made slower, the caller works alone for this many times the loss.
constexpr std::int64_t kAloneTimes = 16, kLongestAloneNs = 200'000'000;
constexpr double kLoss = 0.1;  // relative

constexpr int kSizeShift = 17, kOpenShift = 16, kProductShift = 32;
constexpr std::uint64_t kOpen = std::uint64_t{1} << kOpenShift, kJoinedMask = kOpen - 1;
constexpr int kMostThreads = (1 << (kProductShift - kSizeShift)) - 1;

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

std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

int available_threads() {
  if (const char* variable = std::getenv("OMP_NUM_THREADS"); variable != nullptr) {
    const std::string_view text = variable;  // "8", or for nested regions "8,2"
    const int number = parse_number<int>(text.substr(0, text.find(','))).value_or(0);
    if (number > 0) return std::min(number, kMostThreads);
  }
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(1, CPU_COUNT(&cores));
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

}  // namespace

bool Team::Counter::reached(std::uint32_t value) const {
  return static_cast<std::int32_t>(value_.load() - value) >= 0;
}

void Team::Counter::add() {
  value_.fetch_add(1);
  wake();
}

void Team::Counter::set(std::uint32_t value) {
  value_.store(value);
  wake();
}

// Not std::atomic's wait and notify: they yield before they sleep, and a thread that has yielded
// its core to other work is not given it back when what it waits for happens.
void Team::Counter::wake() {
  if (sleepers_.load() == 0) return;
#ifdef __linux__
  (void)::syscall(SYS_futex, &value_, FUTEX_WAKE_PRIVATE, kMostThreads, nullptr, nullptr, 0);
#else
  value_.notify_all();
#endif
}

void Team::Counter::sleep(std::uint32_t value) {
  sleepers_.fetch_add(1);
  while (true) {
    const std::uint32_t now = value_.load();
    if (static_cast<std::int32_t>(now - value) >= 0) break;
#ifdef __linux__
    (void)::syscall(SYS_futex, &value_, FUTEX_WAIT_PRIVATE, now, nullptr, nullptr, 0);
#else
    value_.wait(now);
#endif
  }
  sleepers_.fetch_sub(1);
}

std::int64_t Team::Counter::await(Team& team, std::uint32_t value) {
  if (reached(value)) return 0;
  const std::int64_t began = now_ns();
  const std::int64_t longest = team.crowded() ? kSpinCrowdedNs : kSpinNs;
  for (std::int64_t looked = began; looked - began < longest;) {
    for (int i = 0; i < kSpinsOfLook; ++i) {
      if (reached(value)) return now_ns() - began;
      pause();
    }
    const std::int64_t now = now_ns();
    if (now - looked > kLostNs) {
      team.found_crowded();
      break;
    }
    looked = now;
  }
  sleep(value);
  return now_ns() - began;
}

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

int Team::usable(int threads) {
  const Team* const team = threads > 1 ? of_this_thread() : nullptr;
  return team == nullptr || now_ns() < team->alone_until_ ? 1 : threads;
}

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

bool Team::crowded() const { return now_ns() < crowded_until_.load(std::memory_order_relaxed); }

void Team::found_crowded() {
  crowded_until_.store(now_ns() + kCrowdedNs, std::memory_order_relaxed);
}

void Team::start(int threads, Function function, const void* work) {
  if (threads <= 1) {
    (void)function(work, *this, 0);
    return;
  }
  const std::int64_t began = now_ns();
  while (static_cast<int>(workers_.size()) + 1 < threads && hire()) {
  }
  function_ = function;
  work_ = work;
  busy_ = true;
  post(std::min(threads, static_cast<int>(workers_.size()) + 1));
  Done own = function(work, *this, 0);
  joined_ += static_cast<std::uint32_t>(state_.fetch_and(~kOpen) & kJoinedMask);
  own.waited_ns += left_.await(*this, joined_);
  busy_ = false;
  judge(began, own);
}

// Would the caller have been faster alone?
void Team::judge(std::int64_t began, const Done& own) {
  const std::int64_t now = now_ns();
  const auto taken = static_cast<double>(now - began);
  const double alone = (taken - static_cast<double>(own.waited_ns)) / std::max(own.part, 1e-3);
  if (taken <= (1 + kLoss) * alone) return;
  found_crowded();
  const auto loss = static_cast<std::int64_t>(taken - alone);
  alone_until_ = now + std::min(kAloneTimes * loss, kLongestAloneNs);
}

// Workers block all signals, which the program's own threads handle.
bool Team::hire() {
  sigset_t all, former;
  sigfillset(&all);
  (void)::pthread_sigmask(SIG_SETMASK, &all, &former);
  bool hired = true;
  try {
    workers_.emplace_back(&Team::serve, this, static_cast<int>(workers_.size()) + 1,
                          products_.value_.load());
  } catch (const std::exception&) {  // out of threads or memory
    hired = false;
  }
  (void)::pthread_sigmask(SIG_SETMASK, &former, nullptr);
  return hired;
}

// Size 0 tells the workers to end.
void Team::post(int size) {
  const std::uint32_t product = products_.value_.load() + 1;
  state_.store(std::uint64_t{product} << kProductShift |
               static_cast<std::uint64_t>(size) << kSizeShift | kOpen);
  products_.set(product);
}

// A worker joins a product as long as the caller works on it.
bool Team::join(std::uint32_t product, int thread) {
  std::uint64_t state = state_.load();
  while (state >> kProductShift == product && (state & kOpen) != 0 &&
         thread < static_cast<int>(state >> kSizeShift & kMostThreads)) {
    if (state_.compare_exchange_weak(state, state + 1)) return true;
  }
  return false;
}

void Team::serve(int thread, std::uint32_t seen) {
  while (true) {
    (void)products_.await(*this, seen + 1);
    const std::uint64_t state = state_.load();
    seen = static_cast<std::uint32_t>(state >> kProductShift);
    if ((state >> kSizeShift & kMostThreads) == 0) return;
    if (!join(seen, thread)) continue;
    (void)function_(work_, *this, thread);
    left_.add();
  }
}

}  // namespace ladder::host
