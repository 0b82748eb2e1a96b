// SPDX-License-Identifier: Apache-2.0
// Copies and fills. CUDA Driver API, "Memory Management". The forms without "Async" wait on the
// legacy default stream.
#include <algorithm>

#include "driver/structures.hpp"
#include "runtime/copies.hpp"

namespace vgpu::driver {
namespace {

// One side of a copy, of the structures for two and for three dimensions.
struct Side {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  std::size_t x, y, z, pitch, height;
};

void* start_of(const Side& side) {
  switch (side.type) {
    case CU_MEMORYTYPE_HOST: return const_cast<void*>(side.host);
    case CU_MEMORYTYPE_DEVICE:
    case CU_MEMORYTYPE_UNIFIED: return pointer_of(side.device);
    default: refuse();
  }
}

cudaMemcpyKind kind_of(CUmemorytype from, CUmemorytype to) {
  if (from == CU_MEMORYTYPE_UNIFIED || to == CU_MEMORYTYPE_UNIFIED) return cudaMemcpyDefault;
  if (from == CU_MEMORYTYPE_HOST)
    return to == CU_MEMORYTYPE_HOST ? cudaMemcpyHostToHost : cudaMemcpyHostToDevice;
  return to == CU_MEMORYTYPE_HOST ? cudaMemcpyDeviceToHost : cudaMemcpyDeviceToDevice;
}

// Without a pitch rows are contiguous, and without a height planes are.
cudaPitchedPtr memory_of(const Side& side, const cudaExtent& extent) {
  const std::size_t pitch = side.pitch == 0 ? side.x + extent.width : side.pitch;
  const std::size_t height = side.height == 0 ? side.y + extent.height : side.height;
  if (extent.height > 1 && side.x + extent.width > pitch) refuse();
  return {start_of(side), pitch, pitch, height};
}

// Whether the copy has parts of an array's elements.
bool divides_elements(const Side& side, const cudaExtent& extent) {
  if (side.type != CU_MEMORYTYPE_ARRAY) return false;
  if (side.array == nullptr) refuse();
  const std::size_t element = element_bytes(side.array);
  return side.x % element != 0 || extent.width % element != 0;
}

// Where an array takes part, the runtime counts the width, and positions in arrays, in elements
// instead of bytes.
cudaMemcpy3DParms parameters_of(const Side& from, const Side& to, const cudaExtent& extent) {
  cudaMemcpy3DParms what{};
  what.extent = extent;
  what.srcPos = {from.x, from.y, from.z};
  what.dstPos = {to.x, to.y, to.z};
  what.kind = kind_of(from.type, to.type);
  std::size_t element = 1;
  const bool in_bytes = divides_elements(from, extent) || divides_elements(to, extent);
  const auto place = [&](const Side& side, cudaArray_t& array, cudaPos& at,
                         cudaPitchedPtr& memory) {
    if (side.type != CU_MEMORYTYPE_ARRAY) {
      memory = memory_of(side, extent);
      return;
    }
    if (in_bytes) {
      memory = vgpu::runtime::memory_of_array(Runtime::get(), array_of(side.array), at, extent);
      return;
    }
    element = element_bytes(side.array);
    array = array_of(side.array);
    at.x /= element;
  };
  place(from, what.srcArray, what.srcPos, what.srcPtr);
  place(to, what.dstArray, what.dstPos, what.dstPtr);
  what.extent.width /= element;
  return what;
}

}  // namespace

cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D& copy) {
  return parameters_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray,
                        copy.srcXInBytes, copy.srcY, copy.srcZ, copy.srcPitch, copy.srcHeight},
                       {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray,
                        copy.dstXInBytes, copy.dstY, copy.dstZ, copy.dstPitch, copy.dstHeight},
                       {copy.WidthInBytes, copy.Height, copy.Depth});
}

cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY2D& copy) {
  return parameters_of({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray,
                        copy.srcXInBytes, copy.srcY, 0, copy.srcPitch, 0},
                       {copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray,
                        copy.dstXInBytes, copy.dstY, 0, copy.dstPitch, 0},
                       {copy.WidthInBytes, copy.Height, 1});
}

CUDA_MEMCPY3D copy_of(const cudaMemcpy3DParms& what) {
  CUDA_MEMCPY3D copy{};
  const bool unified = what.kind == cudaMemcpyDefault;
  const bool from_host = what.kind == cudaMemcpyHostToHost || what.kind == cudaMemcpyHostToDevice;
  const bool to_host = what.kind == cudaMemcpyHostToHost || what.kind == cudaMemcpyDeviceToHost;
  copy.srcMemoryType = unified     ? CU_MEMORYTYPE_UNIFIED
                       : from_host ? CU_MEMORYTYPE_HOST
                                   : CU_MEMORYTYPE_DEVICE;
  copy.dstMemoryType = unified   ? CU_MEMORYTYPE_UNIFIED
                       : to_host ? CU_MEMORYTYPE_HOST
                                 : CU_MEMORYTYPE_DEVICE;
  if (from_host) copy.srcHost = what.srcPtr.ptr;
  if (!from_host) copy.srcDevice = address_of(what.srcPtr.ptr);
  if (to_host) copy.dstHost = what.dstPtr.ptr;
  if (!to_host) copy.dstDevice = address_of(what.dstPtr.ptr);
  const auto give_array = [&](cudaArray_t from, CUmemorytype& type, CUarray& array) {
    if (from == nullptr) return std::size_t{1};
    type = CU_MEMORYTYPE_ARRAY;
    array = reinterpret_cast<CUarray>(from);
    return element_bytes(array);
  };
  const std::size_t from_element = give_array(what.srcArray, copy.srcMemoryType, copy.srcArray);
  const std::size_t to_element = give_array(what.dstArray, copy.dstMemoryType, copy.dstArray);
  copy.srcXInBytes = what.srcPos.x * from_element;
  copy.srcY = what.srcPos.y;
  copy.srcZ = what.srcPos.z;
  copy.srcPitch = what.srcPtr.pitch;
  copy.srcHeight = what.srcPtr.ysize;
  copy.dstXInBytes = what.dstPos.x * to_element;
  copy.dstY = what.dstPos.y;
  copy.dstZ = what.dstPos.z;
  copy.dstPitch = what.dstPtr.pitch;
  copy.dstHeight = what.dstPtr.ysize;
  copy.WidthInBytes = what.extent.width * std::max(from_element, to_element);
  copy.Height = what.extent.height;
  copy.Depth = what.extent.depth;
  return copy;
}

// Between contexts; memory is accessible from all.
static cudaMemcpy3DParms parameters_of(const CUDA_MEMCPY3D_PEER& peer) {
  CUDA_MEMCPY3D copy = *same<const CUDA_MEMCPY3D>(&peer);
  copy.reserved0 = copy.reserved1 = nullptr;
  return driver::parameters_of(copy);
}

}  // namespace vgpu::driver

using namespace vgpu::driver;

namespace {

// One side of a copy: host or device memory, or an array from a byte on.
struct Place {
  Place(const void* at) : type(CU_MEMORYTYPE_HOST), host(const_cast<void*>(at)) {}
  Place(CUdeviceptr at) : type(CU_MEMORYTYPE_DEVICE), device(at) {}
  Place(CUarray of, std::size_t from) : type(CU_MEMORYTYPE_ARRAY), array(of), offset(from) {}

  CUmemorytype type;
  void* host = nullptr;
  CUdeviceptr device = 0;
  CUarray array = nullptr;
  std::size_t offset = 0;
};

CUDA_MEMCPY2D row(const Place& to, const Place& from, std::size_t bytes) {
  return {from.offset, 0, from.type, from.host, from.device, from.array, 0,  //
          to.offset,   0, to.type,   to.host,   to.device,   to.array,   0,  //
          bytes,       1};
}

CUresult at_once(const Place& to, const Place& from, std::size_t bytes) {
  const CUDA_MEMCPY2D copy = row(to, from, bytes);
  return cuMemcpy2D_v2(&copy);
}

CUresult in_stream(const Place& to, const Place& from, std::size_t bytes, CUstream stream) {
  const CUDA_MEMCPY2D copy = row(to, from, bytes);
  return cuMemcpy2DAsync_v2(&copy, stream);
}

}  // namespace

// Calls use(the copy's parameters); the structure may be null or refused.
template <class Copy, class Use>
static CUresult with_parameters(const char* name, const Copy* copy, Use use) {
  return with_context(name, [&] {
    cudaMemcpy3DParms what{};
    require(vgpu::runtime::call([&](Runtime&) {
      if (copy == nullptr) refuse();
      what = parameters_of(*copy);
    }));
    return use(what);
  });
}

// Copies of bytes, at once and in a stream.
#define VGPU_COPY(at_once, in_stream, To, From, kind)                                             \
  CUresult at_once(To to, From from, size_t bytes) {                                              \
    return with_context(__func__, [&] {                                                           \
      return cudaMemcpy(as_argument<void*>(to), as_argument<const void*>(from), bytes, kind);     \
    });                                                                                           \
  }                                                                                               \
  VGPU_TWIN(at_once, _ptds, 3);                                                                   \
  CUresult in_stream(To to, From from, size_t bytes, CUstream stream) {                           \
    return with_context(__func__, [&] {                                                           \
      return cudaMemcpyAsync(as_argument<void*>(to), as_argument<const void*>(from), bytes, kind, \
                             stream);                                                             \
    });                                                                                           \
  }                                                                                               \
  VGPU_TWIN(in_stream, _ptsz, 4)
VGPU_COPY(cuMemcpy, cuMemcpyAsync, CUdeviceptr, CUdeviceptr, cudaMemcpyDefault);
VGPU_COPY(cuMemcpyHtoD_v2, cuMemcpyHtoDAsync_v2, CUdeviceptr, const void*, cudaMemcpyHostToDevice);
VGPU_COPY(cuMemcpyDtoH_v2, cuMemcpyDtoHAsync_v2, void*, CUdeviceptr, cudaMemcpyDeviceToHost);
VGPU_COPY(cuMemcpyDtoD_v2, cuMemcpyDtoDAsync_v2, CUdeviceptr, CUdeviceptr,
          cudaMemcpyDeviceToDevice);

VGPU_WITHOUT_LOCK_PTDS(cuMemcpyPeer, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                       size_t bytes) {
  require(cudaMemcpy(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice));
}

VGPU_WITHOUT_LOCK_PTSZ(cuMemcpyPeerAsync, CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext,
                       size_t bytes, CUstream stream) {
  require(
      cudaMemcpyAsync(pointer_of(to), pointer_of(from), bytes, cudaMemcpyDeviceToDevice, stream));
}

// Copies by a structure.
#define VGPU_COPY_BY(at_once, in_stream, Copy)                                                 \
  CUresult at_once(const Copy* copy) {                                                         \
    return with_parameters(__func__, copy,                                                     \
                           [](const cudaMemcpy3DParms& what) { return cudaMemcpy3D(&what); }); \
  }                                                                                            \
  VGPU_TWIN(at_once, _ptds, 1);                                                                \
  CUresult in_stream(const Copy* copy, CUstream stream) {                                      \
    return with_parameters(__func__, copy, [&](const cudaMemcpy3DParms& what) {                \
      return cudaMemcpy3DAsync(&what, stream);                                                 \
    });                                                                                        \
  }                                                                                            \
  VGPU_TWIN(in_stream, _ptsz, 2)
VGPU_COPY_BY(cuMemcpy2D_v2, cuMemcpy2DAsync_v2, CUDA_MEMCPY2D);
VGPU_COPY_BY(cuMemcpy3D_v2, cuMemcpy3DAsync_v2, CUDA_MEMCPY3D);
VGPU_COPY_BY(cuMemcpy3DPeer, cuMemcpy3DPeerAsync, CUDA_MEMCPY3D_PEER);

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) {
  return with_parameters(__func__, copy,
                         [](const cudaMemcpy3DParms& what) { return cudaMemcpy3D(&what); });
}
VGPU_TWIN(cuMemcpy2DUnaligned_v2, _ptds, 1);

// `width` and `pitch` count elements of `size` bytes and bytes; elements and rows must be aligned
// to an element.
static CUresult set(const char* name, CUdeviceptr to, std::size_t pitch, unsigned value,
                    unsigned size, std::size_t width, std::size_t height, CUstream stream) {
  return in_context(name, [&](Runtime& runtime) {
    std::size_t bytes = 0;
    if (to % size != 0 || (height > 1 && pitch % size != 0) ||
        __builtin_mul_overflow(width, std::size_t{size}, &bytes))
      refuse();
    vgpu::runtime::set_in(
        runtime, stream, name,
        {{pointer_of(to), height > 1 ? pitch : bytes, value, size, width, height}});
  });
}

// The twelve forms of a fill: by the size of an element, of a row or a plane, at once or in a
// stream.
#define VGPU_MEMSET(bits, type)                                                                \
  CUresult cuMemsetD##bits##_v2(CUdeviceptr to, type value, size_t count) {                    \
    return set(__func__, to, 0, value, (bits) / 8, count, 1, nullptr);                         \
  }                                                                                            \
  VGPU_TWIN(cuMemsetD##bits##_v2, _ptds, 3);                                                   \
  CUresult cuMemsetD##bits##Async(CUdeviceptr to, type value, size_t count, CUstream stream) { \
    return set(__func__, to, 0, value, (bits) / 8, count, 1, stream);                          \
  }                                                                                            \
  VGPU_TWIN(cuMemsetD##bits##Async, _ptsz, 4);                                                 \
  CUresult cuMemsetD2D##bits##_v2(CUdeviceptr to, size_t pitch, type value, size_t width,      \
                                  size_t height) {                                             \
    return set(__func__, to, pitch, value, (bits) / 8, width, height, nullptr);                \
  }                                                                                            \
  VGPU_TWIN(cuMemsetD2D##bits##_v2, _ptds, 5);                                                 \
  CUresult cuMemsetD2D##bits##Async(CUdeviceptr to, size_t pitch, type value, size_t width,    \
                                    size_t height, CUstream stream) {                          \
    return set(__func__, to, pitch, value, (bits) / 8, width, height, stream);                 \
  }                                                                                            \
  VGPU_TWIN(cuMemsetD2D##bits##Async, _ptsz, 6)

VGPU_MEMSET(8, unsigned char);
VGPU_MEMSET(16, unsigned short);
VGPU_MEMSET(32, unsigned);

VGPU_BY(cuMemcpyAtoH_v2, 4, at_once({a0}, {a1, a2}, a3));
VGPU_TWIN(cuMemcpyAtoH_v2, _ptds, 4);
VGPU_BY(cuMemcpyHtoA_v2, 4, at_once({a0, a1}, {a2}, a3));
VGPU_TWIN(cuMemcpyHtoA_v2, _ptds, 4);
VGPU_BY(cuMemcpyAtoHAsync_v2, 5, in_stream({a0}, {a1, a2}, a3, a4));
VGPU_TWIN(cuMemcpyAtoHAsync_v2, _ptsz, 5);
VGPU_BY(cuMemcpyHtoAAsync_v2, 5, in_stream({a0, a1}, {a2}, a3, a4));
VGPU_TWIN(cuMemcpyHtoAAsync_v2, _ptsz, 5);
VGPU_BY(cuMemcpyAtoD_v2, 4, at_once({a0}, {a1, a2}, a3));
VGPU_TWIN(cuMemcpyAtoD_v2, _ptds, 4);
VGPU_BY(cuMemcpyDtoA_v2, 4, at_once({a0, a1}, {a2}, a3));
VGPU_TWIN(cuMemcpyDtoA_v2, _ptds, 4);
VGPU_BY(cuMemcpyAtoA_v2, 5, at_once({a0, a1}, {a2, a3}, a4));
VGPU_TWIN(cuMemcpyAtoA_v2, _ptds, 5);
