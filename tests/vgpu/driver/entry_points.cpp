// SPDX-License-Identifier: Apache-2.0
// Entry points by name and version, errors by code, and what is not implemented.
#include <cudaTypedefs.h>
#include <dlfcn.h>

#include <cstring>

#include "require.hpp"

namespace {

void* find(const char* name, int version, cuuint64_t flags,
           CUdriverProcAddressQueryResult expected) {
  void* function = &function;
  auto status = expected == CU_GET_PROC_ADDRESS_SUCCESS ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND
                                                        : CU_GET_PROC_ADDRESS_SUCCESS;
  CHECK(cuGetProcAddress(name, &function, version, flags, &status));
  const std::string what = std::string(name) + " of version " + std::to_string(version) +
                           ", flags " + std::to_string(flags) + ": status " +
                           std::to_string(status);
  require(status == expected, what.c_str());
  require((function == nullptr) == (expected != CU_GET_PROC_ADDRESS_SUCCESS), what.c_str());
  return function;
}

void* symbol(const char* name) {
  void* const function = dlsym(RTLD_DEFAULT, name);
  require(function != nullptr, name);
  return function;
}

}  // namespace

int main() {
  constexpr auto kFound = CU_GET_PROC_ADDRESS_SUCCESS;
  constexpr auto kPerThread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  // Before cuInit. Each version gives the form whose arguments CUDA had then.
  require(find("cuMemAlloc", 3020, 0, kFound) == symbol("cuMemAlloc_v2"), "cuMemAlloc of CUDA 3.2");
  require(find("cuMemAlloc", 13000, 0, kFound) == symbol("cuMemAlloc_v2"), "cuMemAlloc of CUDA 13");
  require(find("cuMemAlloc", 2000, 0, kFound) == symbol("cuMemAlloc"), "cuMemAlloc of CUDA 2");
  require(find("cuCtxCreate", 12000, 0, kFound) == symbol("cuCtxCreate_v3"), "cuCtxCreate of 12.0");
  require(find("cuCtxCreate", 12050, 0, kFound) == symbol("cuCtxCreate_v4"), "cuCtxCreate of 12.5");
  require(find("cuStreamGetCaptureInfo", 12000, 0, kFound) == symbol("cuStreamGetCaptureInfo_v2"),
          "cuStreamGetCaptureInfo of 12.0");
  require(find("cuMemcpyHtoD", 12000, kPerThread, kFound) == symbol("cuMemcpyHtoD_v2_ptds"),
          "a per-thread form");
  // The per-thread forms are of CUDA 7.
  require(find("cuMemcpyHtoD", 7000, kPerThread, kFound) == symbol("cuMemcpyHtoD_v2_ptds"),
          "the first per-thread form");
  find("cuMemcpyHtoD", 3020, kPerThread, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  require(find("cuInit", 12000, kPerThread, kFound) == symbol("cuInit"), "no per-thread form");
  // Of graphics, which Dr.Jit looks up before it uses anything.
  require(
      find("cuGraphicsGLRegisterBuffer", 12000, 0, kFound) == symbol("cuGraphicsGLRegisterBuffer"),
      "a function of OpenGL");
  require(find("cuGLGetDevices", 12000, 0, kFound) == symbol("cuGLGetDevices_v2"),
          "the newest form of a function of OpenGL");
  find("cuLaunchKernelEx", 11000, 0, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  find("cuNothing", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  find("cuMemAlloc_v2", 12000, 0, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);  // no base name
  void* function = nullptr;
  ROBUST(ERROR_INVALID_VALUE, cuGetProcAddress(nullptr, &function, 12000, 0, nullptr));
  ROBUST(ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", nullptr, 12000, 0, nullptr));
  EXPECT(ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &function, CUDA_VERSION + 10, 0, nullptr));
  EXPECT(ERROR_INVALID_VALUE, cuGetProcAddress("cuInit", &function, 12000, 8, nullptr));
  CHECK(cuGetProcAddress("cuInit", &function, 12000, 0, nullptr));
  const auto older = reinterpret_cast<PFN_cuGetProcAddress_v11030>(symbol("cuGetProcAddress"));
  EXPECT(ERROR_NOT_FOUND, older("cuNothing", &function, 12000, 0));
  CHECK(older("cuInit", &function, 12000, 0));
  CHECK(reinterpret_cast<PFN_cuInit_v2000>(function)(0));

  const char *name = nullptr, *text = nullptr;
  CHECK(cuGetErrorName(CUDA_ERROR_NO_BINARY_FOR_GPU, &name));
  CHECK(cuGetErrorString(CUDA_ERROR_NO_BINARY_FOR_GPU, &text));
  require(std::strcmp(name, "CUDA_ERROR_NO_BINARY_FOR_GPU") == 0, "an error's name");
  require(std::strcmp(text, "no kernel image is available for execution on the device") == 0,
          "an error's text");
  EXPECT(ERROR_INVALID_VALUE, cuGetErrorName(static_cast<CUresult>(998), &name));
  require(name == nullptr, "no name");
  ROBUST(ERROR_INVALID_VALUE, cuGetErrorString(CUDA_SUCCESS, nullptr));

  start();
  for (int i = 0; i < 2; ++i)  // said once
    ROBUST(ERROR_NOT_SUPPORTED, cuMulticastCreate(nullptr, nullptr));
  ROBUST(ERROR_NOT_SUPPORTED, cuGetExportTable(nullptr, nullptr));
}
