// SPDX-License-Identifier: Apache-2.0
#include <ladder/registry.hpp>

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace ladder {
namespace {

TEST(Registry, EveryEntryIsWholeAndItsIdUnique) {
  std::set<std::string_view> ids;
  for (const KernelInfo& info : kernels()) {
    EXPECT_TRUE(ids.insert(info.id).second) << info.id;
    EXPECT_FALSE(info.idea.empty()) << info.id;
    EXPECT_NE(info.accepts, nullptr) << info.id;
    EXPECT_NE(info.launch, nullptr) << info.id;
    const bool library = info.role == Role::kLibrary || info.role == Role::kLibraryKernel;
    const std::string_view prefix = library ? "ladder_" : info.rung;
    EXPECT_EQ(info.id.substr(0, prefix.size()), prefix) << info.id;
  }
  EXPECT_FALSE(ids.empty());
}

TEST(Registry, StandsInTheOrderOfTheLadder) {
  std::string last_rung;
  bool baselines_began = false;
  for (const KernelInfo& info : kernels()) {
    if (info.role == Role::kBaseline) {
      baselines_began = true;
      continue;
    }
    EXPECT_FALSE(baselines_began) << info.id << " stands after a baseline";
    if (info.role != Role::kRung) continue;
    EXPECT_LE(last_rung, std::string(info.rung));  // h.. before r.., then by number
    last_rung = info.rung;
  }
}

TEST(Registry, FindsByIdByRungAndByNumber) {
  EXPECT_EQ(find_kernels("r01_naive").value().size(), 1U);
  EXPECT_EQ(find_kernels("r03_smem_tile").value().size(), 2U);
  EXPECT_EQ(find_kernels("r03").value().size(), 2U);
  EXPECT_EQ(find_kernels("r03_smem_tile_16").value().front()->id, "r03_smem_tile_16");
}

TEST(Registry, AnUnknownNameIsRefusedWithTheNearest) {
  for (const char* name : {"r01_niave", "", "r", "zzz"}) {
    const auto found = find_kernels(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.status().code(), Code::kInvalidArgument);
  }
  EXPECT_NE(find_kernels("r99").status().message().find("r09_autotuned"), std::string::npos);
  EXPECT_NE(find_kernels("r01_niave").status().message().find("r01_naive"), std::string::npos);
}

TEST(Registry, KernelsRefuseWhatTheyCannotCompute) {
  const Device h200{.name = "test", .has_cuda = true, .cc = 90};
  const Problem transposed = make_problem(4, 4, 4, 1, 0, Op::kTranspose);
  const Problem column_major = make_problem(4, 4, 4, 1, 0, Op::kNone, Op::kNone, Layout::kColMajor);
  for (const KernelInfo* info : find_kernels("r03").value()) {
    EXPECT_TRUE(info->accepts(make_problem(4, 4, 4), h200));
    EXPECT_EQ(info->accepts(transposed, h200).code(), Code::kUnsupportedProblem);
    EXPECT_EQ(info->accepts(column_major, h200).code(), Code::kUnsupportedProblem);
    const Device volta{.name = "test", .has_cuda = true, .cc = 70};
    EXPECT_EQ(info->accepts(make_problem(4, 4, 4), volta).code(), Code::kUnsupportedDevice);
    EXPECT_EQ(info->accepts(make_problem(4, 4, 4), Device{}).code(), Code::kUnsupportedDevice);
  }
}

// Machine code and PTX of sm_90a run on 9.0 alone. Kernels for 9.0 and later are those.
TEST(Registry, NoKernelOfHopperIsOfferedToOtherGpus) {
  int of_hopper = 0;
  for (const KernelInfo& info : kernels()) {
    if (info.place != Place::kCuda || info.role == Role::kBaseline) continue;
    const Problem problem = in_types_of(info, make_problem(256, 256, 256));
    for (const int cc : {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121}) {
      const Device device{.name = "test", .has_cuda = true, .cc = cc, .sm_count = 80};
      const bool expected = info.min_cc == 90 ? cc == 90 : cc >= info.min_cc;
      EXPECT_EQ(accepts(info, problem, device).is_ok(), expected) << info.id << " on " << cc;
    }
    of_hopper += info.min_cc == 90 ? 1 : 0;
  }
  EXPECT_GT(of_hopper, 10);
}

}  // namespace
}  // namespace ladder
