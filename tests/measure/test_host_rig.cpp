// SPDX-License-Identifier: Apache-2.0
// Host kernels in rounds: their order, and the waiting for other threads.
#include "measure/host_rig.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace ladder {
namespace {

// The time of a launch is its number.
class CountingTimer final : public Timer {
 public:
  Result<std::vector<double>> time(const std::vector<Launch>& launches) override {
    std::vector<double> times;
    for (const Launch& launch : launches) {
      if (Status status = launch(nullptr); !status) return status;
      times.push_back(++timed_);
    }
    return times;
  }
  Result<Launch> together(std::vector<Launch>) override {
    return Status(Code::kLaunchFailed, "no graphs");
  }

 private:
  double timed_ = 0;
};

TEST(HostRig, ARoundsLaunchesOfOneKernelFollowEachOther) {
  std::vector<int> order;
  int corners = 0;
  const auto kernel = [&](int name, bool tells_clock) {
    HostRig::Kernel one{[&order, name](Stream) {
                          if (order.empty() || order.back() != name) order.push_back(name);
                          return Status::ok();
                        },
                        {}};
    if (tells_clock) {
      one.corner = [&corners](Stream) {
        ++corners;
        return Status::ok();
      };
    }
    return one;
  };
  CountingTimer timer;
  HostRig rig({kernel(0, true), kernel(1, false)}, timer);
  const auto times = rig.run(3);
  ASSERT_TRUE(times);
  EXPECT_EQ(order, (std::vector<int>{0, 1}));
  EXPECT_EQ(times.value(), (std::vector<double>{1, 4, 2, 5, 3, 6}));  // [round][kernel]
  EXPECT_GE(corners, 2);
  EXPECT_LE(rig.telemetry(0).size(), 1U);  // none if something else ran meanwhile
  for (const Telemetry& reading : rig.telemetry(0)) EXPECT_GT(reading.sm_clock_mhz.value_or(0), 0);
  EXPECT_TRUE(rig.telemetry(1).empty());
  EXPECT_GT(rig.seconds_beside(), 0);
  EXPECT_LE(rig.seconds_beside(), rig.seconds());
}

TEST(HostRig, AFailureIsTheLaunchs) {
  CountingTimer timer;
  HostRig rig({{[](Stream) { return Status(Code::kLaunchFailed, "none today"); }, {}}}, timer);
  EXPECT_EQ(rig.run(1).status().message(), "none today");
}

TEST(HostRig, AThreadThatSpinsIsSeenAndWaitedFor) {
#ifdef __linux__
  std::atomic<bool> started = false, end = false;
  std::thread spinning([&] {
    started = true;
    while (!end) {
    }
  });
  while (!started) {
  }
  EXPECT_FALSE(other_threads_sleep());
  end = true;
  spinning.join();
#endif
  // gtest starts no thread.
  wait_for_other_threads(60);
  EXPECT_TRUE(other_threads_sleep());
}

}  // namespace
}  // namespace ladder
