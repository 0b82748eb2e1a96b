// SPDX-License-Identifier: Apache-2.0
// mapping PTX: memory at reserved addresses, growing, mapped twice, and given to another process.
#include <unistd.h>

#include <cstdint>

#include "require.hpp"

namespace {

CUmemAllocationProp wanted() {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

const CUmemAccessDesc kAccess{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

void count(CUfunction kernel, CUdeviceptr at) {
  void* arguments[] = {&at};
  CHECK(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2, "usage: mapping PTX");
  const std::string ptx = read_file(argv[1]);
  start();
  CUmodule module = nullptr;
  const CUfunction kernel = load_kernel(module, ptx.c_str(), "count");

  const CUmemAllocationProp properties = wanted();
  std::size_t unit = 0, unused = 0, total = 0;
  CHECK(cuMemGetAllocationGranularity(&unit, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
  CUdeviceptr range = 0, other = 0;
  CHECK(cuMemAddressReserve(&range, 64 * unit, 0, 0, 0));
  CHECK(cuMemAddressReserve(&other, unit, 16 * unit, 0, 0));
  require(other % (16 * unit) == 0, "an alignment");
  EXPECT(ERROR_INVALID_VALUE, cuMemAddressReserve(&other, unit + 1, 0, 0, 0));
  ROBUST(ERROR_INVALID_VALUE, cuMemsetD8(range, 0, 16));  // nothing is mapped yet

  CUmemGenericAllocationHandle first = 0, second = 0;
  CHECK(cuMemGetInfo(&unused, &total));
  CHECK(cuMemCreate(&first, unit, &properties, 0));
  CHECK(cuMemCreate(&second, 2 * unit, &properties, 0));
  EXPECT(ERROR_INVALID_VALUE, cuMemCreate(&second, unit / 2, &properties, 0));
  EXPECT(ERROR_OUT_OF_MEMORY, cuMemCreate(&second, total / unit * unit + unit, &properties, 0));
  CHECK(cuMemMap(range, unit, 0, first, 0));
  CHECK(cuMemMap(range + unit, 2 * unit, 0, second, 0));
  EXPECT(ERROR_INVALID_VALUE, cuMemMap(range, unit, 0, first, 0));
  EXPECT(ERROR_NOT_SUPPORTED, cuMemMap(range + 3 * unit, unit, unit, second, 0));
  EXPECT(ERROR_NOT_SUPPORTED, cuMemMap(range + 3 * unit, unit, 0, second, 0));  // a part of it
  EXPECT(ERROR_NOT_SUPPORTED, cuMemMap(range + 3 * unit, 3 * unit, 0, second, 0));
  EXPECT(ERROR_INVALID_VALUE, cuMemMap(range + 3 * unit, 0, 0, second, 0));
  ROBUST(ERROR_INVALID_VALUE, cuMemsetD8(range, 0, 16));  // nor accessible
  CHECK(cuMemSetAccess(range, 3 * unit, &kAccess, 1));
  unsigned long long access = 0;
  CHECK(cuMemGetAccess(&access, &kAccess.location, range + 3 * unit - 1));
  require(access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "access");

  // One fill over both mappings, and kernels in each.
  CHECK(cuMemsetD32(range, 0, 3 * unit / sizeof(int)));
  count(kernel, range);
  count(kernel, range + unit);
  require(value_at<int>(range) == 96 && value_at<int>(range + unit) == 96 &&
              value_at<int>(range + unit - 4) == 0,
          "kernels in mapped memory");

  // The same memory at another address.
  CHECK(cuMemMap(other, unit, 0, first, 0));
  CHECK(cuMemSetAccess(other, unit, &kAccess, 1));
  require(value_at<int>(other) == 96, "memory at two addresses");
  count(kernel, other);
  require(value_at<int>(range) == 192, "memory at two addresses, changed");

  // Another process has it through a file descriptor.
  int file = -1;
  CHECK(cuMemExportToShareableHandle(&file, first, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
  CUmemGenericAllocationHandle imported = 0;
  CHECK(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(std::intptr_t{file}),
                                       CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
  CHECK(cuMemMap(range + 8 * unit, unit, 0, imported, 0));
  CHECK(cuMemSetAccess(range + 8 * unit, unit, &kAccess, 1));
  require(value_at<int>(range + 8 * unit) == 192, "imported memory");
  close(file);

  CUmemGenericAllocationHandle retained = 0;
  CHECK(cuMemRetainAllocationHandle(&retained, reinterpret_cast<void*>(range + 10)));
  require(retained == first, "the handle of an address");
  CUmemAllocationProp found{};
  CHECK(cuMemGetAllocationPropertiesFromHandle(&found, first));
  require(found.location.id == 0 && found.requestedHandleTypes == properties.requestedHandleTypes,
          "properties of a handle");
  CHECK(cuMemRelease(first));
  CHECK(cuMemRelease(first));
  ROBUST(ERROR_INVALID_VALUE, cuMemRelease(first));
  require(value_at<int>(range) == 192, "memory lives as long as its mapping");

  EXPECT(ERROR_INVALID_VALUE, cuMemUnmap(range, 2 * unit));  // half of a mapping
  EXPECT(ERROR_INVALID_VALUE, cuMemAddressFree(range, 64 * unit));
  CHECK(cuMemUnmap(range, 3 * unit));
  ROBUST(ERROR_INVALID_VALUE, cuMemsetD8(range, 0, 16));
  CHECK(cuMemUnmap(range + 8 * unit, unit));
  CHECK(cuMemUnmap(other, unit));
  CHECK(cuMemRelease(second));
  CHECK(cuMemRelease(imported));
  CHECK(cuMemAddressFree(range, 64 * unit));
  CHECK(cuMemAddressFree(other, unit));
  std::puts("right");
}
