// SPDX-License-Identifier: Apache-2.0
// Kernel output in a buffer of limited size; new calls replace the oldest ones.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <utility>

namespace vgpu::machine {

class PrintFifo {
 public:
  static constexpr std::size_t kCallBytes = 16;  // overhead per call

  explicit PrintFifo(std::size_t capacity) : capacity_(capacity) {}

  bool empty() const { return calls_.empty() && lost_ == 0; }
  std::size_t capacity() const { return capacity_; }
  std::size_t bytes() const { return bytes_; }
  std::uint64_t lost() const { return lost_; }  // calls whose text was dropped
  std::uint64_t calls() const { return calls_.size(); }

  void add(std::string text) {
    bytes_ += text.size() + kCallBytes;
    calls_.push_back(std::move(text));
    while (bytes_ > capacity_) {
      bytes_ -= calls_.front().size() + kCallBytes;
      calls_.pop_front();
      ++lost_;
    }
  }

  // Appends output that was printed later.
  void add(const PrintFifo& later) {
    lose(later.lost_);
    for (const std::string& text : later.calls_) add(text);
  }
  void lose(std::uint64_t calls) { lost_ += calls; }

  std::string text() const {
    std::string all;
    all.reserve(bytes_);
    for (const std::string& text : calls_) all += text;
    return all;
  }

  void clear() {
    calls_.clear();
    bytes_ = 0;
    lost_ = 0;
  }

 private:
  std::size_t capacity_, bytes_ = 0;
  std::uint64_t lost_ = 0;
  std::deque<std::string> calls_;
};

}  // namespace vgpu::machine
