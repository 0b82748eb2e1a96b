// SPDX-License-Identifier: Apache-2.0
// Copies of a row of an array, by bytes: two-dimensional copies with one row. CUDA Driver API,
// "Memory Management".
#include "driver/api.hpp"

using namespace vgpu::driver;

namespace {

// One row of an array, from a byte on; the other side is memory or an array, too.
CUDA_MEMCPY2D row_of(std::size_t bytes) {
  CUDA_MEMCPY2D copy{};
  copy.WidthInBytes = bytes;
  copy.Height = 1;
  return copy;
}

CUDA_MEMCPY2D from_array(CUarray array, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY2D copy = row_of(bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = array;
  copy.srcXInBytes = offset;
  return copy;
}

CUDA_MEMCPY2D to_array(CUarray array, std::size_t offset, std::size_t bytes) {
  CUDA_MEMCPY2D copy = row_of(bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.dstXInBytes = offset;
  return copy;
}

}  // namespace

CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY2D copy = from_array(from, offset, bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  return cuMemcpy2D_v2(&copy);
}
VGPU_TWIN(cuMemcpyAtoH_v2, _ptds, 4);

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  CUDA_MEMCPY2D copy = to_array(to, offset, bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  return cuMemcpy2D_v2(&copy);
}
VGPU_TWIN(cuMemcpyHtoA_v2, _ptds, 4);

CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                              CUstream stream) {
  CUDA_MEMCPY2D copy = from_array(from, offset, bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = to;
  return cuMemcpy2DAsync_v2(&copy, stream);
}
VGPU_TWIN(cuMemcpyAtoHAsync_v2, _ptsz, 5);

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                              CUstream stream) {
  CUDA_MEMCPY2D copy = to_array(to, offset, bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = from;
  return cuMemcpy2DAsync_v2(&copy, stream);
}
VGPU_TWIN(cuMemcpyHtoAAsync_v2, _ptsz, 5);

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  CUDA_MEMCPY2D copy = from_array(from, offset, bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = to;
  return cuMemcpy2D_v2(&copy);
}
VGPU_TWIN(cuMemcpyAtoD_v2, _ptds, 4);

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  CUDA_MEMCPY2D copy = to_array(to, offset, bytes);
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = from;
  return cuMemcpy2D_v2(&copy);
}
VGPU_TWIN(cuMemcpyDtoA_v2, _ptds, 4);

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t bytes) {
  CUDA_MEMCPY2D copy = from_array(from, from_offset, bytes);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = to;
  copy.dstXInBytes = to_offset;
  return cuMemcpy2D_v2(&copy);
}
VGPU_TWIN(cuMemcpyAtoA_v2, _ptds, 5);
