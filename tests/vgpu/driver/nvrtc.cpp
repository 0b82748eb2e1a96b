// SPDX-License-Identifier: Apache-2.0
// nvrtc: compiles a kernel at run time, to PTX and to machine code, and launches both.
#include <nvrtc.h>

#include <vector>

#include "require.hpp"

namespace {

constexpr const char* kSource = R"(
template <int n>
__global__ void scale(float* values, float by, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) values[i] = values[i] * by + n;
}
)";

using ::require;

void require(nvrtcResult result, const char* what) {
  if (result == NVRTC_SUCCESS) return;
  std::fprintf(stderr, "%s: %s\n", what, nvrtcGetErrorString(result));
  std::exit(1);
}

// The code, and the kernel's name in it.
std::string compile(const char* architecture, bool to_ptx, std::string& name) {
  nvrtcProgram program = nullptr;
  require(nvrtcCreateProgram(&program, kSource, "scale.cu", 0, nullptr, nullptr), "a program");
  require(nvrtcAddNameExpression(program, "scale<3>"), "a name");
  const std::string option = std::string("--gpu-architecture=") + architecture;
  const char* options[] = {option.c_str()};
  require(nvrtcCompileProgram(program, 1, options), "compilation");
  const char* mangled = nullptr;
  require(nvrtcGetLoweredName(program, "scale<3>", &mangled), "a lowered name");
  name = mangled;
  std::size_t bytes = 0;
  require(to_ptx ? nvrtcGetPTXSize(program, &bytes) : nvrtcGetCUBINSize(program, &bytes), "a size");
  std::string code(bytes, '\0');
  require(to_ptx ? nvrtcGetPTX(program, code.data()) : nvrtcGetCUBIN(program, code.data()), "code");
  require(nvrtcDestroyProgram(&program), "the end");
  return code;
}

void run(const std::string& code, const std::string& name) {
  constexpr int kCount = 300;
  CUmodule module = nullptr;
  CUfunction scale = nullptr;
  CUdeviceptr values = 0;
  CHECK(cuModuleLoadDataEx(&module, code.data(), 0, nullptr, nullptr));
  CHECK(cuModuleGetFunction(&scale, module, name.c_str()));
  CHECK(cuMemAlloc(&values, kCount * sizeof(float)));
  std::vector<float> host(kCount, 2);
  CHECK(cuMemcpyHtoD(values, host.data(), kCount * sizeof(float)));
  float by = 4;
  int count = kCount;
  void* arguments[] = {&values, &by, &count};
  CHECK(cuLaunchKernel(scale, 3, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuMemcpyDtoH(host.data(), values, kCount * sizeof(float)));
  for (const float value : host) require(value == 11, "a result");
  CHECK(cuMemFree(values));
  CHECK(cuModuleUnload(module));
}

}  // namespace

int main() {
  start();
  std::string name;
  const std::string ptx = compile("compute_80", true, name);
  run(ptx, name);
  const std::string cubin = compile("sm_90", false, name);
  require(cubin.compare(0, 4, "\177ELF") == 0, "machine code");
  run(cubin, name);
  std::puts("right");
}
