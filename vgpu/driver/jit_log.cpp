// SPDX-License-Identifier: Apache-2.0
#include "driver/jit_log.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace vgpu::driver {

JitLog::JitLog(unsigned count, const CUjit_option* options, void** values) {
  if (count != 0 && (options == nullptr || values == nullptr)) {
    error_ = CUDA_ERROR_INVALID_VALUE;
    return;
  }
  for (unsigned i = 0; i < count; ++i) {
    switch (options[i]) {
      case CU_JIT_WALL_TIME: wall_time_ = &values[i]; break;
      case CU_JIT_INFO_LOG_BUFFER: information_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: information_.size = &values[i]; break;
      case CU_JIT_ERROR_LOG_BUFFER: errors_.text = static_cast<char*>(values[i]); break;
      case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: errors_.size = &values[i]; break;
      default:
        if (options[i] < CU_JIT_MAX_REGISTERS || options[i] >= CU_JIT_NUM_OPTIONS)
          error_ = CUDA_ERROR_INVALID_VALUE;
    }
  }
  for (Buffer* buffer : {&information_, &errors_}) {
    if (buffer->size != nullptr)
      buffer->room = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(*buffer->size));
  }
}

// The sizes are unsigned numbers in the place of a pointer.
void JitLog::Buffer::fill(std::string_view content) const {
  if (size == nullptr) return;
  std::size_t written = 0;
  if (text != nullptr && room != 0) {
    written = std::min<std::size_t>(content.size(), room - 1);
    std::memcpy(text, content.data(), written);
    text[written] = '\0';
  }
  *size = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr)
}

void JitLog::store_error(std::string_view text) const {
  information_.fill("");
  errors_.fill(text);
  if (wall_time_ == nullptr) return;
  const float none = 0;
  std::memcpy(wall_time_, &none, sizeof none);
}

}  // namespace vgpu::driver
