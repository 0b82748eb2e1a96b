// SPDX-License-Identifier: Apache-2.0
// Every host kernel of the registry passes the quick battery, by each of the host's references.
#include <gtest/gtest.h>
#include <ladder/registry.hpp>

#include "host/query.hpp"
#include "verify/verify.hpp"

namespace ladder {
namespace {

class HostKernel : public ::testing::TestWithParam<const KernelInfo*> {};

TEST_P(HostKernel, PassesTheQuickBattery) {
  ReferenceStore store;
  const auto cases = make_battery(Battery::kQuick, 1);
  const Verdict verdict = verify(*GetParam(), cases, host_device(), {}, store);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.passed + verdict.refused, cases.size());
  EXPECT_GE(verdict.passed, 30U);
}

TEST_P(HostKernel, PassesByTheIdentity) {
  VerifyOptions options;
  options.reference = ReferenceKind::kIdentity;
  ReferenceStore store;
  const Verdict verdict = verify(*GetParam(), cases_of(make_problem(70, 90, 110, 2, -1), 3),
                                 host_device(), options, store);
  EXPECT_EQ(verdict.outcome, Outcome::kPassed) << verdict.reason;
  EXPECT_EQ(verdict.cases.size(), 3U);
}

std::vector<const KernelInfo*> host_kernels() {
  std::vector<const KernelInfo*> host;
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.place == Place::kHost) host.push_back(&kernel);
  }
  return host;
}

INSTANTIATE_TEST_SUITE_P(Registry, HostKernel, ::testing::ValuesIn(host_kernels()),
                         [](const auto& parameter) { return std::string(parameter.param->id); });

}  // namespace
}  // namespace ladder
