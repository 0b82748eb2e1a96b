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
  // Called when the call ends, with "" if there was no error. Stores as much of the text as fits in
  // the error log, its size, and an empty information log.
  void store_error(std::string_view text) const;

 private:
  // A log buffer. `size` is the option that passes the buffer's size and receives the text's.
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
