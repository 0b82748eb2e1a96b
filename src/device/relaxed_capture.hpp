// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cuda_runtime_api.h>

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

}  // namespace ladder
