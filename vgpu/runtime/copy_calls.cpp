// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime's calls that copy and fill memory.
#include <cstddef>

#include "runtime/copies.hpp"
#include "runtime/graph/capture.hpp"

using namespace vgpu::runtime;

namespace {

SetWork set_work(void* to, std::size_t pitch, int value, std::size_t width, std::size_t height) {
  return {{to, pitch, static_cast<unsigned>(value) & 255, 1, width, height}};
}

}  // namespace

// Defines `name` and `nameAsync`, which fill as `operation` says, an expression of the parameters
// and of `runtime`, `stream` and `function`, the name; also with the calling thread's default
// stream.
#define VGPU_FILL_FORMS(name, operation, ...)                 \
  cudaError_t name(__VA_ARGS__) {                             \
    return call([&](Runtime& runtime) {                       \
      const char* const function = #name;                     \
      constexpr cudaStream_t stream = kDefaultStream;         \
      refuse_in_captured_default(runtime);                    \
      operation;                                              \
    });                                                       \
  }                                                           \
  cudaError_t name##Async(__VA_ARGS__, cudaStream_t stream) { \
    return call([&](Runtime& runtime) {                       \
      const char* const function = #name "Async";             \
      operation;                                              \
    });                                                       \
  }                                                           \
  VGPU_TWIN(name, _ptds, VGPU_COUNT(__VA_ARGS__));            \
  VGPU_TWIN(name##Async, _ptsz, VGPU_COUNT(__VA_ARGS__, stream))

VGPU_COPY_TWINS(cudaMemcpy, copy_work(to, bytes, from, bytes, bytes, 1, kind), void* to,
                const void* from, size_t bytes, cudaMemcpyKind kind);

static CopyWork rectangle(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                          std::size_t width, std::size_t height, cudaMemcpyKind kind) {
  check_kind(kind);
  return copy_work(to, to_pitch, from, from_pitch, width, height, kind);
}

static CopyWork between_peers(const Runtime& runtime, void* to, int to_device, const void* from,
                              int from_device, std::size_t bytes) {
  if (!runtime.has_device(to_device) || !runtime.has_device(from_device))
    refuse(cudaErrorInvalidDevice);
  return copy_work(to, bytes, from, bytes, bytes, 1, cudaMemcpyDeviceToDevice);
}

VGPU_COPY_TWINS(cudaMemcpy2D, rectangle(to, to_pitch, from, from_pitch, width, height, kind),
                void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                size_t height, cudaMemcpyKind kind);

VGPU_COPY_FORMS(cudaMemcpyPeer, between_peers(runtime, to, to_device, from, from_device, bytes),
                void* to, int to_device, const void* from, int from_device, size_t bytes);

VGPU_FILL_FORMS(cudaMemset, set_in(runtime, stream, function, set_work(to, bytes, value, bytes, 1)),
                void* to, int value, size_t bytes);

VGPU_FILL_FORMS(cudaMemset2D,
                set_in(runtime, stream, function, set_work(to, pitch, value, width, height)),
                void* to, size_t pitch, int value, size_t width, size_t height);

// Uses the memory's own pitch. A three-dimensional fill is a sequence of two-dimensional fills.
static void set_3d(Runtime& runtime, cudaStream_t stream, const char* function,
                   const cudaPitchedPtr& memory, int value, const cudaExtent& extent) {
  for (std::size_t z = 0; z < extent.depth; ++z) {
    auto* start = static_cast<std::byte*>(memory.ptr) + z * memory.ysize * memory.pitch;
    set_in(runtime, stream, function,
           set_work(start, memory.pitch, value, extent.width, extent.height));
  }
}

VGPU_FILL_FORMS(cudaMemset3D, set_3d(runtime, stream, function, memory, value, extent),
                cudaPitchedPtr memory, int value, cudaExtent extent);

static CopyWork box(const cudaMemcpy3DParms* what) {
  if (what == nullptr) refuse();
  return {*what};
}

static CopyWork between_peers(const Runtime& runtime, const cudaMemcpy3DPeerParms* what) {
  if (what == nullptr) refuse();
  if (!runtime.has_device(what->srcDevice) || !runtime.has_device(what->dstDevice))
    refuse(cudaErrorInvalidDevice);
  return {{what->srcArray, what->srcPos, what->srcPtr, what->dstArray, what->dstPos, what->dstPtr,
           what->extent, cudaMemcpyDeviceToDevice}};
}

VGPU_COPY_TWINS(cudaMemcpy3D, box(what), const cudaMemcpy3DParms* what);
VGPU_COPY_TWINS(cudaMemcpy3DPeer, between_peers(runtime, what), const cudaMemcpy3DPeerParms* what);
