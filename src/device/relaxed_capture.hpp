// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

#include <cstddef>

namespace ladder {

// While it lives, allocating, and loading a kernel by its first launch, are legal in this thread,
// whichever streams are being captured.
class RelaxedCapture {
 public:
  RelaxedCapture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

// Fills device memory with zeros and waits, on a stream of its own: the default stream may not be
// used beside a capture.
cudaError_t clear_now(void* at, std::size_t bytes);

}  // namespace ladder
