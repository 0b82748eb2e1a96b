// SPDX-License-Identifier: Apache-2.0
// Output of Nsight Compute, and the user's own files.
#include "analyse/profiler.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

#include "analyse/user_kernel.hpp"

namespace ladder::analyse {
namespace {

constexpr const char* kTable = R"csv(==PROF== Connected to process 12
the program's own words, with "quotes" and, commas
==PROF== Disconnected from process 12
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"
"0","12","ladder","h","void k<Tile<1, 2>>(Problem)","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","1,048,576"
"0","12","ladder","h","void k<Tile<1, 2>>(Problem)","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum","sector","42"
"1","12","ladder","h","other","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","smsp__inst_executed.sum","inst","n/a"
"1","12","ladder","h","other","1","7","(32, 1, 1)","(1, 1, 1)","0","9.0","Command line profiler metrics","launch__registers_per_thread","register/thread","32"
)csv";

TEST(Ncu, counters_are_read_by_launch) {
  const auto launches = parse_ncu(kTable);
  ASSERT_TRUE(launches) << launches.status().message();
  ASSERT_EQ(launches.value().size(), 2U);
  EXPECT_EQ(launches.value()[0].kernel, "void k<Tile<1, 2>>(Problem)");
  EXPECT_EQ(launches.value()[0].metrics.at("smsp__inst_executed.sum"), 1048576);
  EXPECT_EQ(launches.value()[0].metrics.at("l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"), 42);
  EXPECT_FALSE(launches.value()[1].metrics.contains("smsp__inst_executed.sum"))
      << "n/a is no number";
  EXPECT_EQ(launches.value()[1].metrics.at("launch__registers_per_thread"), 32);
}

TEST(Ncu, missing_permission_is_told_with_what_to_do) {
  const auto refused =
      parse_ncu("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission\n");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code(), Code::kUnsupportedDevice);
  EXPECT_NE(refused.status().message().find("NVreg_RestrictProfilingToAdminUsers"),
            std::string::npos);
}

TEST(Ncu, its_own_error_is_passed_on) {
  const auto failed = parse_ncu("==ERROR== Failed to find metric foo\n");
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.status().message().find("metric foo"), std::string::npos);
  EXPECT_FALSE(parse_ncu(""));
}

TEST(Golden, a_row_is_found_by_kernel_and_shape) {
  constexpr const char* kGolden =
      "# when and where\n"
      "kernel,shape,symbol,sass_sha256,launch__grid_size,smsp__inst_executed.sum\n"
      "k1,256x256x256,_Z1k,abc,4,1000\n"
      "k1,250x251x253,_Z1k,abc,4,\n";
  const auto metrics = golden_counters(kGolden, "k1", "256x256x256");
  EXPECT_EQ(metrics.at("smsp__inst_executed.sum"), 1000);
  EXPECT_EQ(metrics.at("launch__grid_size"), 4);
  EXPECT_EQ(metrics.size(), 2U);
  EXPECT_FALSE(golden_counters(kGolden, "k1", "250x251x253").contains("smsp__inst_executed.sum"))
      << "was not read";
  EXPECT_TRUE(golden_counters(kGolden, "k2", "256x256x256").empty());
  EXPECT_TRUE(golden_counters("", "k1", "256x256x256").empty());
}

TEST(Ncu, command_asks_for_every_metric) {
  const auto command = ncu_command("ncu", {"a", "b"}, {"program", "x"});
  EXPECT_NE(std::ranges::find(command, "a,b"), command.end());
  EXPECT_EQ(command.back(), "x");
}

TEST(UserKernel, a_rung_is_found_by_its_namespace) {
  EXPECT_EQ(
      rung_in(
          "namespace ladder::r20_mine {\n extern const std::span<const KernelInfo> kInfo{k};\n}"),
      "r20_mine");
  EXPECT_EQ(rung_in("__global__ void sgemm(int M) {}"), "");
  const std::string name(500'000, 'a');
  EXPECT_EQ(rung_in("namespace ladder::1 {} namespace ladder::" + name + " { kInfo }"), name);
  EXPECT_EQ(rung_in("namespace ladder::r20_mine {}"), "")
      << "without kInfo there is nothing to call";
}

TEST(UserKernel, kernels_are_found_by_their_names) {
  using Names = std::vector<std::string>;
  EXPECT_EQ(kernel_names_in("__global__ void sgemm(int M) {}"), Names{"sgemm"});
  EXPECT_EQ(kernel_names_in("template <int T>\n__global__ void\n__launch_bounds__(T * (T), 2) "
                            "tiled (int M);\nvoid __global__ second(int) {}"),
            (Names{"tiled", "second"}));
  EXPECT_EQ(kernel_names_in("// __global__ void no(int)\n/* __global__ void no(int); */"
                            "__global__ void a(int);\n__global__ void a(int) {}"),
            Names{"a"});
  EXPECT_EQ(kernel_names_in("__global__"), Names{});
  EXPECT_EQ(kernel_names_in("__global__ void __launch_bounds__((((("), Names{});
  EXPECT_EQ(kernel_names_in("/*"), Names{});
}

TEST(UserKernel, arguments_are_whole_words) {
  UserKernel kernel;
  EXPECT_TRUE(kernel.takes("beta"));
  kernel.arguments = "my_beta, alpha2, A, B, C, -alpha";
  EXPECT_FALSE(kernel.takes("beta"));
  EXPECT_TRUE(kernel.takes("alpha"));
}

TEST(UserKernel, what_is_missing_is_named_before_anything_is_compiled) {
  const auto deadline = tune::Clock::now() + std::chrono::seconds(5);
  UserKernel kernel;
  kernel.file = "/nonexistent.cu";
  const auto none = build(kernel, 90, "/tmp", "/", deadline, {});
  ASSERT_FALSE(none);
  EXPECT_NE(none.status().message().find("/nonexistent.cu"), std::string::npos);
}

}  // namespace
}  // namespace ladder::analyse
