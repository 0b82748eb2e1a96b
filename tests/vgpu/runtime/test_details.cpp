// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "app/app.hpp"

namespace vgpu::app {
namespace {

std::string launch(const std::string& more, int loads) {
  return R"json({"kernel": "void sgemm<32>(int, float*)", "device": 0, "grid": [8, 4, 1], "block": [256, 1, 1],
      "engine": "ptx", )json" +
         more + R"json("metrics": {"l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum": 1000,
      "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": )json" +
         std::to_string(loads) +
         R"json(, "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum": 0, "launch__registers_per_thread": 64,
      "launch__occupancy_limit_registers": 4, "launch__occupancy_limit_warps": 8,
      "sm__maximum_warps_avg_per_active_cycle": 32}, "estimates": {"smsp__inst_executed.sum": 1234567}})json";
}

std::string file(const std::string& launches) {
  return R"({"device": "h200", "devices": ["h200"], "launches": [)" + launches +
         R"(], "methods": {}})";
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Details, ShowSectionsWithoutZeros) {
  const std::string text = details(file(launch("", 4000)));
  EXPECT_TRUE(has(
      text,
      "void sgemm<32>(int, float*)\n  8x4x1 blocks of 256x1x1 threads, h200, executed from ptx\n"))
      << text;
  EXPECT_TRUE(has(text, "  Memory\n    global load requests ")) << text;
  EXPECT_TRUE(has(text, "4.00  sectors\n")) << text;
  EXPECT_TRUE(has(text, " ~1,234,567  inst\n")) << text;
  EXPECT_TRUE(has(text, "50.0  % (limited by registers)\n")) << text;
  EXPECT_TRUE(has(text, "~ an estimate")) << text;
  EXPECT_FALSE(has(text, "store")) << "zeros are left out\n" << text;
  EXPECT_FALSE(has(text, "Shared")) << "empty sections are left out\n" << text;
}

TEST(Details, JoinLaunchesOfOneKernelAndShowRanges) {
  const std::string text = details(file(launch("", 4000) + "," + launch("", 5000)));
  EXPECT_TRUE(has(text, ", 2 launches (values of one)\n")) << text;
  EXPECT_TRUE(has(text, " 4,000 .. 5,000  sectors\n")) << text;
  EXPECT_FALSE(has(text, "sectors per global load request")) << "no quotient of ranges\n" << text;
}

TEST(Details, SayWhatWasSampled) {
  const std::string text = details(file(launch(R"("sampled_blocks": [0, 7, 24, 31], )", 1)));
  EXPECT_TRUE(has(text, "SAMPLED: 4 of 32 blocks executed, counts scaled\n")) << text;
}

TEST(Details, OfNothingAreNothing) {
  EXPECT_EQ(details(""), "");
  EXPECT_EQ(details(file("")), "");
}

TEST(SourceView, ShowsTheHottestLinesWithTheirText) {
  const auto with_lines = [](int hot) {
    return launch(R"json("source": [
      {"file": "/a/k.cu", "line": 2, "metrics": {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum": 77},
       "estimates": {"smsp__inst_executed.sum": )json" +
                      std::to_string(hot) + R"json(}},
      {"file": "/a/k.cu", "line": 3, "metrics": {}, "estimates": {"smsp__inst_executed.sum": 100}}], )json",
                  1);
  };
  const std::string json = file(with_lines(200) + "," + with_lines(100));
  const auto read = [](const std::string& path) {
    return path == "/a/k.cu" ? std::string("one\n  two = x[i];\nthree\n") : std::string();
  };
  const std::string all = source_view(json, 30, read);
  EXPECT_TRUE(has(
      all,
      "60.0%             ~300            154              0      -      -  k.cu:2  two = x[i];\n"))
      << all;
  EXPECT_TRUE(has(
      all, "40.0%             ~200              0              0      -      -  k.cu:3  three\n"))
      << all;
  EXPECT_FALSE(has(source_view(json, 1, read), "k.cu:3"));
  EXPECT_TRUE(
      has(source_view(json, 30, [](const std::string&) { return std::string(); }), "k.cu:2\n"));
}

TEST(SourceView, ShowsTheScheduleOfMachineCode) {
  const std::string json = file(launch(R"json("source": [
      {"file": "/a/k.cu", "line": 2, "metrics": {"smsp__inst_executed.sum": 10}, "estimates": {},
       "schedule": {"issue_slots": 12, "stall_cycles": 1031, "waits": [
         {"scoreboard": 3, "for": "result", "file": "/a/m.cu", "line": 9, "instructions": 2},
         {"scoreboard": 0, "for": "operands", "file": "", "line": 0, "instructions": 1}]}}],
      "hot_loop": {"first": 208, "last": 320, "iterations": 2000, "stall_cycles": 31,
        "pipes": [{"name": "issue", "slots": 8, "cycles": 2.0}], "waits": 2,
        "chain": [{"scoreboard": 1, "for": "result",
          "setter": {"offset": 224, "text": "LDG.E R3, [R2]", "file": "/a/k.cu", "line": 2},
          "waiter": {"offset": 272, "text": "FADD R3, R3, R4", "file": "/a/k.cu", "line": 3}}]}, )json",
                                       1));
  const std::string text = source_view(json, 30, [](const std::string&) { return std::string(); });
  EXPECT_TRUE(has(text, "     12  1,031  k.cu:2\n")) << text;
  EXPECT_TRUE(has(text,
                  "waits: 2 for scoreboard 3 of m.cu:9; 1 for reads, scoreboard 0 of code of no "
                  "line\n"))
      << text;
  EXPECT_TRUE(
      has(text, "hot loop 0xd0 to 0x140, 2,000 iterations of a warp: 31 stall cycles, 2 waits\n"))
      << text;
  EXPECT_TRUE(has(text, "issue                       8 slots, an SM's busy for 2.00 cycles\n"))
      << text;
  EXPECT_TRUE(has(text,
                  "0x110 FADD R3, R3, R4 (k.cu:3) waits for scoreboard 1 of 0xe0 LDG.E R3, [R2] "
                  "(k.cu:2)\n"))
      << text;
}

TEST(SourceView, SaysWhatIsMissing) {
  EXPECT_TRUE(
      has(source_view(file(launch("", 1)), 30, [](const std::string&) { return std::string(); }),
          "no line information: build with -lineinfo"));
}

}  // namespace
}  // namespace vgpu::app
