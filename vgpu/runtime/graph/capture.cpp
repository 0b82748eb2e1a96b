// SPDX-License-Identifier: Apache-2.0
#include "runtime/graph/capture.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace vgpu::runtime {
namespace {

unsigned long long next_id = 1;

cudaStreamCaptureMode& thread_mode() {
  thread_local cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  return mode;
}

// The nodes on which no other node depends.
std::set<const Node*> ends(const Graph& graph) {
  std::set<const Node*> result;
  for (const auto& node : graph.nodes) result.insert(node.get());
  for (const auto& node : graph.nodes) {
    for (const Node* need : node->needs) result.erase(need);
  }
  return result;
}

}  // namespace

Capture* capture_of(const Stream& stream) { return stream.capture.get(); }

void refuse_capture(Stream& stream, cudaError_t code) {
  if (stream.capture != nullptr) stream.capture->broken = true;
  refuse(code);
}

void record(Stream& stream, Work work) {
  if (stream.capture->broken) refuse(cudaErrorStreamCaptureInvalidated);
  Node* const node = add_node(*stream.capture->graph, std::move(work), stream.last);
  stream.last = {node};
}

// Calls `use` for every capturing stream for which the legacy default stream would wait.
template <class Use>
static void for_each_implied(Runtime& runtime, cudaStream_t handle, Use use) {
  if (resolved(handle) != cudaStreamLegacy) return;
  runtime.streams.for_each([&](Stream& other) {
    if (other.capture != nullptr && (other.flags & cudaStreamNonBlocking) == 0) use(other);
  });
}

// Finds the stream for queries of its capture, which do not invalidate a capture.
static const Stream& asked_stream(Runtime& runtime, cudaStream_t handle) {
  const Stream& stream = runtime.streams.known(handle);
  for_each_implied(runtime, handle, [](Stream&) { refuse(cudaErrorStreamCaptureImplicit); });
  return stream;
}

Stream& stream_for(Runtime& runtime, cudaStream_t handle) {
  Stream& stream = runtime.streams.known(handle);
  bool implicit = false;
  for_each_implied(runtime, handle,
                   [&](Stream& other) { other.capture->broken = implicit = true; });
  if (implicit) refuse(cudaErrorStreamCaptureImplicit);
  return stream;
}

void refuse_in_captured_default(Runtime& runtime) {
  Stream& stream = stream_for(runtime, kDefaultStream);
  if (capture_of(stream) != nullptr) refuse_capture(stream);
}

void refuse_in_capture(Runtime& runtime) {
  if (thread_mode() == cudaStreamCaptureModeRelaxed) return;
  bool refused = false;
  runtime.streams.for_each([&](Stream& stream) {
    Capture* const capture = stream.capture.get();
    if (capture == nullptr || capture->mode == cudaStreamCaptureModeRelaxed) return;
    const bool own = capture->thread == std::this_thread::get_id();
    const bool global = capture->mode == cudaStreamCaptureModeGlobal &&
                        thread_mode() == cudaStreamCaptureModeGlobal;
    if (own || global) capture->broken = refused = true;
  });
  if (refused) refuse(cudaErrorStreamCaptureUnsupported);
}

static void begin(Runtime& runtime, cudaStream_t handle, std::shared_ptr<Capture> capture,
                  cudaStreamCaptureMode mode, std::vector<Node*> after) {
  Stream& stream = runtime.streams.known(handle);
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) refuse();
  if (resolved(handle) == cudaStreamLegacy) refuse(cudaErrorStreamCaptureUnsupported);
  if (stream.capture != nullptr) refuse(cudaErrorIllegalState);
  capture->mode = mode;
  capture->thread = std::this_thread::get_id();
  capture->origin = &stream;
  capture->id = next_id++;
  runtime.graphs.add(capture->graph);
  stream.capture = std::move(capture);
  stream.last = std::move(after);
}

// Removes all streams from the capture.
static void leave(Runtime& runtime, const std::shared_ptr<Capture>& capture) {
  runtime.streams.for_each([&](Stream& stream) {
    if (stream.capture != capture) return;
    stream.capture = nullptr;
    stream.last.clear();
  });
  runtime.graphs.remove(capture->graph);
}

// Whether the work of all other streams was joined to the origin stream.
static bool joined(Runtime& runtime, const Capture& capture) {
  std::set<const Node*> open = ends(*capture.graph);
  bool all = true;
  runtime.streams.for_each([&](const Stream& stream) {
    if (stream.capture.get() != &capture || &stream == capture.origin) return;
    for (const Node* node : stream.last) {
      const auto& end = capture.origin->last;
      if (open.contains(node) && std::ranges::find(end, node) == end.end()) all = false;
    }
  });
  return all;
}

static void end(Runtime& runtime, cudaStream_t handle, cudaGraph_t* graph) {
  Stream* stream = runtime.streams.find(handle);
  const std::shared_ptr<Capture> capture = stream != nullptr ? stream->capture : nullptr;
  // A capture into the caller's own graph need not return it.
  const bool callers = capture != nullptr && capture->owned == nullptr;
  if (graph == nullptr && !callers) refuse();
  if (graph != nullptr) *graph = nullptr;
  if (stream == nullptr) refuse(cudaErrorInvalidResourceHandle);
  if (capture == nullptr) refuse(cudaErrorIllegalState);
  if (capture->origin != stream) refuse_capture(*stream, cudaErrorStreamCaptureUnmatched);
  if (capture->mode != cudaStreamCaptureModeRelaxed &&
      capture->thread != std::this_thread::get_id())
    refuse(cudaErrorStreamCaptureWrongThread);
  const bool whole = joined(runtime, *capture);
  leave(runtime, capture);
  if (capture->broken) refuse(cudaErrorStreamCaptureInvalidated);
  if (!whole) refuse(cudaErrorStreamCaptureUnjoined);
  if (graph == nullptr) return;
  *graph = callers ? handle_of(capture->graph) : runtime.graphs.keep(std::move(capture->owned));
}

static cudaStreamCaptureStatus status_of(const Stream& stream) {
  if (stream.capture == nullptr) return cudaStreamCaptureStatusNone;
  return stream.capture->broken ? cudaStreamCaptureStatusInvalidated
                                : cudaStreamCaptureStatusActive;
}
}  // namespace vgpu::runtime

using namespace vgpu::runtime;

VGPU_CALL_PTSZ(cudaStreamBeginCapture, cudaStream_t stream, cudaStreamCaptureMode mode) {
  auto capture = std::make_shared<Capture>();
  capture->owned = std::make_unique<Graph>();
  capture->graph = capture->owned.get();
  begin(runtime, stream, std::move(capture), mode, {});
}

VGPU_CALL_PTSZ(cudaStreamBeginCaptureToGraph, cudaStream_t stream, cudaGraph_t graph,
               const cudaGraphNode_t* dependencies, const cudaGraphEdgeData*, size_t count,
               cudaStreamCaptureMode mode) {
  Graph* found = runtime.graphs.find(graph);
  if (found == nullptr || (dependencies == nullptr && count != 0)) refuse();
  auto capture = std::make_shared<Capture>();
  capture->graph = found;
  std::vector<Node*> after;
  for (std::size_t i = 0; i < count; ++i) {
    after.push_back(runtime.graphs.find(dependencies[i]));
    if (after.back() == nullptr || after.back()->graph != found) refuse();
  }
  begin(runtime, stream, std::move(capture), mode, std::move(after));
}

VGPU_CALL_PTSZ(cudaStreamEndCapture, cudaStream_t stream, cudaGraph_t* graph) {
  end(runtime, stream, graph);
}

VGPU_CALL_PTSZ(cudaStreamIsCapturing, cudaStream_t handle, cudaStreamCaptureStatus* status) {
  if (status == nullptr) refuse();
  const Stream& stream = asked_stream(runtime, handle);
  *status = status_of(stream);
}

VGPU_CALL_PTSZ(cudaStreamGetCaptureInfo, cudaStream_t handle, cudaStreamCaptureStatus* status,
               unsigned long long* id, cudaGraph_t* graph, const cudaGraphNode_t** dependencies,
               const cudaGraphEdgeData** edges, size_t* count) {
  if (status == nullptr) refuse();
  const Stream& stream = asked_stream(runtime, handle);
  *status = status_of(stream);
  if (*status != cudaStreamCaptureStatusActive) return;
  if (id != nullptr) *id = stream.capture->id;
  if (graph != nullptr) *graph = handle_of(stream.capture->graph);
  // A node's handle is its address.
  if (dependencies != nullptr)
    *dependencies = reinterpret_cast<const cudaGraphNode_t*>(stream.last.data());
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = stream.last.size();
}

VGPU_CALL_PTSZ(cudaStreamUpdateCaptureDependencies, cudaStream_t handle,
               cudaGraphNode_t* dependencies, const cudaGraphEdgeData*, size_t count,
               unsigned flags) {
  Stream& stream = runtime.streams.known(handle);
  if (flags > cudaStreamSetCaptureDependencies || (dependencies == nullptr && count != 0)) refuse();
  if (status_of(stream) != cudaStreamCaptureStatusActive) refuse(cudaErrorIllegalState);
  std::vector<Node*> nodes;
  if (flags == cudaStreamAddCaptureDependencies) nodes = stream.last;
  for (std::size_t i = 0; i < count; ++i) {
    nodes.push_back(runtime.graphs.find(dependencies[i]));
    if (nodes.back() == nullptr) refuse();
  }
  stream.last = std::move(nodes);
}

VGPU_CALL(cudaThreadExchangeStreamCaptureMode, cudaStreamCaptureMode* mode) {
  if (mode == nullptr || *mode < cudaStreamCaptureModeGlobal ||
      *mode > cudaStreamCaptureModeRelaxed)
    refuse();
  std::swap(*mode, thread_mode());
}
