// SPDX-License-Identifier: Apache-2.0
// The options with which a program loads or links code. Those that ask for a log receive what the
// virtual GPU reports; those that steer a compiler have no effect.
#pragma once
#include <string_view>

#include "driver/api.hpp"

namespace vgpu::driver {

class JitLog {
 public:
  JitLog(unsigned count, const CUjit_option* options, void** values);

  // CUDA_ERROR_INVALID_VALUE for an option that does not exist or a missing list.
  CUresult error() const { return error_; }
  // Stores the text, as much of it as fits, and sizes of nothing in the other log. At the end of a
  // call, with "" if there is nothing to report.
  void store_error(std::string_view text) const;

 private:
  // A buffer, and the option that holds its size before and the size of the text afterwards.
  struct Buffer {
    char* text = nullptr;
    void** size = nullptr;
    std::size_t room = 0;
    void fill(std::string_view content) const;
  };

  CUresult error_ = CUDA_SUCCESS;
  Buffer information_, errors_;
  void** wall_time_ = nullptr;
};

}  // namespace vgpu::driver
