// SPDX-License-Identifier: Apache-2.0
// fault PTX: a kernel that writes to memory that is not allocated. The next call that waits returns
// the error, and so does every call after it.
#include "require.hpp"

int main(int argc, char** argv) {
  require(argc == 2, "usage: fault PTX");
  const std::string ptx = read_file(argv[1]);
  start();
  CUmodule module = nullptr;
  CUdeviceptr memory = 0, nowhere = 64;
  const CUfunction count = load_kernel(module, ptx.c_str(), "count");
  CHECK(cuMemAlloc(&memory, 4));
  void* arguments[] = {&nowhere};
  CHECK(cuLaunchKernel(count, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  EXPECT(ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  EXPECT(ERROR_ILLEGAL_ADDRESS, cuMemsetD8(memory, 0, 4));
  EXPECT(ERROR_ILLEGAL_ADDRESS, cuMemFree(memory));
  int devices = 0;
  CHECK(cuDeviceGetCount(&devices));
  std::puts("right");
}
