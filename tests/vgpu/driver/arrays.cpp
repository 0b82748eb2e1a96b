// SPDX-License-Identifier: Apache-2.0
// arrays PTX: arrays with their copies, and kernels that read a texture and write a surface.
#include <array>
#include <cstring>

#include "require.hpp"

namespace {

constexpr unsigned kWidth = 8, kHeight = 4;
using Image = std::array<float, kWidth * kHeight>;

CUDA_MEMCPY2D upload(CUarray array, const Image& host) {
  CUDA_MEMCPY2D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.srcPitch = kWidth * sizeof(float);
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = array;
  copy.WidthInBytes = kWidth * sizeof(float);
  copy.Height = kHeight;
  return copy;
}

void check_copies(CUarray array, const Image& host) {
  Image found{};
  CUDA_MEMCPY2D down{};
  down.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  down.srcArray = array;
  down.srcXInBytes = 2 * sizeof(float);
  down.srcY = 1;
  down.dstMemoryType = CU_MEMORYTYPE_HOST;
  down.dstHost = found.data();
  down.dstPitch = kWidth * sizeof(float);
  down.WidthInBytes = 3 * sizeof(float);
  down.Height = 2;
  CHECK(cuMemcpy2D(&down));
  require(found[0] == host[kWidth + 2] && found[2] == host[kWidth + 4] && found[3] == 0 &&
              found[kWidth + 1] == host[2 * kWidth + 3],
          "a part of an array");
  const Image before = found;
  down.WidthInBytes = 5;  // no whole elements
  down.srcXInBytes = 5 * sizeof(float);
  CHECK(cuMemcpy2D(&down));
  require(found[0] == host[kWidth + 5] && std::memcmp(&found[1], &host[kWidth + 6], 1) == 0 &&
              std::memcmp(reinterpret_cast<char*>(&found[1]) + 1,
                          reinterpret_cast<const char*>(&before[1]) + 1, 3) == 0,
          "a part of an element");
  std::array<float, 2> row{};
  CHECK(cuMemcpyAtoH(row.data(), array, 4 * sizeof(float), sizeof row));
  require(row[0] == host[4] && row[1] == host[5], "a row of an array");

  // Two texels by each of the ways, from one to the next; then what was there before.
  CUdeviceptr memory = 0;
  CHECK(cuMemAlloc(&memory, 2 * sizeof(float)));
  const std::array<float, 2> sent{50, 60};
  constexpr std::size_t kTexel = sizeof(float), kBoth = 2 * kTexel;
  CHECK(cuMemcpyHtoA(array, kTexel, sent.data(), kBoth));
  CHECK(cuMemcpyAtoA(array, 3 * kTexel, array, kTexel, kBoth));
  CHECK(cuMemcpyAtoD(memory, array, 3 * kTexel, kBoth));
  CHECK(cuMemcpyDtoA(array, 5 * kTexel, memory, kBoth));
  CHECK(cuMemcpyAtoHAsync(row.data(), array, 5 * kTexel, kBoth, nullptr));
  CHECK(cuStreamSynchronize(nullptr));
  require(row == sent, "a row from host to array to array to device to array to host");
  CHECK(cuMemcpyHtoAAsync(array, kTexel, &host[1], 6 * kTexel, nullptr));
  CHECK(cuStreamSynchronize(nullptr));
  CHECK(cuMemcpyAtoH(row.data(), array, 5 * kTexel, kBoth));
  require(row[0] == host[5] && row[1] == host[6], "the row as before");
  CHECK(cuMemFree(memory));
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2, "usage: arrays PTX");
  const std::string ptx = read_file(argv[1]);
  start();
  CUDA_ARRAY3D_DESCRIPTOR wanted{
      kWidth, kHeight, 0, CU_AD_FORMAT_FLOAT, 1, CUDA_ARRAY3D_SURFACE_LDST};
  CUDA_ARRAY3D_DESCRIPTOR found{};
  CUarray array = nullptr, none = nullptr;
  CHECK(cuArray3DCreate(&array, &wanted));
  CHECK(cuArray3DGetDescriptor(&found, array));
  require(found.Width == kWidth && found.Height == kHeight && found.Format == CU_AD_FORMAT_FLOAT &&
              found.NumChannels == 1 && found.Flags == CUDA_ARRAY3D_SURFACE_LDST,
          "an array's descriptor");
  wanted.NumChannels = 3;
  EXPECT(ERROR_INVALID_VALUE, cuArray3DCreate(&none, &wanted));
  ROBUST(ERROR_INVALID_VALUE, cuArray3DCreate(&none, nullptr));
  Image host{};
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<float>(i);
  const CUDA_MEMCPY2D up = upload(array, host);
  CHECK(cuMemcpy2D(&up));
  check_copies(array, host);

  CUDA_RESOURCE_DESC resource{};
  resource.resType = CU_RESOURCE_TYPE_ARRAY;
  resource.res.array.hArray = array;
  CUDA_TEXTURE_DESC how{};
  how.addressMode[0] = how.addressMode[1] = CU_TR_ADDRESS_MODE_CLAMP;
  how.filterMode = CU_TR_FILTER_MODE_LINEAR;
  CUtexObject texture = 0;
  CUsurfObject surface = 0;
  ROBUST(ERROR_INVALID_VALUE, cuTexObjectCreate(&texture, nullptr, &how, nullptr));
  CHECK(cuTexObjectCreate(&texture, &resource, &how, nullptr));
  CHECK(cuSurfObjectCreate(&surface, &resource));
  CUmodule module = nullptr;
  CUdeviceptr out = 0;
  const CUfunction sample = load_kernel(module, ptx.c_str(), "sample");
  CHECK(cuMemAlloc(&out, 3 * sizeof(float)));
  void* arguments[] = {&texture, &surface, &out};
  CHECK(cuLaunchKernel(sample, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  float values[3];
  CHECK(cuMemcpyDtoH(values, out, sizeof values));
  require(values[0] == 2 && values[1] == 2.5F && values[2] == kWidth - 1, "filtered texels");
  float stored = 0;
  CHECK(cuMemcpyAtoH(&stored, array, sizeof(float), sizeof stored));
  require(stored == 100, "what a kernel wrote to the surface");
  CHECK(cuTexObjectDestroy(texture));
  CHECK(cuSurfObjectDestroy(surface));

  // Bytes are read as numbers from 0 to 1, unless a flag says otherwise.
  CUdeviceptr bytes = 0;
  CHECK(cuMemAlloc(&bytes, 256));
  CHECK(cuMemsetD8(bytes, 255, 256));
  CUDA_RESOURCE_DESC linear{};
  linear.resType = CU_RESOURCE_TYPE_PITCH2D;
  linear.res.pitch2D = {bytes, CU_AD_FORMAT_UNSIGNED_INT8, 1, 8, 8, 32};
  how.filterMode = CU_TR_FILTER_MODE_POINT;
  CHECK(cuTexObjectCreate(&texture, &linear, &how, nullptr));
  CHECK(cuSurfObjectCreate(&surface, &resource));
  CHECK(cuLaunchKernel(sample, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(values, out, sizeof values));
  require(values[0] == 1, "a normalised byte");
  CHECK(cuTexObjectDestroy(texture));
  ROBUST(ERROR_INVALID_HANDLE, cuArrayDestroy(nullptr));
  CHECK(cuArrayDestroy(array));
  std::puts("right");
}
