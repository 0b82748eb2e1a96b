// SPDX-License-Identifier: Apache-2.0
// link ONE.ptx TWO.ptx CUBIN TWO.cubin: links PTX at run time, and what cannot be linked.
#include <array>
#include <cstring>

#include "require.hpp"

namespace {

CUresult add(CUlinkState link, CUjitInputType type, const std::string& code, const char* name) {
  return cuLinkAddData(link, type, const_cast<char*>(code.data()), code.size(), name, 0, nullptr,
                       nullptr);
}

// A link with a log of its errors, which is shown if a test finds a wrong result on hardware.
struct LoggedLink {
  std::array<char, 1000> log{};
  std::array<CUjit_option, 2> options = {CU_JIT_ERROR_LOG_BUFFER,
                                         CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  std::array<void*, 2> values = {log.data(), reinterpret_cast<void*>(log.size())};
  CUlinkState state = nullptr;
  void* code = nullptr;
  std::size_t bytes = 0;

  LoggedLink() { CHECK(cuLinkCreate(2, options.data(), values.data(), &state)); }
  ~LoggedLink() {
    CHECK(cuLinkDestroy(state));
    if (!on_virtual_gpu()) std::fprintf(stderr, "log: %s\n", log.data());
  }
  LoggedLink(const LoggedLink&) = delete;
  LoggedLink& operator=(const LoggedLink&) = delete;
  CUresult complete() { return cuLinkComplete(state, &code, &bytes); }
};

void check_kernels(const std::string& one, const char* two) {
  LoggedLink link;
  CHECK(add(link.state, CU_JIT_INPUT_PTX, one + '\0', "one"));
  CHECK(cuLinkAddFile(link.state, CU_JIT_INPUT_PTX, two, 0, nullptr, nullptr));
  EXPECT(ERROR_FILE_NOT_FOUND,
         cuLinkAddFile(link.state, CU_JIT_INPUT_PTX, "/nowhere", 0, nullptr, nullptr));
  CHECK(link.complete());
  CUmodule module = nullptr;
  CUfunction first = nullptr, second = nullptr;
  CHECK(cuModuleLoadData(&module, link.code));
  EXPECT(ERROR_INVALID_VALUE, add(link.state, CU_JIT_INPUT_PTX, one, "late"));

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
}

// A name that two units define, in the log.
void check_twice(const std::string& one) {
  LoggedLink link;
  CHECK(add(link.state, CU_JIT_INPUT_PTX, one, "here"));
  EXPECT(ERROR_INVALID_SOURCE, add(link.state, CU_JIT_INPUT_PTX, one, "there"));
  EXPECT(ERROR_INVALID_SOURCE, link.complete());
  require(std::strstr(link.log.data(), "'first' is defined in here and in there") != nullptr ||
              !on_virtual_gpu(),
          "the error log");
}

// A name that no unit defines. The virtual GPU refuses the launch.
void check_undefined(const std::string& one) {
  if (on_virtual_gpu()) return;
  LoggedLink link;
  CHECK(add(link.state, CU_JIT_INPUT_PTX, one, "one"));
  EXPECT(ERROR_INVALID_SOURCE, link.complete());
}

void check_refused(const std::string& one) {
  LoggedLink empty;
  CHECK(empty.complete());
  LoggedLink text;
  EXPECT(ERROR_INVALID_IMAGE, add(text.state, CU_JIT_INPUT_PTX, "no PTX", "text"));
  CHECK(text.complete());  // it was not added
  EXPECT(ERROR_INVALID_HANDLE, text.complete());
  LoggedLink object;
  ROBUST(ERROR_NOT_SUPPORTED, add(object.state, CU_JIT_INPUT_OBJECT, one, "an object"));
  LoggedLink fat;
  EXPECT(ERROR_INVALID_IMAGE,
         add(fat.state, CU_JIT_INPUT_FATBINARY, "no fat binary at all", "text"));
}

void check_machine_code(const std::string& one, const std::string& whole,
                        const std::string& relocatable) {
  LoggedLink text;
  EXPECT(ERROR_INVALID_IMAGE, add(text.state, CU_JIT_INPUT_CUBIN, "no machine code", "text"));
  LoggedLink refused;
  EXPECT(ERROR_NO_BINARY_FOR_GPU, add(refused.state, CU_JIT_INPUT_CUBIN, whole, "linked code"));
  EXPECT(ERROR_NO_BINARY_FOR_GPU, refused.complete());
  LoggedLink link;
  CHECK(add(link.state, CU_JIT_INPUT_CUBIN, relocatable, "machine code"));
  ROBUST(ERROR_NOT_SUPPORTED, add(link.state, CU_JIT_INPUT_PTX, one, "one"));
  CHECK(link.complete());
  CUmodule module = nullptr;
  load_kernel(module, link.code, "second");
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 5, "usage: link ONE.ptx TWO.ptx CUBIN TWO.cubin");
  const std::string one = read_file(argv[1]), cubin = read_file(argv[3]), two = read_file(argv[4]);
  run_part("arguments", [] {
    CUlinkState link = nullptr;
    EXPECT(ERROR_NOT_INITIALIZED, cuLinkCreate(0, nullptr, nullptr, &link));
    start();
    ROBUST(ERROR_INVALID_VALUE, cuLinkCreate(0, nullptr, nullptr, nullptr));
    CHECK(cuLinkCreate(0, nullptr, nullptr, &link));
    CHECK(cuLinkDestroy(link));
    ROBUST(ERROR_INVALID_HANDLE, cuLinkDestroy(link));
  });
  run_in_context("kernels", [&] { check_kernels(one, argv[2]); });
  run_in_context("a name defined twice", [&] { check_twice(one); });
  run_in_context("a name that is not defined", [&] { check_undefined(one); });
  run_in_context("what is no code", [&] { check_refused(one); });
  run_in_context("machine code", [&] { check_machine_code(one, cubin, two); });
  std::puts("right");
}
