// SPDX-License-Identifier: Apache-2.0
// Streams and events. CUDA Driver API, "Stream Management", "Event Management".
#include "driver/api.hpp"

using namespace vgpu::driver;

VGPU_WITH_CONTEXT(cuStreamCreate, cudaStreamCreateWithFlags, 2);
VGPU_WITH_CONTEXT(cuStreamCreateWithPriority, cudaStreamCreateWithPriority, 3);
VGPU_WITH_DRIVER(cuStreamDestroy_v2, cudaStreamDestroy, 1);
VGPU_WITH_DRIVER(cuStreamDestroy, cudaStreamDestroy, 1);
VGPU_IN_STREAM(cuStreamSynchronize, cudaStreamSynchronize, 1);
VGPU_IN_STREAM(cuStreamQuery, cudaStreamQuery, 1);
VGPU_IN_STREAM(cuStreamWaitEvent, cudaStreamWaitEvent, 3);
VGPU_IN_STREAM(cuStreamGetFlags, cudaStreamGetFlags, 2);
VGPU_IN_STREAM(cuStreamGetPriority, cudaStreamGetPriority, 2);
VGPU_IN_STREAM(cuStreamGetId, cudaStreamGetId, 2);
VGPU_IN_STREAM(cuStreamGetDevice, cudaStreamGetDevice, 2);

VGPU_IN_CONTEXT_PTSZ(cuStreamGetCtx, CUstream handle, CUcontext* context) {
  const vgpu::runtime::Stream& stream = runtime.streams.known(handle);
  if (context == nullptr) refuse();
  const auto* owner = stream.context != nullptr ? stream.context : vgpu::runtime::current_context();
  *context = reinterpret_cast<CUcontext>(const_cast<vgpu::runtime::Context*>(owner));
}

CUresult cuStreamGetCtx_v2(CUstream stream, CUcontext* context, CUgreenCtx* green) {
  if (green != nullptr) *green = nullptr;
  return cuStreamGetCtx(stream, context);
}
VGPU_TWIN(cuStreamGetCtx_v2, _ptsz, 3);
VGPU_IN_STREAM(cuStreamSetAttribute, cudaStreamSetAttribute, 3);
VGPU_IN_STREAM(cuStreamGetAttribute, cudaStreamGetAttribute, 3);
VGPU_IN_STREAM(cuStreamCopyAttributes, cudaStreamCopyAttributes, 2);
VGPU_IN_STREAM(cuStreamAttachMemAsync, cudaStreamAttachMemAsync, 4);
VGPU_IN_STREAM(cuLaunchHostFunc, cudaLaunchHostFunc, 3);

// The callback receives the driver's error code, which equals the runtime's for all errors of a
// stream.
VGPU_IN_STREAM(cuStreamAddCallback, cudaStreamAddCallback, 4);
VGPU_IN_STREAM(cuStreamBeginCapture_v2, cudaStreamBeginCapture, 2);

VGPU_BY(cuStreamBeginCapture, 1, cuStreamBeginCapture_v2(a0, CU_STREAM_CAPTURE_MODE_GLOBAL));
VGPU_TWIN(cuStreamBeginCapture, _ptsz, 1);
VGPU_IN_STREAM(cuStreamBeginCaptureToGraph, cudaStreamBeginCaptureToGraph, 6);
VGPU_IN_STREAM(cuStreamEndCapture, cudaStreamEndCapture, 2);
VGPU_IN_STREAM(cuStreamIsCapturing, cudaStreamIsCapturing, 2);
VGPU_IN_STREAM(cuStreamGetCaptureInfo_v3, cudaStreamGetCaptureInfo, 7);

VGPU_BY(cuStreamGetCaptureInfo_v2, 6, cuStreamGetCaptureInfo_v3(a0, a1, a2, a3, a4, nullptr, a5));
VGPU_TWIN(cuStreamGetCaptureInfo_v2, _ptsz, 6);

VGPU_BY(cuStreamGetCaptureInfo, 3,
        cuStreamGetCaptureInfo_v3(a0, a1, a2, nullptr, nullptr, nullptr, nullptr));
VGPU_TWIN(cuStreamGetCaptureInfo, _ptsz, 3);
VGPU_IN_STREAM(cuStreamUpdateCaptureDependencies_v2, cudaStreamUpdateCaptureDependencies, 5);

VGPU_BY(cuStreamUpdateCaptureDependencies, 4,
        cuStreamUpdateCaptureDependencies_v2(a0, a1, nullptr, a2, a3));
VGPU_TWIN(cuStreamUpdateCaptureDependencies, _ptsz, 4);
VGPU_WITH_DRIVER(cuThreadExchangeStreamCaptureMode, cudaThreadExchangeStreamCaptureMode, 1);
VGPU_WITH_CONTEXT(cuEventCreate, cudaEventCreateWithFlags, 2);
VGPU_IN_STREAM(cuEventRecord, cudaEventRecord, 2);
VGPU_IN_STREAM(cuEventRecordWithFlags, cudaEventRecordWithFlags, 3);
VGPU_WITH_DRIVER(cuEventQuery, cudaEventQuery, 1);
VGPU_WITH_DRIVER(cuEventSynchronize, cudaEventSynchronize, 1);
VGPU_WITH_DRIVER(cuEventDestroy_v2, cudaEventDestroy, 1);
VGPU_WITH_DRIVER(cuEventDestroy, cudaEventDestroy, 1);
VGPU_WITH_DRIVER(cuEventElapsedTime_v2, cudaEventElapsedTime, 3);
VGPU_WITH_DRIVER(cuEventElapsedTime, cudaEventElapsedTime, 3);
