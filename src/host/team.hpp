// SPDX-License-Identifier: Apache-2.0
// A thread team for one product: the calling thread and workers that wait for its next product. The
// threads take items of work one after the other, and the caller waits for no thread that has not
// begun. A thread whose core is busy with other work delays the product by its current item only.
// OpenMP's team is not used because it does not survive fork(): its threads exist only in the
// parent, and the child waits for them forever. Here each calling thread has its own team, so a
// fork finds no lock held, and the child creates a new team at its first product.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace ladder::host {

class Team {
 public:
  // Maximum threads per product: OMP_NUM_THREADS, else the cores that this process may use.
  // set_most_threads(0) restores that default.
  static int most_threads();
  static void set_most_threads(int threads);
  // `threads`, or 1 for some time after workers have made a product of this caller slower than the
  // caller alone, because other work occupied their cores.
  static int usable(int threads);

  // What a thread did of a product: its part of the work, and the time it waited for others.
  struct Done {
    double part = 0;
    std::int64_t waited_ns = 0;
  };

  // Calls work(team, thread) -> Done on the caller, which is thread 0, and concurrently on up to
  // `threads` - 1 workers: on those that start before the caller's call has returned. Returns after
  // all of them have.
  template <class Work>
  static void run(int threads, const Work& work) {
    Team alone;
    Team* team = threads > 1 ? of_this_thread() : nullptr;
    (team == nullptr ? alone : *team)
        .start(
            threads,
            [](const void* what, Team& whole, int thread) {
              return (*static_cast<const Work*>(what))(whole, thread);
            },
            &work);
  }

  // A counter on which threads wait. They spin only while no other work needs their cores.
  class Counter {
   public:
    void add();
    void set(std::uint32_t value);
    // Returns the nanoseconds that it waited until the counter was at least `value` (modulo 2^32).
    std::int64_t await(Team& team, std::uint32_t value);

   private:
    friend class Team;
    bool reached(std::uint32_t value) const;
    void sleep(std::uint32_t value);
    void wake();
    alignas(64) std::atomic<std::uint32_t> value_{0};
    std::atomic<std::uint32_t> sleepers_{0};
  };

  // Numbered items of a product, taken in order.
  struct Items {
    alignas(64) std::atomic<std::int64_t> next{0};
    Counter done;
  };

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  using Function = Done (*)(const void* work, Team& team, int thread);
  friend struct TeamOwner;

  Team() = default;
  ~Team();
  static Team* of_this_thread();  // null: out of memory
  void start(int threads, Function function, const void* work);
  void judge(std::int64_t began, const Done& own);
  bool hire();  // adds one worker
  void serve(int thread, std::uint32_t seen);
  void post(int size);
  bool join(std::uint32_t product, int thread);
  bool crowded() const;
  void found_crowded();

  std::vector<std::thread> workers_;
  // The current product's work.
  Function function_ = nullptr;
  const void* work_ = nullptr;
  bool busy_ = false;
  Counter products_;
  // Number of the product, its team's size, whether workers may still join, how many have.
  alignas(64) std::atomic<std::uint64_t> state_{0};
  Counter left_;  // workers that have finished, of all products
  std::uint32_t joined_ = 0;
  std::atomic<std::int64_t> crowded_until_{0};  // nanoseconds of the steady clock
  std::int64_t alone_until_ = 0;
};

}  // namespace ladder::host
