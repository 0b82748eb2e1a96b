// SPDX-License-Identifier: Apache-2.0
// Counters of products and loads that ptxas may move behind branches: what is called exact from PTX
// is what machine code counts.
#include "engine_fixture.hpp"

namespace {

constexpr int kThreads = 64, kRows = 17;
constexpr const char* kMul = "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum";
constexpr const char* kFma = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";
constexpr const char* kLoads = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum";

struct Case {
  const char* kernel;
  bool exact;  // where some lanes do not store
};

class Sinking : public EngineTest, public testing::WithParamInterface<Case> {
 protected:
  vgpu::LaunchReport counted(int stores) {
    float* const in = array<float>(kThreads * kRows, 3);
    float* const out = array<float>(kThreads * kRows);
    return launch(GetParam().kernel, {2}, {kThreads}, in, out, 2.0F, stores);
  }
};

TEST_P(Sinking, CountsCalledExactAreThoseOfMachineCode) {
  const std::string text = read(VGPU_TEST_PTX "/sinking.ptx");
  const std::string code = read(VGPU_TEST_CUBIN "/sinking.cubin");
  for (const int stores : {kThreads, 40, 32, 0}) {
    load_text(text);
    const vgpu::LaunchReport ptx = counted(stores);
    module = vgpu::sass::from_images(
        std::as_bytes(std::span(code)), [] { return std::string(); }, memory);
    const vgpu::LaunchReport sass = counted(stores);
    for (const char* metric : {kMul, kFma, kLoads}) {
      EXPECT_EQ(ptx.exact.contains(metric), !ptx.estimates.contains(metric));
      if (!ptx.exact.contains(metric)) continue;
      EXPECT_EQ(ptx.exact.at(metric), sass.exact.at(metric)) << metric << ", " << stores;
    }
    const bool exact = GetParam().exact || stores == kThreads;
    EXPECT_EQ(ptx.exact.contains(kMul), exact) << stores;
    EXPECT_EQ(ptx.exact.contains(kLoads), exact) << stores;
    EXPECT_TRUE(ptx.exact.contains(kFma)) << stores;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Sinking,
                         testing::Values(Case{"small_branch", true}, Case{"large_branch", false},
                                         Case{"before_return", true}, Case{"far_branch", false},
                                         Case{"under_predicate", false}, Case{"after_loop", true},
                                         Case{"chain", false}),
                         [](const auto& test) { return std::string(test.param.kernel); });

}  // namespace
