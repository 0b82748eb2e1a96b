// SPDX-License-Identifier: Apache-2.0
// Initialisation, version and errors. CUDA Driver API, "Initialization", "Version Management",
// "Error Handling".
#include <dlfcn.h>
#include <fmt/format.h>

#include <set>
#include <string>

#include "driver/api.hpp"
#include "redirect/cuda_file.hpp"
#include "runtime/driver_function.hpp"

namespace vgpu::driver {
namespace {

// The file that `code` lies in, if it has a CUDA runtime of its own that is not redirected; else
// "". Such a runtime expects more of a driver than is documented.
std::string hidden_runtime_around(const void* code) {
  Dl_info info{};
  if (::dladdr(code, &info) == 0 || info.dli_fname == nullptr) return "";
  const std::string path = info.dli_fname;
  return hides_runtime(path, read_cuda_file(path)) ? path : "";
}

}  // namespace

CUresult missing_context() {
  if (!Runtime::get().initialised) return CUDA_ERROR_NOT_INITIALIZED;
  const runtime::Context* const current = runtime::current_context();
  if (current == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  return current->destroyed ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

CUresult result_of(cudaError_t error) {
  switch (error) {
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidChannelDescriptor: return CUDA_ERROR_INVALID_VALUE;
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidDeviceFunction: return CUDA_ERROR_NOT_FOUND;
    default: return static_cast<CUresult>(error);
  }
}

Entry::Entry(const char* name)
    : outer_(std::exchange(runtime::driver_call(), name)), last_error_(runtime::last_error()) {}

Entry::~Entry() {
  runtime::driver_call() = outer_;
  runtime::last_error() = last_error_;
}

}  // namespace vgpu::driver

using namespace vgpu::driver;

CUresult cuInit(unsigned flags) {
  const void* const caller = __builtin_return_address(0);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Runtime& runtime = Runtime::get();
  if (const std::string path = hidden_runtime_around(caller); !path.empty()) {
    static std::set<std::string> said;
    const std::scoped_lock lock(runtime.mutex);
    if (said.insert(path).second) {
      vgpu::runtime::say(
          fmt::format("{}: its CUDA runtime is linked in without symbols and cannot be replaced: "
                      "it finds no device",
                      path));
    }
    return CUDA_ERROR_NO_DEVICE;
  }
  const std::scoped_lock lock(runtime.mutex);
  runtime.begin();
  return runtime.initialised ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

namespace {

// Null for an unknown code.
const char* known_name(CUresult code) {
  switch (code) {
#define VGPU_CODE(name) \
  case name:            \
    return #name;
#include "driver_results.inc"
#undef VGPU_CODE
    default: return nullptr;
  }
}

// The texts are the runtime's, but for the codes that it has not.
const char* text_of(CUresult code) {
  switch (code) {
    case CUDA_ERROR_CONTEXT_ALREADY_CURRENT: return "context already current";
    case CUDA_ERROR_KEY_ROTATION: return "resource contents are lost to a rotation of keys";
    default: return cudaGetErrorString(static_cast<cudaError_t>(code));
  }
}

}  // namespace

CUresult cuGetErrorName(CUresult code, const char** name) {
  if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *name = known_name(code);
  return *name != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult code, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = known_name(code) != nullptr ? text_of(code) : nullptr;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// Works before cuInit.
CUresult cuGetProcAddress_v2(const char* symbol, void** function, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* status) {
  if (version > CUDA_VERSION) return CUDA_ERROR_INVALID_VALUE;
  const auto found = vgpu::runtime::find_driver_function(symbol, function, version, flags);
  if (!found) return CUDA_ERROR_INVALID_VALUE;
  if (status != nullptr) *status = static_cast<CUdriverProcAddressQueryResult>(*found);
  return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char* symbol, void** function, int version, cuuint64_t flags) {
  CUdriverProcAddressQueryResult status{};
  const CUresult result = cuGetProcAddress_v2(symbol, function, version, flags, &status);
  if (result != CUDA_SUCCESS) return result;
  return status == CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVIDIA's libraries ask for undocumented tables, and manage without.
CUresult cuGetExportTable(const void**, const CUuuid*) { return CUDA_ERROR_NOT_SUPPORTED; }
