// SPDX-License-Identifier: Apache-2.0
#include "blas/work.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <utility>

#include "include/vgpu/vgpu.h"

namespace vgpu {

// For stubs.cpp, which cannot include the cuBLAS headers.
int refuse_unimplemented(const char* name, bool& said);
int refuse_unimplemented(const char* name, bool& said) {
  if (!said) std::fprintf(stderr, "vgpu: %s is not implemented\n", name);
  said = true;
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

}  // namespace vgpu

namespace vgpu::blas {

cublasStatus_t refuse(const char* function, const std::string& what) {
  say(fmt::format("{}: {} is not supported", function, what).c_str());
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

cublasStatus_t refuse_once(const char* function, const std::string& what) {
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return said->insert(function + what).second ? refuse(function, what)
                                              : CUBLAS_STATUS_NOT_SUPPORTED;
}

namespace {

using Work = std::function<void()>;

void execute(const Work& work) noexcept {
  try {
    work();
  } catch (const std::bad_alloc&) {
    say("cuBLAS: the host has no memory for a product; its result is not written");
  }
}

}  // namespace

cublasStatus_t submit(cudaStream_t stream, std::function<void()> work) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  if (cudaStreamIsCapturing(stream, &status) != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (status == cudaStreamCaptureStatusNone) {
    auto once = std::make_unique<Work>(std::move(work));
    const auto run = [](void* function) {
      const std::unique_ptr<Work> mine(static_cast<Work*>(function));
      execute(*mine);
    };
    if (cudaLaunchHostFunc(stream, run, once.get()) != cudaSuccess)
      return CUBLAS_STATUS_EXECUTION_FAILED;
    (void)once.release();
    return CUBLAS_STATUS_SUCCESS;
  }
  // Never freed, because the graph may be launched as long as the program runs.
  static std::mutex mutex;
  static auto* const captured = new std::deque<Work>;
  const std::scoped_lock lock(mutex);
  captured->push_back(std::move(work));
  const auto run = [](void* function) { execute(*static_cast<Work*>(function)); };
  return cudaLaunchHostFunc(stream, run, &captured->back()) == cudaSuccess
             ? CUBLAS_STATUS_SUCCESS
             : CUBLAS_STATUS_EXECUTION_FAILED;
}

Scalar::Scalar(const void* pointer, cudaDataType type, bool is_on_device)
    : pointer_(pointer), type_(type), on_device_(is_on_device) {
  if (pointer == nullptr) return;
  if (!is_on_device)
    std::memcpy(bits_, pointer, bytes_of(type));
  else if (vgpuDeviceContains(pointer, bytes_of(type)) == 0)
    pointer_ = nullptr;
}

bool on_device(const void* data, std::int64_t elements, cudaDataType type) {
  return elements <= 0 ||
         vgpuDeviceContains(data, static_cast<std::size_t>(elements) * bytes_of(type)) != 0;
}

void mark_written(void* data, std::int64_t elements, cudaDataType type) {
  if (elements > 0) vgpuMarkWritten(data, static_cast<std::size_t>(elements) * bytes_of(type));
}

cublasStatus_t property(libraryPropertyType type, int* value) {
  if (value == nullptr) return CUBLAS_STATUS_INVALID_VALUE;
  static_assert(MAJOR_VERSION == 0 && MINOR_VERSION == 1 && PATCH_LEVEL == 2);
  constexpr int kVersion[] = {CUBLAS_VER_MAJOR, CUBLAS_VER_MINOR, CUBLAS_VER_PATCH};
  if (type < MAJOR_VERSION || type > PATCH_LEVEL) return CUBLAS_STATUS_INVALID_VALUE;
  *value = kVersion[type];
  return CUBLAS_STATUS_SUCCESS;
}

namespace {

struct Text {
  cublasStatus_t status;
  const char *name, *text;
};
#define VGPU_STATUS(name, text) \
  { CUBLAS_STATUS_##name, "CUBLAS_STATUS_" #name, text }
constexpr Text kTexts[] = {
    VGPU_STATUS(SUCCESS, "success"),
    VGPU_STATUS(NOT_INITIALIZED, "the library was not initialized"),
    VGPU_STATUS(ALLOC_FAILED, "the resource allocation failed"),
    VGPU_STATUS(INVALID_VALUE, "an unsupported value or parameter was passed to the function"),
    VGPU_STATUS(ARCH_MISMATCH,
                "the function requires an architectural feature absent from the device"),
    VGPU_STATUS(MAPPING_ERROR, "an access to GPU memory space failed"),
    VGPU_STATUS(EXECUTION_FAILED, "the function failed to launch on the GPU"),
    VGPU_STATUS(INTERNAL_ERROR, "an internal operation failed"),
    VGPU_STATUS(NOT_SUPPORTED, "the requested functionality is not supported"),
    VGPU_STATUS(LICENSE_ERROR, "the license check failed"),
};

Text texts_of(cublasStatus_t status) {
  for (const Text& each : kTexts) {
    if (each.status == status) return each;
  }
  return {status, "unrecognized status", "unrecognized status"};
}

}  // namespace

const char* name_of(cublasStatus_t status) { return texts_of(status).name; }
const char* text_of(cublasStatus_t status) { return texts_of(status).text; }

}  // namespace vgpu::blas
