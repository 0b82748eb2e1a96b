// SPDX-License-Identifier: Apache-2.0
// Copies of a row of an array, by bytes: two-dimensional copies with one row. CUDA Driver API,
// "Memory Management".
#include "driver/api.hpp"

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
