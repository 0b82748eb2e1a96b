// SPDX-License-Identifier: Apache-2.0
// Copies and fills with checks of the device's bounds.
#pragma once
#include <cstddef>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

// `rows` rows of `width` bytes, `*_pitch` bytes apart. Throws Failure, with the name `function`, if
// the device side is not entirely inside a live allocation.
struct Plane {
  std::size_t width = 0, rows = 1;
  bool empty() const { return width == 0 || rows == 0; }
};
void copy(Runtime& runtime, const char* function, void* to, std::size_t to_pitch, const void* from,
          std::size_t from_pitch, Plane plane, cudaMemcpyKind kind);
void set(Runtime& runtime, const char* function, void* to, std::size_t pitch, int value,
         Plane plane);

void check_kind(cudaMemcpyKind kind);

// The same for CUDA's structures for three-dimensional copies and for fills by elements, behind the
// stream's earlier work.
void submit_copy(Runtime& runtime, Stream& stream, const char* function,
                 const cudaMemcpy3DParms& what);
void submit_set(Runtime& runtime, Stream& stream, const char* function,
                const cudaMemsetParams& what);
// Copies, or adds a node if the stream is being captured. A copy from or to pageable memory, or one
// that is `blocking`, is complete at the return.
void copy_in_stream(Runtime& runtime, cudaStream_t stream, const char* function,
                    const CopyWork& work, bool blocking = false);
// Fills in a stream, or adds a node if the stream is being captured.
void set_in(Runtime& runtime, cudaStream_t stream, const char* function, const SetWork& work);
// Copies as the functions without a stream do: complete on return, unless both sides are device
// memory.
void copy_at_once(Runtime& runtime, const char* function, const CopyWork& work);

// The device address of the bytes [offset, offset + bytes) of a __device__ or __constant__
// variable, by the address of its host shadow variable. Throws Failure.
void* symbol_slice(Runtime& runtime, const void* host_variable, std::size_t offset,
                   std::size_t bytes);

// The same copy between pitched memory, without arrays. Throws Failure if it leaves an array.
cudaMemcpy3DParms without_arrays(const Runtime& runtime, const cudaMemcpy3DParms& what);
// An array as the pitched memory that holds it, for a copy that counts in bytes. Throws Failure if
// the copy leaves the array.
cudaPitchedPtr memory_of_array(const Runtime& runtime, cudaArray_const_t array, const cudaPos& at,
                               const cudaExtent& extent);

}  // namespace vgpu::runtime

// Defines `name` and `nameAsync`, which copy as `work` says, an expression of the parameters and of
// `runtime`.
#define VGPU_COPY_FORMS(name, work, ...)                                                  \
  cudaError_t name(__VA_ARGS__) {                                                         \
    return call([&](Runtime& runtime) { copy_at_once(runtime, #name, CopyWork{work}); }); \
  }                                                                                       \
  cudaError_t name##Async(__VA_ARGS__, cudaStream_t stream) {                             \
    return call([&](Runtime& runtime) {                                                   \
      copy_in_stream(runtime, stream, #name "Async", CopyWork{work});                     \
    });                                                                                   \
  }                                                                                       \
  static_assert(true)
// ... also with the default stream of the calling thread.
#define VGPU_COPY_TWINS(name, work, ...)           \
  VGPU_COPY_FORMS(name, work, __VA_ARGS__);        \
  VGPU_TWIN(name, _ptds, VGPU_COUNT(__VA_ARGS__)); \
  VGPU_TWIN(name##Async, _ptsz, VGPU_COUNT(__VA_ARGS__, stream))
