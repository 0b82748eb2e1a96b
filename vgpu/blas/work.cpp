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

namespace vgpu::blas {

void say(const char* text) {
  std::fflush(stdout);
  std::fprintf(stderr, "vgpu: %s\n", text);
}

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

}  // namespace vgpu::blas
