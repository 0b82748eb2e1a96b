// SPDX-License-Identifier: Apache-2.0
// Counters from machine code that are estimates only where a launch has a pattern whose rule is
// unknown.
#include <functional>

#include "engine_fixture.hpp"

namespace {

constexpr int kLanes = 32, kWordsOfSector = 8, kWordsOfLine = 32;

class Estimates : public EngineTest {
 protected:
  void SetUp() override {
    const std::string code = read(VGPU_TEST_CUBIN "/estimates.cubin");
    module = vgpu::sass::from_images(
        std::as_bytes(std::span(code)), [] { return std::string(); }, memory);
  }
  // The place of each lane's access.
  using Places = std::function<int(int lane)>;
  const int* places(const Places& of) {
    std::vector<int> at(kLanes);
    for (int lane = 0; lane < kLanes; ++lane) at[lane] = of(lane);
    return array(at);
  }
  static void expect_exact(const vgpu::LaunchReport& report, const std::string& metric, bool exact,
                           const std::string& what) {
    EXPECT_EQ(report.exact.contains(metric), exact) << what;
    EXPECT_EQ(report.estimates.contains(metric), !exact) << what;
  }
};

TEST_F(Estimates, SectorsOfAtomicsInManyLinesWithSeveralWordsOfASector) {
  // Lanes in `lines` cache lines, each at the first words of one sector.
  const auto in_lines = [](int lines) {
    return
        [lines](int lane) { return lane % lines * kWordsOfLine + lane / lines % kWordsOfSector; };
  };
  const struct {
    const char* what;
    Places places;
    bool exact;
  } kCases[] = {
      {"one line", in_lines(1), true},
      {"four lines", in_lines(4), true},
      {"five lines", in_lines(5), false},
      {"sixteen lines", in_lines(16), false},
      {"one word of each sector", [](int lane) { return lane * kWordsOfSector; }, true},
      {"one word of each of 32 lines", [](int lane) { return lane * kWordsOfLine; }, true},
      {"one word of each of 16 lines, twice", [](int lane) { return lane / 2 * kWordsOfLine; },
       true},
  };
  unsigned* const out = array<unsigned>(kLanes * kWordsOfLine);
  for (const auto& [what, of, exact] : kCases) {
    const int* const at = places(of);
    expect_exact(launch("reductions", {1}, {kLanes}, out, at),
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", exact, what);
    expect_exact(launch("old_values", {1}, {kLanes}, out, at, array<unsigned>(kLanes)),
                 "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", exact, what);
  }
}

}  // namespace
