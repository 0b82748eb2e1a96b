// SPDX-License-Identifier: Apache-2.0
// Every kind of memory, copy and fill, and what the driver says of pointers.
#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "require.hpp"

namespace {

template <class T>
std::vector<T> contents(CUdeviceptr address, std::size_t count) {
  std::vector<T> host(count);
  CHECK(cuMemcpyDtoH(host.data(), address, count * sizeof(T)));
  return host;
}

template <class T>
bool all(const std::vector<T>& values, T value) {
  return std::ranges::all_of(values, [&](T found) { return found == value; });
}

void check_fills() {
  constexpr std::size_t kWidth = 100, kRows = 5;
  CUdeviceptr flat = 0, pitched = 0;
  std::size_t pitch = 0;
  CHECK(cuMemAlloc(&flat, kWidth * 4));
  CHECK(cuMemsetD8(flat, 7, kWidth * 4));
  require(all<std::uint8_t>(contents<std::uint8_t>(flat, kWidth * 4), 7), "cuMemsetD8");
  CHECK(cuMemsetD16(flat, 0x1234, kWidth));
  require(all<std::uint16_t>(contents<std::uint16_t>(flat, kWidth), 0x1234), "cuMemsetD16");
  CHECK(cuMemsetD32Async(flat, 0x12345678, kWidth, nullptr));
  require(all<std::uint32_t>(contents<std::uint32_t>(flat, kWidth), 0x12345678), "cuMemsetD32");
  CHECK(cuMemsetD32(flat, 1, 0));
  EXPECT(ERROR_INVALID_VALUE, cuMemsetD16(flat + 1, 0, 4));
  EXPECT(ERROR_INVALID_VALUE, cuMemsetD32(flat + 2, 0, 4));
  ROBUST(ERROR_INVALID_VALUE, cuMemsetD32(flat, 0, kWidth + 1));
  ROBUST(ERROR_INVALID_VALUE, cuMemsetD32(flat, 0, SIZE_MAX / 2));

  CHECK(cuMemAllocPitch(&pitched, &pitch, kWidth * 4, kRows, 4));
  require(pitch >= kWidth * 4 && pitch % 512 == 0, "a pitch");
  CHECK(cuMemsetD8(pitched, 0, pitch * kRows));
  CHECK(cuMemsetD2D32(pitched, pitch, 9, kWidth, kRows));
  CHECK(cuMemsetD2D16(pitched, pitch, 3, 2, 1));
  CHECK(cuMemsetD2D8(pitched + pitch, pitch, 5, 4, 2));
  const auto rows = contents<std::uint32_t>(pitched, pitch * kRows / 4);
  require(rows[0] == 0x00030003 && rows[1] == 9 && rows[kWidth - 1] == 9 && rows[kWidth] == 0,
          "the first row");
  require(rows[pitch / 4] == 0x05050505 && rows[3 * pitch / 4] == 9, "the other rows");
  EXPECT(ERROR_INVALID_VALUE, cuMemsetD2D32(pitched, pitch - 1, 9, kWidth, kRows));
  EXPECT(ERROR_INVALID_VALUE, cuMemAllocPitch(&pitched, &pitch, kWidth, kRows, 5));
  CHECK(cuMemFree(flat));
  CHECK(cuMemFree(pitched));
}

// A box of a volume, there and back, at an offset on both sides.
void check_volumes() {
  constexpr std::size_t kX = 16, kY = 8, kZ = 4;
  std::array<std::uint8_t, kX * kY * kZ> host{}, back{};
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::uint8_t>(i);
  CUdeviceptr device = 0;
  CHECK(cuMemAlloc(&device, host.size()));
  CHECK(cuMemsetD8(device, 0xFF, host.size()));
  CUDA_MEMCPY3D copy{};
  copy.srcMemoryType = CU_MEMORYTYPE_HOST;
  copy.srcHost = host.data();
  copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.dstDevice = device;
  copy.srcPitch = copy.dstPitch = kX;
  copy.srcHeight = copy.dstHeight = kY;
  copy.srcXInBytes = 2, copy.srcY = 1, copy.srcZ = 1;
  copy.dstXInBytes = 4, copy.dstY = 3, copy.dstZ = 2;
  copy.WidthInBytes = 5, copy.Height = 3, copy.Depth = 2;
  CHECK(cuMemcpy3D(&copy));
  CHECK(cuMemcpyDtoH(back.data(), device, back.size()));
  std::size_t changed = 0;
  for (std::size_t z = 0; z < kZ; ++z) {
    for (std::size_t y = 0; y < kY; ++y) {
      for (std::size_t x = 0; x < kX; ++x) {
        const std::uint8_t found = back[(z * kY + y) * kX + x];
        const bool inside = x >= 4 && x < 9 && y >= 3 && y < 6 && z >= 2;
        changed += inside;
        const auto expected =
            inside ? host[((z - 1) * kY + y - 2) * kX + x - 2] : std::uint8_t{0xFF};
        require(found == expected, "a copied volume");
      }
    }
  }
  require(changed == 5 * 3 * 2, "the volume's size");

  copy = {};  // planes may have no height
  copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  copy.srcDevice = device;
  copy.dstMemoryType = CU_MEMORYTYPE_HOST;
  copy.dstHost = back.data();
  copy.srcPitch = copy.dstPitch = kX;
  copy.WidthInBytes = kX, copy.Height = 2, copy.Depth = 2;
  CHECK(cuMemsetD8(device + 2 * kX, 0x33, 2 * kX));
  CHECK(cuMemcpy3D(&copy));
  require(back[2 * kX] == 0x33 && back[4 * kX - 1] == 0x33, "planes without a height");
  copy.srcHeight = 1;
  EXPECT(ERROR_INVALID_VALUE, cuMemcpy3D(&copy));

  CUDA_MEMCPY2D flat{};  // one row may have no pitch
  flat.srcMemoryType = CU_MEMORYTYPE_DEVICE;
  flat.srcDevice = device;
  flat.dstMemoryType = CU_MEMORYTYPE_HOST;
  flat.dstHost = back.data();
  flat.WidthInBytes = 64;
  flat.Height = 1;
  CHECK(cuMemcpy2D(&flat));
  flat.Height = 2;  // several rows without a pitch are contiguous
  CHECK(cuMemsetD8(device + 64, 0x55, 64));
  CHECK(cuMemcpy2D(&flat));
  require(back[63] == 0x33 && back[64] == 0x55 && back[127] == 0x55, "rows without a pitch");
  flat.srcPitch = 63;
  EXPECT(ERROR_INVALID_VALUE, cuMemcpy2D(&flat));
  flat.srcPitch = flat.dstPitch = 64;
  CHECK(cuMemcpy2DUnaligned(&flat));
  flat.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  CHECK(cuMemcpy2DAsync(&flat, nullptr));
  flat.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  EXPECT(ERROR_INVALID_VALUE, cuMemcpy2D(&flat));  // without an array
  flat.srcMemoryType = CUmemorytype{};
  EXPECT(ERROR_INVALID_VALUE, cuMemcpy2D(&flat));
  ROBUST(ERROR_INVALID_VALUE, cuMemcpy2D(nullptr));
  ROBUST(ERROR_INVALID_VALUE, cuMemcpy3D(nullptr));
  CHECK(cuMemFree(device));
}

void check_host_memory(CUcontext context) {
  void* pinned = nullptr;
  unsigned flags = 0;
  CUdeviceptr device = 0;
  CHECK(cuMemHostAlloc(&pinned, 4096, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP));
  CHECK(cuMemHostGetFlags(&flags, pinned));
  require(flags == (CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "flags of host memory");
  CHECK(cuMemHostGetDevicePointer(&device, pinned, 0));
  CHECK(cuMemsetD8(device, 3, 4096));
  require(static_cast<unsigned char*>(pinned)[4095] == 3, "host memory that the device fills");
  CUmemorytype type{};
  CUcontext owner = nullptr;
  CHECK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
  CHECK(cuPointerGetAttribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, device));
  require(type == CU_MEMORYTYPE_HOST && owner == context, "attributes of host memory");
  CHECK(cuMemFreeHost(pinned));
  EXPECT(ERROR_INVALID_VALUE, cuMemHostAlloc(&pinned, 4096, 0x80));

  std::vector<char> own(8192);
  CHECK(cuMemHostRegister(own.data(), own.size(), 0));
  EXPECT(ERROR_HOST_MEMORY_ALREADY_REGISTERED, cuMemHostRegister(own.data(), own.size(), 0));
  CHECK(cuMemHostUnregister(own.data()));
  EXPECT(ERROR_HOST_MEMORY_NOT_REGISTERED, cuMemHostUnregister(own.data()));

  CUdeviceptr managed = 0;
  CHECK(cuMemAllocManaged(&managed, 4096, CU_MEM_ATTACH_GLOBAL));
  reinterpret_cast<int*>(managed)[5] = 6;
  int found = 0;
  CHECK(cuMemcpy(reinterpret_cast<CUdeviceptr>(&found), managed + 5 * sizeof(int), sizeof found));
  require(found == 6, "managed memory");
  CHECK(cuMemPrefetchAsync(managed, 4096, {CU_MEM_LOCATION_TYPE_DEVICE, 0}, 0, nullptr));
  CHECK(cuMemFree(managed));
  EXPECT(ERROR_INVALID_VALUE, cuMemAllocManaged(&managed, 4096, 0));
}

void check_pointers() {
  CUdeviceptr memory = 0, base = 0;
  std::size_t bytes = 0;
  CHECK(cuMemAlloc(&memory, 1000));
  CHECK(cuMemGetAddressRange(&base, &bytes, memory + 999));
  require(base == memory && bytes == 1000, "the range of an allocation");
  ROBUST(ERROR_NOT_FOUND, cuMemGetAddressRange(&base, &bytes, memory + 1000));
  CUmemorytype type{};
  unsigned managed = 7;
  CUdeviceptr start = 0;
  int device = -1;
  CUpointer_attribute attributes[] = {
      CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
      CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
  void* data[] = {&type, &managed, &start, &device};
  CHECK(cuPointerGetAttributes(4, attributes, data, memory + 10));
  require(type == CU_MEMORYTYPE_DEVICE && managed == 0 && start == memory && device == 0,
          "attributes of device memory");
  int host = 0;
  const auto unknown = reinterpret_cast<CUdeviceptr>(&host);
  CHECK(cuPointerGetAttributes(4, attributes, data, unknown));
  require(type == 0 && managed == 0 && device == CU_DEVICE_INVALID && start == memory,
          "unknown memory has none, and no start");
  CUpointer_attribute as_host[] = {CU_POINTER_ATTRIBUTE_HOST_POINTER};
  void* found = nullptr;
  void* only[] = {&found};
  CHECK(cuPointerGetAttributes(1, as_host, only, unknown));
  require(found == &host, "its address on the host");
  EXPECT(ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, unknown));
  EXPECT(ERROR_INVALID_VALUE,
         cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_HOST_POINTER, memory));
  CHECK(cuMemFree(memory));
  CHECK(cuMemFree(0));
}

void check_pools() {
  CUmemoryPool pool = nullptr, first = nullptr;
  CUmemPoolProps wanted{};
  wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  wanted.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CHECK(cuMemPoolCreate(&pool, &wanted));
  CHECK(cuDeviceGetDefaultMemPool(&first, 0));
  require(pool != first, "another pool");
  CUdeviceptr memory = 0;
  CUstream stream = nullptr;
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuMemAllocFromPoolAsync(&memory, 5000, pool, stream));
  CUmemoryPool found = nullptr;
  CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, memory));
  require(found == pool, "the pool of an allocation");
  cuuint64_t used = 0;
  CHECK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used));
  require(used == 5000, "what a pool has given out");
  CHECK(cuMemsetD8Async(memory, 1, 5000, stream));
  CHECK(cuMemFreeAsync(memory, stream));
  CHECK(cuMemAllocAsync(&memory, 100, stream));
  CHECK(cuStreamSynchronize(stream));
  CHECK(cuMemFree(memory));
  CHECK(cuMemPoolDestroy(pool));
  ROBUST(ERROR_INVALID_VALUE, cuMemPoolDestroy(pool));
  CHECK(cuStreamDestroy(stream));
}

}  // namespace

int main() {
  CUcontext context = start();
  check_fills();
  check_volumes();
  check_host_memory(context);
  check_pointers();
  check_pools();
  CHECK(cuCtxDestroy(context));
}
