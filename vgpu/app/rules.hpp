// SPDX-License-Identifier: Apache-2.0
// The rules behind findings, for reports that other programs read.
#pragma once
#include <span>
#include <string_view>

namespace vgpu::app {

struct Rule {
  std::string_view finding;  // Finding::rule
  std::string_view id;       // "vgpu/race"
  std::string_view title;    // one sentence
  std::string_view help;     // what to do
};

std::span<const Rule> rules();
// The rule of a finding; the last rule, which says only that a check failed, for an unknown one.
const Rule& rule_of(std::string_view finding);

}  // namespace vgpu::app
