// SPDX-License-Identifier: Apache-2.0
// Stream capture: work of a capturing stream becomes nodes of a graph. Other streams join through
// events.
#pragma once
#include <memory>
#include <thread>
#include <vector>

#include "runtime/graph/graph.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

struct Capture {
  std::unique_ptr<Graph> owned;  // null where the program gave the graph
  Graph* graph = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // that began it
  const Stream* origin = nullptr;
  unsigned long long id = 0;
  bool broken = false;  // something was called that cannot be captured
};

// The capture that the stream takes part in; null if it does not.
Capture* capture_of(const Stream& stream);

// The work becomes a node behind the stream's last ones. Fails where the capture is broken.
cudaError_t record(Stream& stream, Work work);

// The stream for the work of an entry point. Throws Failure for an unknown handle, and for the
// legacy default stream while a capture that it would wait for is under way, which breaks that
// capture.
Stream& stream_for(Runtime& runtime, cudaStream_t handle);

// What cannot be captured (allocation, synchronisation): throws Failure, and breaks the capture,
// where the calling thread must not do it now.
void refuse_in_capture(Runtime& runtime);
void break_capture(Stream& stream);

}  // namespace vgpu::runtime
