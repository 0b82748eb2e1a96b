// SPDX-License-Identifier: Apache-2.0
#include "runtime/work_queue.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <numeric>
#include <thread>

namespace {

using namespace vgpu::runtime;
using Writer = WorkQueue::Writer;

// Tasks note their numbers in `ran`. Queues are never destroyed, because their workers are not.
struct Fixture {
  std::mutex mutex;
  WorkQueue queue{mutex};
  std::vector<int> ran;

  Ticket add(int number, std::vector<Ticket> after = {}) {
    return queue.add([this, number] { ran.push_back(number); }, std::move(after), 0);
  }
  // A task that polls `flag` without the lock, as a kernel does.
  Ticket add_poller(int number, const std::atomic<bool>& flag, Writer writer,
                    std::vector<Ticket> after = {}) {
    const auto run = [this, number, &flag, writer] {
      bool still = false;
      while (!flag) {
        try {
          if (!queue.let_others_run(writer, std::exchange(still, true))) {
            ran.push_back(-number);
            return;
          }
        } catch (const Abandoned&) {
          queue.drop_queued();
          return;
        }
      }
      ran.push_back(number);
    };
    return queue.add(run, std::move(after), 0);
  }
};

class WorkQueueTest : public testing::Test {
 protected:
  Fixture& f = *new Fixture;
  std::unique_lock<std::mutex> lock{f.mutex};
};

TEST_F(WorkQueueTest, TasksRunInTheOrderOfSubmission) {
  std::vector<Ticket> tasks;
  for (int i = 0; i < 500; ++i) tasks.push_back(f.add(i));
  f.queue.wait({tasks.back()});
  std::vector<int> expected(500);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(f.ran, expected);
  EXPECT_EQ(tasks.front()->number + 499, tasks.back()->number);
  EXPECT_LE(tasks.front()->end, tasks.back()->end);
  EXPECT_TRUE(f.queue.pending().empty());
}

TEST_F(WorkQueueTest, ATaskCanReleaseTheLock) {
  std::atomic<bool> inside = false, go = false;
  const Ticket task = f.queue.add(
      [&] {
        const Unlocked meanwhile(f.mutex);
        inside = true;
        while (!go) std::this_thread::yield();
      },
      {}, 0);
  lock.unlock();
  while (!inside) std::this_thread::yield();
  lock.lock();  // while the task runs
  EXPECT_FALSE(task->done);
  EXPECT_EQ(WorkQueue::current(), nullptr);
  go = true;
  f.queue.wait({task});
  EXPECT_TRUE(task->done);
}

// The program may look at the results, or write what the kernel waits for.
TEST_F(WorkQueueTest, ABriefWaitEndsWithTheTaskOrWhenItPolls) {
  const Ticket task = f.queue.add(
      [&] {
        const Unlocked meanwhile(f.mutex);
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
      },
      {}, 0);
  f.queue.wait_briefly(task);
  EXPECT_TRUE(task->done);
  for (const Writer writer : {Writer::kHost, Writer::kDevice}) {
    std::atomic<bool> flag = false;
    const Ticket poller = f.add_poller(1, flag, writer), behind = f.add(2, {poller});
    f.queue.wait_briefly(poller);
    f.queue.wait_briefly(behind);
    EXPECT_FALSE(poller->done);
    flag = true;
    f.queue.wait({behind});
  }
}

TEST_F(WorkQueueTest, WhoAddsManyWaitsForRoom) {
  std::atomic<bool> go = false;
  f.queue.wait_for_room();
  const Ticket first = f.queue.add(
      [&] {
        const Unlocked meanwhile(f.mutex);
        while (!go) std::this_thread::yield();
      },
      {}, 0);
  for (std::size_t i = 1; i < WorkQueue::kMostPending; ++i) f.add(0);
  f.queue.wait_for_room();
  EXPECT_FALSE(first->done);
  f.add(1);
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    go = true;
  });
  f.queue.wait_for_room();
  EXPECT_TRUE(first->done);
  later.join();
}

TEST_F(WorkQueueTest, WhatDoesNotDependOnAPollingTaskRunsMeanwhile) {
  std::atomic<bool> flag = false;
  const Ticket poller = f.add_poller(1, flag, Writer::kDevice);
  const Ticket behind = f.add(2, {poller});
  const Ticket apart = f.add(3);
  f.queue.wait({apart});
  EXPECT_EQ(f.ran, std::vector{3});
  const Ticket writer = f.queue.add([&] { flag = true; }, {apart}, 0);
  f.queue.wait({behind});
  EXPECT_EQ(f.ran, (std::vector{3, 1, 2}));
}

TEST_F(WorkQueueTest, PollingTasksTakeTurns) {
  std::atomic<bool> first = false, second = false;
  const Ticket a = f.add_poller(1, first, Writer::kDevice);
  const Ticket b = f.add_poller(2, second, Writer::kDevice);
  const Ticket c = f.add_poller(3, second, Writer::kDevice);
  const Ticket d = f.queue.add([&] { second = true; }, {}, 0);
  f.queue.add([&] { first = true; }, {b, c}, 0);
  f.queue.wait({a, b, c});
  EXPECT_EQ(f.ran, (std::vector{2, 3, 1}));
}

TEST_F(WorkQueueTest, APollingTaskWaitsForTheHost) {
  std::atomic<bool> flag = false;
  const Ticket task = f.add_poller(1, flag, Writer::kHost);
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::milliseconds(30));
  lock.lock();
  EXPECT_FALSE(task->done);
  flag = true;
  f.queue.wait({task});
  EXPECT_EQ(f.ran, std::vector{1});
}

// A process in which every thread waits for a task that polls memory. Returns what `run` returns.
template <class Run>
int in_child(Run run) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run());
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

#ifndef __SANITIZE_THREAD__  // which has a thread of its own
TEST_F(WorkQueueTest, APollingTaskThatNobodyCanEndIsToldSo) {
  for (const Writer writer : {Writer::kDevice, Writer::kHost}) {
    EXPECT_EQ(in_child([&] {
                Fixture& own = *new Fixture;
                const std::scoped_lock held(own.mutex);
                const std::atomic<bool> never = false;
                own.queue.wait({own.add_poller(7, never, writer)});
                return own.ran == std::vector{-7} ? 0 : 1;
              }),
              0);
  }
}
#endif

TEST_F(WorkQueueTest, CloseRunsWhatIsQueuedAndAcceptsNothingMore) {
  for (int i = 0; i < 20; ++i) f.add(i);
  f.queue.close();
  EXPECT_EQ(f.ran.size(), 20u);
  EXPECT_TRUE(f.add(20)->done);
  EXPECT_EQ(f.ran.size(), 20u);
}

TEST_F(WorkQueueTest, CloseAbandonsWhatWaitsForTheHost) {
  const std::atomic<bool> never = false;
  const Ticket poller = f.add_poller(1, never, Writer::kHost);
  const Ticket behind = f.add(2, {poller});
  f.add(3);
  f.queue.close();
  EXPECT_TRUE(poller->done && behind->done);
  EXPECT_EQ(f.ran, std::vector{3});
}

#ifndef __SANITIZE_THREAD__  // which allows no threads after a fork
TEST_F(WorkQueueTest, AChildOfAForkLacksUnfinishedWork) {
  f.queue.wait({f.add(1)});
  EXPECT_EQ(in_child([&] {
              if (!f.queue.after_fork()) return 1;
              f.queue.wait({f.add(2)});
              return f.ran == std::vector{1, 2} ? 0 : 2;
            }),
            0);
  const std::atomic<bool> never = false;
  f.add_poller(3, never, Writer::kHost);
  EXPECT_EQ(in_child([&] { return f.queue.after_fork() ? 1 : 0; }), 0);
}
#endif

}  // namespace
