// SPDX-License-Identifier: Apache-2.0
// Threads that share one product: the caller and workers, which wait for the caller's next product.
// Not OpenMP's, whose team does not survive fork(): its threads stay in the parent, and the child
// waits for them for ever. Here each calling thread has a team of its own, so no lock is held at a
// fork, and the child creates a new team at its first product.
#pragma once
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace ladder::host {

class Team {
 public:
  // Threads that a product can have: OMP_NUM_THREADS, else the cores that this process may use. 0
  // sets that again.
  static int most_threads();
  static void set_most_threads(int threads);

  // Calls work(team, thread) on at most `threads` threads at once, of which the caller is thread 0,
  // and returns after the last. The team is smaller where the system creates no more threads.
  template <class Work>
  static void run(int threads, const Work& work) {
    Team alone;
    Team* team = threads > 1 ? of_this_thread() : nullptr;
    (team == nullptr ? alone : *team)
        .start(
            threads,
            [](const void* what, Team& whole, int thread) {
              (*static_cast<const Work*>(what))(whole, thread);
            },
            &work);
  }

  int size() const { return size_; }
  void barrier();  // of all threads of the product

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  using Function = void (*)(const void* work, Team& team, int thread);
  friend struct TeamOwner;

  Team() = default;
  ~Team();
  static Team* of_this_thread();  // null: out of memory
  void start(int threads, Function function, const void* work);
  bool hire();  // one worker more
  void serve(int thread, std::uint64_t seen);
  void post(int size);

  std::vector<std::thread> workers_;
  // Of the current product.
  Function function_ = nullptr;
  const void* work_ = nullptr;
  int size_ = 1;
  bool busy_ = false;
  // Counts products; its low bits hold the size of the last one's team, and a worker beyond it
  // reads nothing else.
  alignas(64) std::atomic<std::uint64_t> product_{0};
  alignas(64) std::atomic<int> arrived_{0};  // at the barrier
  alignas(64) std::atomic<std::uint32_t> barriers_{0};
};

}  // namespace ladder::host
