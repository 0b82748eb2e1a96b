// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch_errors.hpp"

namespace vgpu {

void LaunchErrors::note(const Finding& error) {
  const std::scoped_lock lock(mutex_);
  first_.try_emplace(std::this_thread::get_id(), error);
}

void LaunchErrors::asked() {
  const std::scoped_lock lock(mutex_);
  first_.erase(std::this_thread::get_id());
}

void LaunchErrors::clear() {
  const std::scoped_lock lock(mutex_);
  first_.clear();
}

std::vector<Finding> LaunchErrors::all() const {
  const std::scoped_lock lock(mutex_);
  std::vector<Finding> all;
  for (const auto& [thread, error] : first_) all.push_back(error);
  return all;
}

}  // namespace vgpu
