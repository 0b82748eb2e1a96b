// SPDX-License-Identifier: Apache-2.0
// contexts PTX: primary and other contexts, the stack of each thread, and what belongs to a
// context.
#include <thread>

#include "require.hpp"

namespace {

CUcontext current() {
  CUcontext context = nullptr;
  CHECK(cuCtxGetCurrent(&context));
  return context;
}

void check_stack(CUdevice device) {
  CUcontext first = nullptr, second = nullptr, popped = nullptr;
  CHECK(cuCtxCreate(&first, nullptr, CU_CTX_SCHED_BLOCKING_SYNC, device));
  require(current() == first, "a new context is current");
  CHECK(cuCtxCreate(&second, nullptr, 0, device));
  require(current() == second && first != second, "a second one is on top");
  unsigned flags = 0;
  CHECK(cuCtxPopCurrent(&popped));
  require(popped == second && current() == first, "the first one is current again");
  CHECK(cuCtxGetFlags(&flags));
  require(flags == CU_CTX_SCHED_BLOCKING_SYNC, "its flags");
  CHECK(cuCtxPushCurrent(second));
  CHECK(cuCtxSetCurrent(first));  // replaces the top
  require(current() == first, "the top was replaced");
  CHECK(cuCtxPopCurrent(&popped));
  CHECK(cuCtxPopCurrent(&popped));
  require(popped == first && current() == nullptr, "the stack is empty");
  EXPECT(ERROR_INVALID_CONTEXT, cuCtxPopCurrent(&popped));

  unsigned long long id = 0, other = 0;
  CHECK(cuCtxGetId(first, &id));
  CHECK(cuCtxGetId(second, &other));
  require(id != other, "identifiers");
  CUdevice found = -1;
  CHECK(cuCtxGetDevice_v2(&found, first));
  require(found == device, "the device of a context");
  CHECK(cuCtxDestroy(first));
  CHECK(cuCtxDestroy(second));
  ROBUST(ERROR_CONTEXT_IS_DESTROYED, cuCtxPushCurrent(second));
  EXPECT(ERROR_INVALID_VALUE, cuCtxPushCurrent(nullptr));
  EXPECT(ERROR_INVALID_VALUE, cuCtxDestroy(nullptr));
  unsigned version = 0;
  EXPECT(ERROR_INVALID_CONTEXT, cuCtxGetApiVersion(nullptr, &version));
}

void check_primary(CUdevice device) {
  unsigned flags = 1;
  int active = 1;
  CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  require(active == 0 && flags == 0, "the primary context is not active yet");
  EXPECT(ERROR_INVALID_CONTEXT, cuDevicePrimaryCtxRelease(device));
  CHECK(cuDevicePrimaryCtxSetFlags(device, CU_CTX_SCHED_YIELD));
  CUcontext primary = nullptr, again = nullptr;
  CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  CHECK(cuDevicePrimaryCtxRetain(&again, device));
  require(primary == again && current() == nullptr, "one primary context, not made current");
  EXPECT(ERROR_INVALID_CONTEXT, cuCtxDestroy(primary));
  CHECK(cuCtxSetCurrent(primary));
  CUdeviceptr memory = 0, other = 0;
  CHECK(cuMemAlloc(&memory, 64));
  CHECK(cuDevicePrimaryCtxRelease(device));
  CHECK(cuMemsetD8(memory, 1, 64));
  CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  require(active == 1 && flags == CU_CTX_SCHED_YIELD, "active until the last release");
  CHECK(cuDevicePrimaryCtxRelease(device));
  CHECK(cuDevicePrimaryCtxGetState(device, &flags, &active));
  require(active == 0, "released");
  require(current() == primary, "it stays on the stack");
  EXPECT(ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&other, 64));
  CHECK(cuDevicePrimaryCtxRetain(&primary, device));
  EXPECT(ERROR_INVALID_VALUE, cuMemsetD8(memory, 1, 64));  // went with the context
  CHECK(cuDevicePrimaryCtxRelease(device));
  CHECK(cuCtxSetCurrent(nullptr));
}

// Destroying a context frees its memory, streams and modules, and no other's.
void check_ownership(CUdevice device, const std::string& ptx) {
  CUcontext kept = nullptr, ended = nullptr, found = nullptr;
  CUdeviceptr mine = 0, theirs = 0;
  CUstream stream = nullptr;
  CUmodule module = nullptr;
  CUfunction function = nullptr;
  CHECK(cuCtxCreate(&kept, nullptr, 0, device));
  CHECK(cuMemAlloc(&mine, 1 << 20));
  CHECK(cuCtxCreate(&ended, nullptr, 0, device));
  CHECK(cuMemAlloc(&theirs, 1 << 20));
  CHECK(cuPointerGetAttribute(&found, CU_POINTER_ATTRIBUTE_CONTEXT, theirs));
  require(found == ended, "the context of an allocation");
  CHECK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
  CHECK(cuStreamGetCtx(stream, &found));
  require(found == ended, "the context of a stream");
  function = load_kernel(module, ptx.c_str(), "add");
  CHECK(cuCtxDestroy(ended));
  require(current() == kept, "the destroyed context left the stack");
  EXPECT(ERROR_INVALID_VALUE, cuMemsetD8(theirs, 0, 1 << 20));  // its memory is freed
  ROBUST(ERROR_INVALID_HANDLE, cuStreamSynchronize(stream));
  ROBUST(ERROR_INVALID_HANDLE, cuModuleGetFunction(&function, module, "add"));
  CHECK(cuMemsetD8(mine, 0, 1 << 20));
  CHECK(cuMemFree(mine));
  CHECK(cuCtxDestroy(kept));
}

// Each thread has a stack of its own; a context may be current in several.
void check_threads(CUdevice device, const std::string& ptx) {
  CUcontext shared = nullptr;
  CUdeviceptr at = 0;
  CHECK(cuCtxCreate(&shared, nullptr, 0, device));
  CHECK(cuMemAlloc(&at, sizeof(int)));
  CHECK(cuMemsetD32(at, 0, 1));
  CUmodule module = nullptr;
  const CUfunction count = load_kernel(module, ptx.c_str(), "count");
  const auto work = [&] {
    require(current() == nullptr, "a new thread has no context");
    CUdeviceptr none = 0;
    EXPECT(ERROR_INVALID_CONTEXT, cuMemAlloc(&none, 4));
    CHECK(cuCtxPushCurrent(shared));
    void* arguments[] = {&at};
    for (int i = 0; i < 10; ++i) {
      CUstream stream = nullptr;
      CHECK(cuStreamCreate(&stream, 0));
      CHECK(cuLaunchKernel(count, 1, 1, 1, 32, 1, 1, 0, stream, arguments, nullptr));
      CHECK(cuStreamSynchronize(stream));
      CHECK(cuStreamDestroy(stream));
    }
    CHECK(cuCtxPopCurrent(nullptr));
  };
  std::thread one(work), two(work);
  one.join();
  two.join();
  require(value_at<int>(at) == 2 * 10 * 32 * 3, "both threads' launches");
  // Destroyed by another thread: the context stays here, and its use is an error.
  std::thread([&] { CHECK(cuCtxDestroy(shared)); }).join();
  require(current() == shared, "a destroyed context stays on a stack");
  ROBUST(ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&at, 4));
  CHECK(cuCtxPopCurrent(nullptr));
}

}  // namespace

int main(int argc, char** argv) {
  require(argc == 2, "usage: contexts PTX");
  const std::string ptx = read_file(argv[1]);
  CUdevice device = -1;
  EXPECT(ERROR_NOT_INITIALIZED, cuDeviceGet(&device, 0));
  EXPECT(ERROR_INVALID_VALUE, cuInit(1));
  CHECK(cuInit(0));
  CHECK(cuDeviceGet(&device, 0));
  require(current() == nullptr, "no context yet");
  check_stack(device);
  check_primary(device);
  check_ownership(device, ptx);
  check_threads(device, ptx);
}
