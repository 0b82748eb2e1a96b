// SPDX-License-Identifier: Apache-2.0
// A thread team for one product: the calling thread and workers that wait for its next product.
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

  // Calls work(team, thread) concurrently on at most `threads` threads and returns after all of
  // them have finished. The caller is thread 0. The team is smaller if the system creates no more
  // threads.
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
  void barrier();  // waits for all threads of the product

  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

 private:
  using Function = void (*)(const void* work, Team& team, int thread);
  friend struct TeamOwner;

  Team() = default;
  ~Team();
  static Team* of_this_thread();  // null: out of memory
  void start(int threads, Function function, const void* work);
  bool hire();  // adds one worker
  void serve(int thread, std::uint64_t seen);
  void post(int size);

  std::vector<std::thread> workers_;
  // Of the current product.
  Function function_ = nullptr;
  const void* work_ = nullptr;
  int size_ = 1;
  bool busy_ = false;
  // A counter of products; the low bits hold the team size of the latest one. Workers beyond that
  // size read nothing else.
  alignas(64) std::atomic<std::uint64_t> product_{0};
  alignas(64) std::atomic<int> arrived_{0};  // threads that have arrived at the barrier
  alignas(64) std::atomic<std::uint32_t> barriers_{0};
};

}  // namespace ladder::host
