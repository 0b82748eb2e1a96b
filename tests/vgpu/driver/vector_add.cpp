// SPDX-License-Identifier: Apache-2.0
// vector_add IMAGE [file]: adds two vectors by the driver API, with a kernel from the file, which
// the program reads or the driver.
#include <cstring>
#include <vector>

#include "require.hpp"

namespace {

void check_arguments_in_buffer(CUfunction mixed) {
  // As the compiler lays out the parameters: each at a multiple of its size.
  struct {
    char first = 7;
    double second = 1.5;
    short third = 9;
    CUdeviceptr out = 0;
    float fourth = 2.5F;
  } packed;
  CHECK(cuMemAlloc(&packed.out, 4 * sizeof(std::uint64_t)));
  std::size_t bytes = offsetof(decltype(packed), fourth) + sizeof packed.fourth;
  void* extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes,
                   CU_LAUNCH_PARAM_END};
  CHECK(cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  std::uint64_t found[4];
  CHECK(cuMemcpyDtoH(found, packed.out, sizeof found));
  require(found[0] == 7 && found[1] == 3 && found[2] == 9 && found[3] == 10, "packed arguments");

  void* both[] = {&packed.first, &packed.second, &packed.third, &packed.out, &packed.fourth};
  EXPECT(ERROR_INVALID_VALUE, cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, both, extra));
  bytes = sizeof packed;  // with padding that the kernel does not have
  EXPECT(ERROR_LAUNCH_OUT_OF_RESOURCES,
         cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  bytes = offsetof(decltype(packed), fourth);
  ROBUST(ERROR_INVALID_VALUE, cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, extra));
  ROBUST(ERROR_INVALID_VALUE,
         cuLaunchKernel(mixed, 1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, nullptr));
  CHECK(cuMemFree(packed.out));
}

void check_globals(CUmodule module, CUfunction count) {
  CUdeviceptr step = 0, at = 0;
  std::size_t bytes = 0;
  CHECK(cuModuleGetGlobal(&step, &bytes, module, "step"));
  require(bytes == sizeof(int), "the size of a variable");
  CUdeviceptr none = step;
  EXPECT(ERROR_NOT_FOUND, cuModuleGetGlobal(&none, nullptr, module, "stride"));
  require(none == 0, "what is not found");
  const int five = 5;
  CHECK(cuMemcpyHtoD(step, &five, sizeof five));
  CHECK(cuMemAlloc(&at, sizeof(int)));
  CHECK(cuMemsetD32(at, 100, 1));
  void* arguments[] = {&at};
  CUlaunchConfig config{};
  config.gridDimX = 2;
  config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
  config.blockDimX = 32;
  CHECK(cuLaunchKernelEx(&config, count, arguments, nullptr));
  require(value_at<int>(at) == 100 + 64 * 5, "a kernel that reads a variable");
  CHECK(cuMemFree(at));
}

}  // namespace

int main(int argc, char** argv) {
  require(argc >= 2, "usage: vector_add IMAGE [file]");
  int version = 0;
  CHECK(cuDriverGetVersion(&version));
  require(on_virtual_gpu() ? version == CUDA_VERSION : version >= CUDA_VERSION,
          "the driver's version");
  CUcontext context = start();
  CUmodule module = nullptr;
  std::string image;
  if (argc > 2) {
    CHECK(cuModuleLoad(&module, argv[1]));
  } else {
    image = read_file(argv[1]);
    CHECK(cuModuleLoadData(&module, image.c_str()));
    std::memset(image.data(), 'x', image.size());  // the driver has its own copy
  }
  CUfunction add = nullptr, mixed = nullptr, count = nullptr;
  CHECK(cuModuleGetFunction(&add, module, "add"));
  CHECK(cuModuleGetFunction(&mixed, module, "mixed"));
  CHECK(cuModuleGetFunction(&count, module, "count"));
  CUfunction none = add;
  EXPECT(ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "subtract"));
  require(none == nullptr, "what is not found");

  constexpr int kCount = 1000;
  std::vector<float> a(kCount), b(kCount), c(kCount);
  for (int i = 0; i < kCount; ++i) {
    a[static_cast<std::size_t>(i)] = static_cast<float>(i);
    b[static_cast<std::size_t>(i)] = static_cast<float>(2 * i);
  }
  const std::size_t bytes = kCount * sizeof(float);
  CUdeviceptr in_a = 0, in_b = 0, out = 0;
  CHECK(cuMemAlloc(&in_a, bytes));
  CHECK(cuMemAlloc(&in_b, bytes));
  CHECK(cuMemAlloc(&out, bytes));
  CHECK(cuMemcpyHtoD(in_a, a.data(), bytes));
  CHECK(cuMemcpyHtoD(in_b, b.data(), bytes));
  int n = kCount;
  void* arguments[] = {&in_a, &in_b, &out, &n};
  CHECK(cuLaunchKernel(add, 8, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuCtxSynchronize());
  CHECK(cuMemcpyDtoH(c.data(), out, bytes));
  for (int i = 0; i < kCount; ++i)
    require(c[static_cast<std::size_t>(i)] == static_cast<float>(3 * i), "a sum");

  check_arguments_in_buffer(mixed);
  check_globals(module, count);

  for (const CUdeviceptr address : {in_a, in_b, out}) CHECK(cuMemFree(address));
  CHECK(cuModuleUnload(module));
  ROBUST(ERROR_INVALID_HANDLE, cuModuleUnload(module));
  CHECK(cuCtxDestroy(context));
  std::puts("right");
}
