// SPDX-License-Identifier: Apache-2.0
// Code that a program loads itself, as PTX text, and kernels by name.
#include <cstring>
#include <string>

#include "require.hpp"

static const char* const kText = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .global .align 4 .u32 step = 3;
.visible .entry count(.param .u64 out)
{
  .reg .b64 %p;
  .reg .b32 %v, %t;
  ld.param.u64 %p, [out];
  ld.global.u32 %v, [%p];
  ld.global.u32 %t, [step];
  add.u32 %v, %v, %t;
  st.global.u32 [%p], %v;
  ret;
}
)";

// The driver has no such functions.
static const char* const kUnresolved = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 result) nowhere (.param .b32 value);
.visible .entry lost(.param .u64 out)
{
  .reg .b32 %v;
  { .param .b32 r; .param .b32 a; mov.u32 %v, 1; st.param.b32 [a], %v; call (r), nowhere, (a); ld.param.b32 %v, [r]; }
  ret;
}
)";

static const char* const kPointer = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func absent ();
.visible .entry lost(.param .u64 out) { .reg .b64 %v; mov.u64 %v, absent; ret; }
)";
static const char* const kTable = R"(
.version 8.0
.target sm_80
.address_size 64
.extern .func missing ();
.visible .global .align 8 .u64 table[1] = {missing};
.visible .entry lost(.param .u64 out) { ret; }
)";

// What loading the text reports, or the first search for a kernel in it, where drivers are lazy.
static cudaError_t refusal(const char* text) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  const cudaError_t error =
      cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0);
  return error != cudaSuccess ? error : cudaLibraryGetKernel(&kernel, library, "lost");
}

// The virtual GPU loads it, and refuses the launch.
static void launch_unresolved(void** arguments) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  for (const char* text : {kUnresolved, kPointer}) {
    require(cudaLibraryLoadData(&library, text, nullptr, nullptr, 0, nullptr, nullptr, 0));
    require(cudaLibraryGetKernel(&kernel, library, "lost"), "its kernel");
    require(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr),
            cudaErrorNotSupported, "a function that nobody provides");
  }
  require(refusal(kTable), cudaErrorNotSupported, "a table of such functions");
}

int main() {
  cudaLibrary_t library, broken;
  cudaKernel_t kernel, same;
  std::string text = kText;
  require(cudaLibraryLoadData(&library, text.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  text.assign(text.size(), ' ');  // the library has its own copy
  unsigned count = 0;
  require(cudaLibraryGetKernelCount(&count, library));
  require(count == 1, "one kernel");
  require(cudaLibraryGetKernel(&kernel, library, "count"));
  require(cudaLibraryEnumerateKernels(&same, 1, library));
  require(kernel == same, "the same kernel");
  require(cudaLibraryGetKernel(&same, library, "other"), cudaErrorSymbolNotFound, "no such kernel");
  const char* name = nullptr;
  require(cudaFuncGetName(&name, kernel));
  require(std::strcmp(name, "count") == 0, "its name");

  unsigned *out, *step, host = 5;
  std::size_t bytes = 0;
  require(cudaMalloc(&out, 4));
  require(cudaMemcpy(out, &host, 4, cudaMemcpyHostToDevice));
  void* arguments[] = {&out};
  require(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  require(cudaLibraryGetGlobal(reinterpret_cast<void**>(&step), &bytes, library, "step"));
  require(bytes == 4, "its size");
  host = 10;
  require(cudaMemcpy(step, &host, 4, cudaMemcpyHostToDevice));
  require(cudaLaunchKernel(kernel, dim3(1), dim3(1), arguments, 0, nullptr));
  require(cudaMemcpy(&host, out, 4, cudaMemcpyDeviceToHost));
  require(host == 18, "5 + 3 + 10");

  require(refusal(".version 8.0 .target sm_80 nonsense"), cudaErrorInvalidPtx, "no PTX");
  require(refusal("no code at all"), cudaErrorInvalidKernelImage, "no code");
  require(cudaLibraryLoadFromFile(&broken, "/nowhere", nullptr, nullptr, 0, nullptr, nullptr, 0),
          cudaErrorFileNotFound, "no file");
  if (on_virtual_gpu()) {
    launch_unresolved(arguments);
  } else {  // NVIDIA's compiler refuses the whole text
    for (const char* text : {kUnresolved, kPointer, kTable})
      require(refusal(text), cudaErrorInvalidPtx, "a function that nobody provides");
  }
  require(cudaLibraryUnload(library));
  if (on_virtual_gpu())
    require(cudaLibraryGetKernel(&kernel, library, "count"), cudaErrorInvalidResourceHandle,
            "it is gone");
}
