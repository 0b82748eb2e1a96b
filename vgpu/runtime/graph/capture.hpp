// SPDX-License-Identifier: Apache-2.0
// Stream capture: work submitted to a capturing stream becomes nodes of a graph. Other streams join
// the capture through events.
#pragma once
#include <memory>
#include <thread>

#include "runtime/graph/graph.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {

struct Capture {
  std::unique_ptr<Graph> owned;  // null if the program passed the graph
  Graph* graph = nullptr;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  std::thread::id thread;  // the thread that began the capture
  const Stream* origin = nullptr;
  unsigned long long id = 0;
  bool broken = false;  // a call that cannot be captured has invalidated it
};

// The capture in which the stream takes part; null if there is none.
Capture* capture_of(const Stream& stream);

// Adds the work as a node that depends on the stream's last nodes. Throws Failure if the capture is
// invalid.
void record(Stream& stream, Work work);

// Returns the stream of an entry point's work. Throws Failure for an unknown handle. If the legacy
// default stream would wait for a stream that is being captured, throws Failure and invalidates
// that capture.
Stream& stream_for(Runtime& runtime, cudaStream_t handle);

// For operations that cannot be captured (allocation, synchronisation). If a capture forbids the
// calling thread such an operation now, throws Failure and invalidates the capture.
void refuse_in_capture(Runtime& runtime);
// For operations in the default stream that are complete when they return.
void refuse_in_captured_default(Runtime& runtime);
// For what cannot be captured in this stream: throws Failure and invalidates the stream's capture.
[[noreturn]] void refuse_capture(Stream& stream,
                                 cudaError_t code = cudaErrorStreamCaptureUnsupported);

}  // namespace vgpu::runtime
