// SPDX-License-Identifier: Apache-2.0
// The thread team: every item once and in order, however many threads join; workers that cost more
// than they do are left out; forks.
#include "host/team.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace ladder::host {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 20s;  // on a machine whose cores have other work

// Waits until `holds`, and returns whether it came to hold.
template <class Condition>
bool eventually(const Condition& holds) {
  const auto start = Clock::now();
  while (!holds()) {
    if (Clock::now() - start > kPatience) return false;
    std::this_thread::sleep_for(100us);
  }
  return true;
}

TEST(Team, DoesEveryItemOnceAndGroupsInOrder) {
  constexpr std::int64_t kGroup = 5, kAll = 200 * kGroup;
  for (const int threads : {1, 2, 3, 8}) {
    for (int product = 0; product < 20; ++product) {
      std::vector<std::atomic<int>> times(kAll);
      std::atomic<std::int64_t> finished{0};
      std::atomic<bool> early{false};
      Team::Items items;
      Team::run(threads, [&](Team& team, int thread) {
        Team::Done done;
        for (std::int64_t i = items.next++; i < kAll; i = items.next++) {
          const std::int64_t group = i / kGroup * kGroup;
          done.waited_ns += items.done.await(team, static_cast<std::uint32_t>(group));
          if (finished < group) early = true;
          ++times[static_cast<std::size_t>(i)];
          ++finished;
          done.part += 1.0 / kAll;
          items.done.add();
        }
        if (thread == 0) done.waited_ns += items.done.await(team, kAll);
        return done;
      });
      EXPECT_FALSE(early);
      EXPECT_EQ(finished, kAll);
      for (const auto& count : times) ASSERT_EQ(count, 1);
    }
  }
}

// Runs products until a worker has joined one.
bool a_worker_joins() {
  return eventually([] {
    std::atomic<int> joined{0};
    Team::run(Team::usable(2), [&](Team&, int thread) {
      if (thread > 0) ++joined;
      const auto start = Clock::now();
      while (joined == 0 && Clock::now() - start < 20ms) std::this_thread::sleep_for(50us);
      return Team::Done{0.5, 0};
    });
    return joined > 0;
  });
}

TEST(Team, ReturnsAfterAllWhoJoined) {
  for (int i = 0; i < 20; ++i) {
    std::atomic<int> inside{0};
    Team::run(3, [&](Team&, int thread) {
      ++inside;
      if (thread > 0) std::this_thread::sleep_for(1ms);
      --inside;
      return Team::Done{0.4, 0};
    });
    EXPECT_EQ(inside, 0);
  }
}

TEST(Team, LeavesOutWorkersThatCostMoreThanTheyDo) {
  ASSERT_TRUE(a_worker_joins());
  // A worker that holds an item for long, as if its core had other work.
  std::atomic<bool> joined{false};
  const bool slowed = eventually([&] {
    Team::run(Team::usable(2), [&](Team&, int thread) {
      if (thread > 0) {
        joined = true;
        std::this_thread::sleep_for(20ms);
        return Team::Done{0.1, 0};
      }
      const auto start = Clock::now();
      while (!joined && Clock::now() - start < 5ms) std::this_thread::sleep_for(50us);
      return Team::Done{0.9, 0};
    });
    return joined.load();
  });
  ASSERT_TRUE(slowed);
  std::atomic<int> others{0};
  for (int i = 0; i < 10; ++i) {
    Team::run(Team::usable(2), [&](Team&, int thread) {
      others += thread > 0 ? 1 : 0;
      std::this_thread::sleep_for(1ms);
      return Team::Done{0.5, 0};
    });
  }
  EXPECT_EQ(others, 0);
  EXPECT_TRUE(a_worker_joins());  // not for ever
}

TEST(Team, WorksInAChildAfterAFork) {
  ASSERT_TRUE(a_worker_joins());
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) ::_exit(a_worker_joins() ? 7 : 1);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 7);
}

TEST(Team, EachCallerHasItsOwn) {
  std::vector<std::thread> callers;
  std::atomic<int> joined{0};
  for (int i = 0; i < 4; ++i) callers.emplace_back([&] { joined += a_worker_joins() ? 1 : 0; });
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(joined, 4);
}

}  // namespace
}  // namespace ladder::host
