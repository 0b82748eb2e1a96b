// SPDX-License-Identifier: Apache-2.0
// Shared by the tests of the driver API: they check their own results and exit with status 1 at the
// first wrong one.
#pragma once
#include <cuda.h>

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include "../verdict.hpp"
#ifdef __CUDACC__
#include "../programs/require.hpp"
#endif

inline void require_result(CUresult found, CUresult expected, const char* what, int line) {
  if (found == expected) return;
  const char *name = "?", *wanted = "?";
  cuGetErrorName(found, &name);
  cuGetErrorName(expected, &wanted);
  std::fprintf(stderr, "%s: %s, expected %s (line %d)\n", what, name, wanted, line);
  wrong_result();
}

inline void require(CUresult result, const char* what, int line = __builtin_LINE()) {
  require_result(result, CUDA_SUCCESS, what, line);
}

// The call's result, and its text if that is wrong.
#define EXPECT(expected, call) \
  (place = {__LINE__, #call}, require_result(call, CUDA_##expected, #call, __LINE__))
#define CHECK(call) EXPECT(SUCCESS, call)
// What CUDA leaves open: null pointers, objects that were destroyed, memory beyond an allocation
// (a driver rounds allocations up). NVIDIA's driver may succeed or crash; the virtual GPU says so.
#define ROBUST(expected, call)                    \
  do {                                            \
    if (on_virtual_gpu()) EXPECT(expected, call); \
  } while (false)

inline std::string read_file(const char* path) {
  std::ifstream in(path, std::ios::binary);
  require(in.is_open(), path);
  return {std::istreambuf_iterator<char>(in), {}};
}

// cuInit and a context on the first device.
inline CUcontext start() {
  CUdevice device = -1;
  CUcontext context = nullptr;
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  CHECK(cuCtxCreate(&context, nullptr, 0, device));
  return context;
}

// A part of a test in a context of its own.
template <class Part>
void run_in_context(const char* name, Part part) {
  run_part(name, [&] {
    const CUcontext context = start();
    part();
    CHECK(cuCtxDestroy(context));
  });
}

// The kernel of a module, which is loaded from the image.
inline CUfunction load_kernel(CUmodule& module, const void* image, const char* name) {
  CUfunction kernel = nullptr;
  CHECK(cuModuleLoadData(&module, image));
  CHECK(cuModuleGetFunction(&kernel, module, name));
  return kernel;
}

template <class T>
T value_at(CUdeviceptr at) {
  T value{};
  CHECK(cuMemcpyDtoH(&value, at, sizeof value));
  return value;
}
