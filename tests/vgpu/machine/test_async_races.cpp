// SPDX-License-Identifier: Apache-2.0
// Pipelines of asynchronous copies: the correct one gives the same result under every schedule and
// no report; each defect is found, by the race check or as a deadlock.

#include <algorithm>
#include <random>

#include "engine_fixture.hpp"
#include "ir/fault.hpp"

namespace {

using vgpu::CopySchedule;
using vgpu::FaultKind;

constexpr int kBlocks = 3, kTiles = 7;

class Pipelines : public EngineTest {
 protected:
  Pipelines() {
    in.resize(kBlocks * kTiles * 128);
    for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<int>(i * i % 1009);
  }
  std::vector<int> run(const std::string& kernel) {
    int* const out = array<int>(kBlocks * outputs);
    launch(kernel, {kBlocks}, {128}, out, array(in), kTiles);
    return {out, out + kBlocks * outputs};
  }
  // Thread t of a block adds element source(t) of each of its tiles, times the tile's number.
  std::vector<int> expected() const {
    std::vector<int> sums(kBlocks * outputs);
    for (int b = 0; b < kBlocks; ++b) {
      for (int t = 0; t < outputs; ++t) {
        for (int i = 0; i < kTiles; ++i)
          sums[b * outputs + t] += in[(b * kTiles + i) * tile + source(t)] * (i + 1);
      }
    }
    return sums;
  }
  void expect_right(const std::string& kernel) {
    for_each_schedule([&] {
      for (const bool race : {false, true}) {
        config.check_race = race;
        for (const unsigned threads : {1u, 3u}) {
          config.host_threads = threads;
          EXPECT_EQ(run(kernel), expected());
        }
      }
    });
  }
  vgpu::Fault fault(const std::string& kernel) {
    return fault_of(kernel, {kBlocks}, {128}, array<int>(kBlocks * 128), array(in), kTiles);
  }
  // The line of kernels/<file>.cu that contains `text`.
  static std::string place(const std::string& file, const std::string& text) {
    std::ifstream source(VGPU_TEST_SOURCES "/" + file);
    std::string line;
    for (int n = 1; std::getline(source, line); ++n) {
      if (line.find(text) != std::string::npos) return file + ":" + std::to_string(n);
    }
    return "no line " + text;
  }

  std::vector<int> in;
  int outputs = 128, tile = 128;  // of a block, elements of a tile
  std::function<int(int)> source = [](int t) { return (t + 32) % 128; };
};

class Rings : public Pipelines {
 protected:
  void SetUp() override { load("async", VGPU_TEST_PTX_90A); }
};

TEST_F(Rings, TheRightOneIsRightUnderEverySchedule) { expect_right("ring_right"); }

TEST_F(Rings, EveryFlawIsARace) {
  const std::string copy =
      place("async.cu", "cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"(address(to))");
  const std::string read = place("async.cu", "sum += s[(i + next)");
  for_each_schedule([&] {
    config.check_race = true;
    for (const char* kernel :
         {"ring_no_wait", "ring_late_wait", "ring_no_barrier", "ring_early_copy", "ring_next"}) {
      SCOPED_TRACE(kernel);
      expect_fault(fault(kernel), FaultKind::kRace,
                   {copy, read, named("cp.async", "LDGSTS"), named("ld.shared", "LDS"),
                    "asynchronous copy"});
    }
  });
}

TEST_F(Rings, ALazyScheduleShowsWhatAnEagerOneHides) {
  for (const char* kernel : {"ring_no_wait", "ring_late_wait", "ring_next"}) {
    config.schedule = {CopySchedule::Kind::kEager, 0};
    if (std::string(kernel) != "ring_next") {
      EXPECT_EQ(run(kernel), expected()) << kernel;
    }
    config.schedule = {CopySchedule::Kind::kLazy, 0};
    EXPECT_NE(run(kernel), expected()) << kernel;
  }
}

TEST_F(Rings, AThreadMustWaitForItsOwnCopies) {
  config.check_race = true;
  const auto of = [&](int how) {
    return fault_of("own_copy", {1}, {32}, array<int>(32), array(in), how);
  };
  EXPECT_NO_THROW(launch("own_copy", {1}, {32}, array<int>(32), array(in), 0));
  EXPECT_EQ(of(1).kind, FaultKind::kRace);
  expect_text(of(1), {named("st.shared", "STS"), place("async.cu", "s[t] = 5;")});
  EXPECT_EQ(of(2).kind, FaultKind::kRace);
  expect_text(of(2), {named("ld.shared", "LDS"),
                      place("async.cu", "out[t] = s[t];           // the copy")});
}

// Also where neighbouring lanes read one place, or places next to each other.
TEST_F(Rings, EveryLaneThatReadsTooEarlyIsCounted) {
  constexpr int kLanes = 32;
  config.check_race = true;
  std::mt19937 random(1);
  const auto below = [&](unsigned end) { return static_cast<int>(random() % end); };
  int* const out = array<int>(kLanes);
  int* const places = array<int>(kLanes);
  for (int i = 0; i < 300; ++i) {
    for (int lane = 0; lane < kLanes;) {
      const int at = below(kLanes), step = below(3), end = lane + 1 + below(20);
      for (int k = 0; lane < end && lane < kLanes; ++k) places[lane++] = (at + k * step) % kLanes;
    }
    const int from = below(kLanes + 1);
    const auto early = [&](int place) { return place >= from; };
    vgpu::Findings findings;
    config.findings = &findings;
    launch("read_early", {1}, {2 * kLanes}, out, array(in), places, from);
    const auto times = std::count_if(places, places + kLanes, early);
    const auto found = findings.sorted();
    ASSERT_EQ(found.size(), times == 0 ? 0u : 1u);
    if (times == 0) continue;
    EXPECT_EQ(found[0].times, static_cast<std::uint64_t>(times));
    const auto lane = std::find_if(places, places + kLanes, early) - places;
    expect_text(found[0].fault, {"(warp 1, lane " + std::to_string(lane) + ")"});
  }
}

class ProducersAndConsumers : public Pipelines {
 protected:
  void SetUp() override {
    load("mbarrier", VGPU_TEST_PTX_90A);
    outputs = 96;
    tile = 32;
    source = [](int t) { return (t % 32 + 7 * (t / 32)) % 32; };
  }
};

TEST_F(ProducersAndConsumers, TheRightOneIsRightUnderEverySchedule) {
  expect_right("pipeline_right");
}

TEST_F(ProducersAndConsumers, EveryFlawIsFound) {
  const std::string copy =
      place("mbarrier.cu", "cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"(address(to))");
  const std::string read = place("mbarrier.cu", "sum += stage.data");
  for_each_schedule([&] {
    config.check_race = true;
    for (const char* kernel :
         {"pipeline_early_empty", "pipeline_wait_behind", "pipeline_plain_arrive",
          "pipeline_no_full_wait", "pipeline_wait_late", "pipeline_no_empty_wait",
          "pipeline_no_init_barrier"}) {
      SCOPED_TRACE(kernel);
      const vgpu::Fault found = fault(kernel);
      if (std::string(kernel) == "pipeline_wait_behind" && found.kind == FaultKind::kDeadlock) {
        continue;  // it arrived after the previous phase: then it waits for the next one
      }
      if (std::string(kernel) == "pipeline_no_full_wait" && found.kind == FaultKind::kDeadlock) {
        EXPECT_EQ(config.schedule.kind, CopySchedule::Kind::kRandom);
        // consumers arrived before they had read, so that the stage was overwritten early
        continue;
      }
      if (std::string(kernel) == "pipeline_no_init_barrier") {
        // Another warp uses an mbarrier that is not initialised, or whose initialisation is not
        // ordered before.
        EXPECT_TRUE(found.kind == FaultKind::kRace || found.kind == FaultKind::kMbarrier)
            << found.what();
        continue;
      }
      EXPECT_EQ(found.kind, FaultKind::kRace) << found.what();
      if (std::string(kernel) != "pipeline_no_empty_wait") expect_text(found, {copy, read});
    }
    expect_fault(fault("pipeline_no_empty_arrive"), FaultKind::kDeadlock,
                 {"warp 3 lanes 0xffffffff wait for the mbarrier", "lacks 3 of 3 arrivals"});
  });
}

}  // namespace
