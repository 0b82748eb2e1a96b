// SPDX-License-Identifier: Apache-2.0
// link ONE.ptx TWO.ptx CUBIN: links PTX at run time, and what cannot be linked.
#include <array>
#include <cstring>

#include "require.hpp"

namespace {

CUresult add(CUlinkState link, CUjitInputType type, const std::string& code, const char* name) {
  return cuLinkAddData(link, type, const_cast<char*>(code.data()), code.size(), name, 0, nullptr,
                       nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 4, "usage: link ONE.ptx TWO.ptx CUBIN");
  const std::string one = read_file(argv[1]), cubin = read_file(argv[3]);
  std::array<char, 300> log{};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size())};
  CUlinkState link = nullptr;
  EXPECT(ERROR_NOT_INITIALIZED, cuLinkCreate(0, nullptr, nullptr, &link));
  start();
  ROBUST(ERROR_INVALID_VALUE, cuLinkCreate(0, nullptr, nullptr, nullptr));
  CHECK(cuLinkCreate(2, options, values, &link));
  CHECK(add(link, CU_JIT_INPUT_PTX, one + '\0', "one"));
  CHECK(cuLinkAddFile(link, CU_JIT_INPUT_PTX, argv[2], 0, nullptr, nullptr));
  EXPECT(ERROR_FILE_NOT_FOUND,
         cuLinkAddFile(link, CU_JIT_INPUT_PTX, "/nowhere", 0, nullptr, nullptr));
  void* code = nullptr;
  std::size_t bytes = 0;
  CHECK(cuLinkComplete(link, &code, &bytes));
  CUmodule module = nullptr;
  CUfunction first = nullptr, second = nullptr;
  CHECK(cuModuleLoadData(&module, code));
  EXPECT(ERROR_INVALID_VALUE, add(link, CU_JIT_INPUT_PTX, one, "late"));
  CHECK(cuLinkDestroy(link));
  ROBUST(ERROR_INVALID_HANDLE, cuLinkDestroy(link));

  CHECK(cuModuleGetFunction(&first, module, "first"));
  CHECK(cuModuleGetFunction(&second, module, "second"));
  CUdeviceptr out = 0;
  CHECK(cuMemAlloc(&out, 3 * sizeof(int)));
  void* arguments[] = {&out};
  CHECK(cuLaunchKernel(first, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  CHECK(cuLaunchKernel(second, 1, 1, 1, 1, 1, 1, 0, nullptr, arguments, nullptr));
  int found[3];
  CHECK(cuMemcpyDtoH(found, out, sizeof found));
  require(found[0] == 2 + 25 && found[1] == 7 * 20 && found[2] == 36 + 10 + 40, "linked kernels");

  // A name that two units define, in the log.
  values[1] = reinterpret_cast<void*>(log.size());
  CHECK(cuLinkCreate(2, options, values, &link));
  CHECK(add(link, CU_JIT_INPUT_PTX, one, "here"));
  CHECK(add(link, CU_JIT_INPUT_PTX, one, "there"));
  EXPECT(ERROR_INVALID_PTX, cuLinkComplete(link, &code, &bytes));
  require(std::strstr(log.data(), "'first' is defined in here and in there") != nullptr,
          "the error log");
  CHECK(cuLinkDestroy(link));

  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  EXPECT(ERROR_INVALID_VALUE, cuLinkComplete(link, &code, &bytes));
  EXPECT(ERROR_INVALID_PTX, add(link, CU_JIT_INPUT_PTX, "no PTX", "text"));
  EXPECT(ERROR_NOT_SUPPORTED, add(link, CU_JIT_INPUT_OBJECT, one, "an object"));
  EXPECT(ERROR_INVALID_IMAGE, add(link, CU_JIT_INPUT_FATBINARY, "no fat binary at all", "text"));
  CHECK(cuLinkDestroy(link));

  CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
  CHECK(add(link, CU_JIT_INPUT_CUBIN, cubin, "machine code"));
  EXPECT(ERROR_NOT_SUPPORTED, add(link, CU_JIT_INPUT_PTX, one, "one"));
  CHECK(cuLinkComplete(link, &code, &bytes));
  CHECK(cuModuleLoadData(&module, code));
  CHECK(cuModuleGetFunction(&first, module, "add"));
  CHECK(cuLinkDestroy(link));
  std::puts("right");
}
