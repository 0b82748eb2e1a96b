// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "runtime/printable.hpp"
#include "runtime/settings.hpp"

namespace vgpu {
namespace {

std::map<std::string, std::string> variables;

Settings from(std::map<std::string, std::string> environment) {
  variables = std::move(environment);
  return settings_from([](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

TEST(Settings, WithoutVariablesAreTheDefaults) {
  const Settings settings = from({});
  EXPECT_EQ(settings.error, "");
  EXPECT_EQ(settings.devices.front().id, "h200");
  EXPECT_TRUE(settings.checks.race && settings.checks.init && settings.checks.sync);
  EXPECT_FALSE(settings.checks.leak);
  EXPECT_EQ(settings.host_threads, 0u);
  EXPECT_EQ(settings.counters_file, "");
  EXPECT_TRUE(settings.reuse);
  EXPECT_FALSE(settings.verbose);
}

TEST(Settings, AreRead) {
  const Settings settings = from({{"VGPU_DEVICE", "h200"},
                                  {"VGPU_CHECK", "memory,race,leak"},
                                  {"VGPU_THREADS", "3"},
                                  {"VGPU_COUNTERS", "c-%p.json"},
                                  {"VGPU_REUSE", "0"},
                                  {"VGPU_VERBOSE", "1"},
                                  {"VGPU_REPORT", "r"}});
  EXPECT_EQ(settings.error, "");
  EXPECT_TRUE(settings.checks.race && settings.checks.leak);
  EXPECT_FALSE(settings.checks.init || settings.checks.sync);
  EXPECT_EQ(settings.host_threads, 3u);
  EXPECT_EQ(settings.counters_file, "c-%p.json");
  EXPECT_FALSE(settings.reuse);
  EXPECT_TRUE(settings.verbose);
  EXPECT_EQ(settings.report_file, "r");
}

TEST(Settings, VisibleDevicesAreThoseOfTheList) {
  std::vector<Device> all;
  ASSERT_EQ(parse_devices("h200,a100,l4:2", all), "");
  const auto places = [&](const char* chosen) {
    std::string text;
    for (const Device& device : visible_devices(all, chosen)) text += std::to_string(device.place);
    return text;
  };
  EXPECT_EQ(places(nullptr), "0123");
  EXPECT_EQ(places("2,1"), "21");
  EXPECT_EQ(places(" 3 , 0"), "30");
  EXPECT_EQ(places(""), "");
  // The first that is none ends the list.
  EXPECT_EQ(places("0,2,-1,1"), "02");
  EXPECT_EQ(places("1,4,0"), "1");
  EXPECT_EQ(places("1,,0"), "1");
  EXPECT_EQ(places("1,0x0"), "1");
  EXPECT_EQ(places("NoDevFiles"), "");
  // Twice: none, but behind the end of the list.
  EXPECT_EQ(places("0,1,0"), "");
  EXPECT_EQ(places("0,-1,0"), "0");
  const auto digits = [](int place, std::size_t count) {
    return uuid_text(place).substr(0, count);
  };
  EXPECT_EQ(places(uuid_text(3).c_str()), "3");
  EXPECT_EQ(places((digits(2, 12) + ",0," + digits(1, 6)).c_str()), "201");
  EXPECT_EQ(places((digits(1, 12) + ",1").c_str()), "");
  EXPECT_EQ(places("2,GPU-,0"), "2");  // names all
  EXPECT_EQ(places((uuid_text(0) + "0").c_str()), "");
  EXPECT_EQ(visible_devices(all, "1").front().id, "a100");
}

TEST(Settings, AnUnknownDeviceIsAnErrorThatListsTheKnown) {
  const Settings settings = from({{"VGPU_DEVICE", "h2000"}});
  EXPECT_EQ(settings.error, "VGPU_DEVICE: 'h2000': known devices are " + known_devices() +
                                "; or a file, NAME.json");
  EXPECT_EQ(settings.devices.size(), 1u);
}

TEST(Settings, SeveralDevicesAreAListWithCounts) {
  const Settings settings = from({{"VGPU_DEVICE", "h200,a100:2"}});
  EXPECT_EQ(settings.error, "");
  ASSERT_EQ(settings.devices.size(), 3u);
  EXPECT_EQ(settings.devices[0].id, "h200");
  EXPECT_EQ(settings.devices[1].id, "a100");
  EXPECT_EQ(settings.devices[2].id, "a100");
  for (const char* text : {"h200:0", "h200:", "h200:x", "h200:65", "a100:60,h200:5"}) {
    EXPECT_NE(from({{"VGPU_DEVICE", text}}).error.find("1 to 64"), std::string::npos) << text;
  }
  EXPECT_NE(from({{"VGPU_DEVICE", ","}}).error.find("known devices are"), std::string::npos);
}

TEST(Settings, ChooseLaunchesAsNsightComputeDoes) {
  Settings settings =
      from({{"VGPU_KERNEL", "gemm"}, {"VGPU_LAUNCH_SKIP", "1"}, {"VGPU_LAUNCH_COUNT", "2"}});
  EXPECT_EQ(settings.error, "");
  const char* launches[] = {"sgemm(int)", "copy()", "gemm()", "dgemm()", "gemm()"};
  const bool taken[] = {false, false, true, true, false};  // the first that matches is skipped
  for (int i = 0; i < 5; ++i) EXPECT_EQ(settings.selection.takes(launches[i]), taken[i]) << i;
  EXPECT_NE(from({{"VGPU_KERNEL", "("}}).error.find("not a regular expression"), std::string::npos);
  EXPECT_EQ(from({{"VGPU_SAMPLE_BLOCKS", "0"}}).error, "VGPU_SAMPLE_BLOCKS: '0': a number from 1");
  EXPECT_EQ(from({{"VGPU_SAMPLE_BLOCKS", "12"}}).sample_blocks, 12u);
  EXPECT_EQ(from({{"VGPU_TIMEOUT", "1.5"}}).error, "VGPU_TIMEOUT: '1.5': a number from 1");
  EXPECT_EQ(from({{"VGPU_TIMEOUT", "30"}}).timeout_seconds, 30u);
  EXPECT_EQ(from({}).timeout_seconds, 0u);
  EXPECT_TRUE(from({{"CUDA_LAUNCH_BLOCKING", "1"}}).launch_blocking);
  EXPECT_FALSE(from({{"CUDA_LAUNCH_BLOCKING", "0"}}).launch_blocking);
  EXPECT_TRUE(from({}).selection.takes("anything"));
}

TEST(Printable, WritesOutControlCharacters) {
  EXPECT_EQ(printable("void k\033[31m(\r\x7f)\n\tnext"), "void k\\x1b[31m(\\x0d\\x7f)\n\tnext");
  EXPECT_EQ(printable("\xC2\x9B ü"), "\xC2\\x9b ü");
}

TEST(Settings, BadValuesNameVariableAndRule) {
  EXPECT_EQ(from({{"VGPU_SOURCE", "yes"}}).error, "VGPU_SOURCE: 'yes': 0 or 1");
  EXPECT_FALSE(from({{"VGPU_SOURCE", "0"}}).count_lines);
  EXPECT_EQ(from({{"VGPU_FAIL_FAST", "no"}}).error, "VGPU_FAIL_FAST: 'no': 0 or 1");
  EXPECT_FALSE(from({{"VGPU_FAIL_FAST", "0"}}).fail_fast);
  EXPECT_TRUE(from({}).fail_fast && from({{"VGPU_FAIL_FAST", "1"}}).fail_fast);
  EXPECT_EQ(
      from({{"VGPU_CHECK", "race,speed"}}).error,
      "VGPU_CHECK: 'speed': known checks are memory (always on, except with none), race, init, "
      "init-global, sync, leak, all and none");
  const Settings off = from({{"VGPU_CHECK", "none"}});
  EXPECT_TRUE(from({{"VGPU_CHECK", "race"}}).checks.memory && from({}).checks.memory);
  EXPECT_FALSE(off.checks.memory || off.checks.race || off.checks.init || off.checks.sync ||
               off.checks.leak);
  const Settings all = from({{"VGPU_CHECK", "all"}});
  EXPECT_TRUE(all.checks.race && all.checks.init && all.checks.sync && all.checks.leak);
  for (const char* text : {"0", "-1", "x", "2x", "1025", "99999999999999999999"}) {
    EXPECT_EQ(from({{"VGPU_THREADS", text}}).error,
              std::string("VGPU_THREADS: '") + text + "': a number from 1 to 1024");
  }
}

TEST(Settings, NumericsOfTensorCores) {
  EXPECT_EQ(from({}).numerics, Numerics::kSingle);
  EXPECT_EQ(from({{"VGPU_NUMERICS", "hopper"}}).numerics, Numerics::kHopper);
  EXPECT_EQ(from({{"VGPU_NUMERICS", "single"}}).numerics, Numerics::kSingle);
  EXPECT_EQ(from({{"VGPU_NUMERICS", "volta"}}).error, "VGPU_NUMERICS: 'volta': single or hopper");
}

TEST(Settings, Schedules) {
  EXPECT_EQ(from({}).schedule.kind, CopySchedule::Kind::kEager);
  EXPECT_EQ(from({{"VGPU_SCHEDULE", "eager"}}).schedule.kind, CopySchedule::Kind::kEager);
  EXPECT_EQ(from({{"VGPU_SCHEDULE", "lazy"}}).schedule.kind, CopySchedule::Kind::kLazy);
  const Settings settings = from({{"VGPU_SCHEDULE", "random:42"}});
  EXPECT_EQ(settings.error, "");
  EXPECT_EQ(settings.schedule.kind, CopySchedule::Kind::kRandom);
  EXPECT_EQ(settings.schedule.seed, 42u);
  for (const char* text : {"eager", "lazy", "random:18446744073709551615"}) {
    CopySchedule schedule;
    EXPECT_EQ(parse_schedule(text, schedule), "");
    EXPECT_EQ(to_string(schedule), text);
  }
  for (const char* text : {"late", "random", "random:", "random:x", "random:1x", "lazy:1"}) {
    EXPECT_EQ(
        from({{"VGPU_SCHEDULE", text}}).error,
        std::string("VGPU_SCHEDULE: '") + text + "': eager, lazy, or random:SEED with a number");
  }
}

}  // namespace
}  // namespace vgpu
