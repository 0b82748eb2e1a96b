// SPDX-License-Identifier: Apache-2.0
// Modules and libraries, which are one kind of object; a module belongs to the context in which it
// was loaded. CUDA Driver API, "Module Management", "Library Management".
#include "driver/jit_log.hpp"
#include "runtime/library.hpp"

using namespace vgpu::driver;
using vgpu::runtime::Library;

namespace {

template <class Handle>
Handle handle_of(Library& library) {
  return reinterpret_cast<Handle>(&library);
}

// Calls load(runtime) with a log of its errors, and makes what it loads a module of the current
// context.
template <class Load>
CUresult load_module(const char* name, CUmodule* module, const JitLog& log, Load load) {
  return in_context(name, [&](Runtime& runtime) {
    if (module == nullptr || log.error() != CUDA_SUCCESS) refuse();
    try {
      Library& library = load(runtime);
      library.context = vgpu::runtime::current_context();
      *module = handle_of<CUmodule>(library);
      log.store_error("");
    } catch (const Failure& failure) {
      log.store_error(failure.message);
      throw;
    }
  });
}

CUresult load_data(const char* name, CUmodule* module, const void* image, const JitLog& log) {
  return load_module(name, module, log, [&](Runtime& runtime) -> Library& {
    if (image == nullptr) refuse();
    return vgpu::runtime::load_library(runtime, image, std::nullopt);
  });
}

const JitLog& no_log() {
  static const JitLog none(0, nullptr, nullptr);
  return none;
}

cudaLibrary_t library_of(CUmodule module) { return reinterpret_cast<cudaLibrary_t>(module); }

template <class Get>
CUresult find_global(const char* name, CUdeviceptr* address, Get get) {
  return with_context(name, [&] {
    void* pointer = nullptr;
    require(get(address != nullptr ? &pointer : nullptr));
    if (address != nullptr) *address = address_of(pointer);
  });
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* path) {
  return load_module(__func__, module, no_log(), [&](Runtime& runtime) -> Library& {
    if (path == nullptr) refuse();
    return vgpu::runtime::load_library_file(runtime, path);
  });
}

VGPU_BY(cuModuleLoadData, 2, load_data(__func__, a0, a1, no_log()));
VGPU_BY(cuModuleLoadDataEx, 5, load_data(__func__, a0, a1, JitLog(a2, a3, a4)));
VGPU_BY(cuModuleLoadFatBinary, 2, load_data(__func__, a0, a1, no_log()));

VGPU_WITH_CONTEXT(cuModuleUnload, cudaLibraryUnload, 1);

VGPU_WITHOUT_CONTEXT(cuModuleGetLoadingMode, CUmoduleLoadingMode* mode) {
  store(mode, CU_MODULE_LAZY_LOADING);
}

VGPU_WITHOUT_LOCK(cuModuleGetFunction, CUfunction* function, CUmodule module, const char* name) {
  if (function != nullptr) *function = nullptr;
  require(
      cudaLibraryGetKernel(reinterpret_cast<cudaKernel_t*>(function), library_of(module), name));
}

VGPU_WITH_CONTEXT(cuModuleGetFunctionCount, cudaLibraryGetKernelCount, 2);
VGPU_WITH_CONTEXT(cuModuleEnumerateFunctions, cudaLibraryEnumerateKernels, 3);

CUresult cuModuleGetGlobal_v2(CUdeviceptr* address, size_t* bytes, CUmodule module,
                              const char* name) {
  return find_global(__func__, address, [&](void** pointer) {
    if (address != nullptr) *address = 0;
    if (bytes != nullptr) *bytes = 0;
    return cudaLibraryGetGlobal(pointer, bytes, library_of(module), name);
  });
}

// A library's options concern when and how it is loaded, and have no effect.
static CUresult load_library(const char* name, CUlibrary* library, const JitLog& log,
                             unsigned count, const CUlibraryOption* options,
                             Library& (*load)(Runtime&, const char*), const void* from) {
  return in_driver(name, [&](Runtime& runtime) {
    if (library == nullptr || from == nullptr || log.error() != CUDA_SUCCESS ||
        (count != 0 && options == nullptr))
      refuse();
    try {
      *library = handle_of<CUlibrary>(load(runtime, static_cast<const char*>(from)));
      log.store_error("");
    } catch (const Failure& failure) {
      log.store_error(failure.message);
      throw;
    }
  });
}

static Library& load_from_memory(Runtime& runtime, const char* image) {
  return vgpu::runtime::load_library(runtime, image, std::nullopt);
}

CUresult cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option* options,
                           void** values, unsigned count, CUlibraryOption* library_options, void**,
                           unsigned library_count) {
  return load_library(__func__, library, JitLog(count, options, values), library_count,
                      library_options, load_from_memory, image);
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* path, CUjit_option* options,
                               void** values, unsigned count, CUlibraryOption* library_options,
                               void**, unsigned library_count) {
  return load_library(__func__, library, JitLog(count, options, values), library_count,
                      library_options, vgpu::runtime::load_library_file, path);
}

VGPU_WITH_DRIVER(cuLibraryUnload, cudaLibraryUnload, 1);
VGPU_WITH_DRIVER(cuLibraryGetKernel, cudaLibraryGetKernel, 3);
VGPU_WITH_DRIVER(cuLibraryGetKernelCount, cudaLibraryGetKernelCount, 2);
VGPU_WITH_DRIVER(cuLibraryEnumerateKernels, cudaLibraryEnumerateKernels, 3);

VGPU_IN_CONTEXT(cuLibraryGetModule, CUmodule* module, CUlibrary handle) {
  if (module == nullptr) refuse();
  *module = handle_of<CUmodule>(vgpu::runtime::known_library(handle));
}

CUresult cuLibraryGetGlobal(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                            const char* name) {
  return find_global(__func__, address, [&](void** pointer) {
    return cudaLibraryGetGlobal(pointer, bytes, library, name);
  });
}

CUresult cuLibraryGetManaged(CUdeviceptr* address, size_t* bytes, CUlibrary library,
                             const char* name) {
  return find_global(__func__, address, [&](void** pointer) {
    return cudaLibraryGetManaged(pointer, bytes, library, name);
  });
}
