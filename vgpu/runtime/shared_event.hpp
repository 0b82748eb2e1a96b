// SPDX-License-Identifier: Apache-2.0
// What several processes share of an event (cudaIpc), in a memory file.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>

#include "runtime/api.hpp"

namespace vgpu::runtime {

class SharedEvent {
 public:
  // These throw Failure.
  static std::shared_ptr<SharedEvent> create();
  static std::shared_ptr<SharedEvent> open(const cudaIpcEventHandle_t& handle);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  cudaIpcEventHandle_t handle() const;
  // Records the event; returns how often it has been recorded.
  std::uint64_t record() { return ++counts_->recorded; }
  std::uint64_t recorded() const { return counts_->recorded; }
  // The work before the n-th record has ended.
  void complete(std::uint64_t n);
  bool is_over(std::uint64_t n) const { return counts_->completed >= n; }

 private:
  struct Counts {
    std::atomic<std::uint64_t> recorded, completed;
  };

  SharedEvent(int file, Counts* counts) : file_(file), counts_(counts) {}
  static std::shared_ptr<SharedEvent> map(int file);

  int file_;
  Counts* counts_;
};

}  // namespace vgpu::runtime
