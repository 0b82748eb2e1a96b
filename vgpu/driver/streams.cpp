// SPDX-License-Identifier: Apache-2.0
// Streams and events. CUDA Driver API, "Stream Management", "Event Management".
#include "driver/api.hpp"

using namespace vgpu::driver;

namespace {

cudaStreamCaptureMode mode_of(CUstreamCaptureMode mode) {
  return static_cast<cudaStreamCaptureMode>(static_cast<int>(mode));
}

cudaStreamAttrID attribute_of(CUstreamAttrID attribute) {
  return static_cast<cudaStreamAttrID>(static_cast<int>(attribute));
}

}  // namespace

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return with_context(__func__, [&] { return cudaStreamCreateWithFlags(stream, flags); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return with_context(__func__,
                      [&] { return cudaStreamCreateWithPriority(stream, flags, priority); });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return with_driver(__func__, [&] { return cudaStreamDestroy(stream); });
}

CUresult cuStreamDestroy(CUstream stream) { return cuStreamDestroy_v2(stream); }

CUresult cuStreamSynchronize(CUstream stream) {
  return with_context(__func__, [&] { return cudaStreamSynchronize(stream); });
}
VGPU_TWIN(cuStreamSynchronize, _ptsz, 1);

CUresult cuStreamQuery(CUstream stream) {
  return with_context(__func__, [&] { return cudaStreamQuery(stream); });
}
VGPU_TWIN(cuStreamQuery, _ptsz, 1);

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return with_context(__func__, [&] { return cudaStreamWaitEvent(stream, event, flags); });
}
VGPU_TWIN(cuStreamWaitEvent, _ptsz, 3);

CUresult cuStreamGetFlags(CUstream stream, unsigned* flags) {
  return with_context(__func__, [&] { return cudaStreamGetFlags(stream, flags); });
}
VGPU_TWIN(cuStreamGetFlags, _ptsz, 2);

CUresult cuStreamGetPriority(CUstream stream, int* priority) {
  return with_context(__func__, [&] { return cudaStreamGetPriority(stream, priority); });
}
VGPU_TWIN(cuStreamGetPriority, _ptsz, 2);

CUresult cuStreamGetId(CUstream stream, unsigned long long* id) {
  return with_context(__func__, [&] { return cudaStreamGetId(stream, id); });
}
VGPU_TWIN(cuStreamGetId, _ptsz, 2);

CUresult cuStreamGetDevice(CUstream stream, CUdevice* device) {
  return with_context(__func__, [&] { return cudaStreamGetDevice(stream, device); });
}
VGPU_TWIN(cuStreamGetDevice, _ptsz, 2);

CUresult cuStreamGetCtx(CUstream handle, CUcontext* context) {
  return in_context(__func__, [&](Runtime& runtime) {
    const vgpu::runtime::Stream* const stream = runtime.streams.find(handle);
    if (stream == nullptr) return cudaErrorInvalidResourceHandle;
    if (context == nullptr) return cudaErrorInvalidValue;
    const auto* owner =
        stream->context != nullptr ? stream->context : vgpu::runtime::current_context();
    *context = reinterpret_cast<CUcontext>(const_cast<vgpu::runtime::Context*>(owner));
    return cudaSuccess;
  });
}
VGPU_TWIN(cuStreamGetCtx, _ptsz, 2);

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
VGPU_TWIN(cuStreamGetCtx_v2, _ptsz, 3);

CUresult cuStreamSetAttribute(CUstream stream, CUstreamAttrID attribute,
                              const CUstreamAttrValue* value) {
  return with_context(__func__, [&] {
    return cudaStreamSetAttribute(stream, attribute_of(attribute),
                                  same<const cudaStreamAttrValue>(value));
  });
}
VGPU_TWIN(cuStreamSetAttribute, _ptsz, 3);

CUresult cuStreamGetAttribute(CUstream stream, CUstreamAttrID attribute, CUstreamAttrValue* value) {
  return with_context(__func__, [&] {
    return cudaStreamGetAttribute(stream, attribute_of(attribute),
                                  same<cudaStreamAttrValue>(value));
  });
}
VGPU_TWIN(cuStreamGetAttribute, _ptsz, 3);

CUresult cuStreamCopyAttributes(CUstream to, CUstream from) {
  return with_context(__func__, [&] { return cudaStreamCopyAttributes(to, from); });
}
VGPU_TWIN(cuStreamCopyAttributes, _ptsz, 2);

CUresult cuStreamAttachMemAsync(CUstream stream, CUdeviceptr address, size_t bytes,
                                unsigned flags) {
  return with_context(__func__, [&] {
    return cudaStreamAttachMemAsync(stream, pointer_of(address), bytes, flags);
  });
}
VGPU_TWIN(cuStreamAttachMemAsync, _ptsz, 4);

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return with_context(__func__, [&] { return cudaLaunchHostFunc(stream, function, data); });
}
VGPU_TWIN(cuLaunchHostFunc, _ptsz, 3);

// The callback receives the driver's code, which for the errors of a stream is the runtime's number.
CUresult cuStreamAddCallback(CUstream stream, CUstreamCallback callback, void* data,
                             unsigned flags) {
  return with_context(__func__, [&] {
    return cudaStreamAddCallback(stream, reinterpret_cast<cudaStreamCallback_t>(callback), data,
                                 flags);
  });
}
VGPU_TWIN(cuStreamAddCallback, _ptsz, 4);

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return with_context(__func__, [&] { return cudaStreamBeginCapture(stream, mode_of(mode)); });
}
VGPU_TWIN(cuStreamBeginCapture_v2, _ptsz, 2);

CUresult cuStreamBeginCapture(CUstream stream) {
  return cuStreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
VGPU_TWIN(cuStreamBeginCapture, _ptsz, 1);

CUresult cuStreamBeginCaptureToGraph(CUstream stream, CUgraph graph, const CUgraphNode* nodes,
                                     const CUgraphEdgeData* edges, size_t count,
                                     CUstreamCaptureMode mode) {
  return with_context(__func__, [&] {
    return cudaStreamBeginCaptureToGraph(stream, graph, nodes, same<const cudaGraphEdgeData>(edges),
                                         count, mode_of(mode));
  });
}
VGPU_TWIN(cuStreamBeginCaptureToGraph, _ptsz, 6);

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return with_context(__func__, [&] { return cudaStreamEndCapture(stream, graph); });
}
VGPU_TWIN(cuStreamEndCapture, _ptsz, 2);

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return with_context(__func__, [&] {
    return cudaStreamIsCapturing(stream, same<cudaStreamCaptureStatus>(status));
  });
}
VGPU_TWIN(cuStreamIsCapturing, _ptsz, 2);

CUresult cuStreamGetCaptureInfo_v3(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes,
                                   const CUgraphEdgeData** edges, size_t* count) {
  return with_context(__func__, [&] {
    return cudaStreamGetCaptureInfo(stream, same<cudaStreamCaptureStatus>(status),
                                    same<unsigned long long>(id), graph, nodes,
                                    same<const cudaGraphEdgeData*>(edges), count);
  });
}
VGPU_TWIN(cuStreamGetCaptureInfo_v3, _ptsz, 7);

CUresult cuStreamGetCaptureInfo_v2(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id,
                                   CUgraph* graph, const CUgraphNode** nodes, size_t* count) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, graph, nodes, nullptr, count);
}
VGPU_TWIN(cuStreamGetCaptureInfo_v2, _ptsz, 6);

CUresult cuStreamGetCaptureInfo(CUstream stream, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(stream, status, id, nullptr, nullptr, nullptr, nullptr);
}
VGPU_TWIN(cuStreamGetCaptureInfo, _ptsz, 3);

CUresult cuStreamUpdateCaptureDependencies_v2(CUstream stream, CUgraphNode* nodes,
                                              const CUgraphEdgeData* edges, size_t count,
                                              unsigned flags) {
  return with_context(__func__, [&] {
    return cudaStreamUpdateCaptureDependencies(stream, nodes, same<const cudaGraphEdgeData>(edges),
                                               count, flags);
  });
}
VGPU_TWIN(cuStreamUpdateCaptureDependencies_v2, _ptsz, 5);

CUresult cuStreamUpdateCaptureDependencies(CUstream stream, CUgraphNode* nodes, size_t count,
                                           unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(stream, nodes, nullptr, count, flags);
}
VGPU_TWIN(cuStreamUpdateCaptureDependencies, _ptsz, 4);

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  return with_driver(__func__, [&] {
    return cudaThreadExchangeStreamCaptureMode(same<cudaStreamCaptureMode>(mode));
  });
}

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return with_context(__func__, [&] { return cudaEventCreateWithFlags(event, flags); });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return with_context(__func__, [&] { return cudaEventRecord(event, stream); });
}
VGPU_TWIN(cuEventRecord, _ptsz, 2);

CUresult cuEventRecordWithFlags(CUevent event, CUstream stream, unsigned flags) {
  return with_context(__func__, [&] { return cudaEventRecordWithFlags(event, stream, flags); });
}
VGPU_TWIN(cuEventRecordWithFlags, _ptsz, 3);

CUresult cuEventQuery(CUevent event) {
  return with_driver(__func__, [&] { return cudaEventQuery(event); });
}

CUresult cuEventSynchronize(CUevent event) {
  return with_driver(__func__, [&] { return cudaEventSynchronize(event); });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return with_driver(__func__, [&] { return cudaEventDestroy(event); });
}

CUresult cuEventDestroy(CUevent event) { return cuEventDestroy_v2(event); }

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent start, CUevent end) {
  return with_driver(__func__, [&] { return cudaEventElapsedTime(milliseconds, start, end); });
}

CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  return cuEventElapsedTime_v2(milliseconds, start, end);
}
