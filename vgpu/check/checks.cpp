// SPDX-License-Identifier: Apache-2.0
#include "check/checks.hpp"

#include "check/race.hpp"
#include "check/watch.hpp"

namespace vgpu::check {

Checks::Checks(const ir::Program& program, const LaunchConfig& config, const Memory& memory,
               bool shared_init)
    : program_(program),
      config_(config),
      memory_(memory),
      marks_(launch_marks(memory, config)),
      shared_init_(shared_init) {}

std::unique_ptr<observer::Races> Checks::races(u64 shared_bytes, u32 warps, u32 blocks) const {
  if (!config_.check_race) return nullptr;
  return std::make_unique<RaceCheck>(program_, program_.shared_begin, shared_bytes, warps, blocks,
                                     marks_.epochs);
}

std::unique_ptr<observer::Watch> Checks::watch(u64 shared_bytes,
                                               const observer::Races* races) const {
  if (!config_.check_init && marks_.touched == nullptr) return nullptr;
  return std::make_unique<BlockWatch>(marks_, memory_, config_, races, unwritten_,
                                      program_.shared_begin, shared_init_ ? shared_bytes : 0);
}

}  // namespace vgpu::check
