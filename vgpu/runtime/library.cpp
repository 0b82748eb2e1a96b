// SPDX-License-Identifier: Apache-2.0
// Code that the program loads by itself: fat binaries and PTX text, from memory or from a file. Loading only notes it;
// kernels are found when they are asked for.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>

#include "engine/engine.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

// What nvcc registers: a fat binary is known by its wrapper.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* unused = nullptr;
};

struct Library {
  std::string file;  // its bytes, of libraries from files
  Wrapper wrapper;
  FatBinary* binary = nullptr;
  std::map<std::string, Function*> functions;
};

std::map<cudaLibrary_t, std::unique_ptr<Library>>& libraries() {
  static auto* const all = new std::map<cudaLibrary_t, std::unique_ptr<Library>>;
  return *all;
}

Library& known_library(cudaLibrary_t handle) {
  const auto found = libraries().find(handle);
  if (found == libraries().end()) throw Failure{cudaErrorInvalidResourceHandle, ""};
  return *found->second;
}

constexpr std::uint32_t kFatBinary = 0xba55ed50;

cudaError_t load(Runtime& runtime, cudaLibrary_t* out, std::unique_ptr<Library> library, const void* code) {
  std::uint32_t magic = 0;
  std::memcpy(&magic, code, sizeof magic);
  if (magic == library->wrapper.magic) {
    const void* data = nullptr;
    std::memcpy(&data, static_cast<const std::byte*>(code) + offsetof(Wrapper, data), sizeof data);
    code = data;
    library->file.clear();
    std::memcpy(&magic, code, sizeof magic);
  }
  if (magic == kFatBinary) {
    // The program may free its copy.
    library->wrapper.data = code;
    const auto bytes = image::fat_binary_of(&library->wrapper);
    if (library->file.empty())
      library->file.assign(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    library->wrapper.data = library->file.data();
    library->binary = runtime.modules.add(&library->wrapper);
  } else if (std::memcmp(code, "\177ELF", 4) == 0) {
    throw Failure{cudaErrorNotSupported,
                  "a library of machine code only is not implemented: give a fat binary with PTX, or PTX"};
  } else {
    library->binary = runtime.modules.add_ptx(static_cast<const char*>(code));
  }
  // The code is read now, so that what is wrong with it is this call's error.
  library->binary->module(runtime.device(), runtime.memory, runtime.settings.engine, "a library");
  *out = reinterpret_cast<cudaLibrary_t>(library.get());
  libraries()[*out] = std::move(library);
  return cudaSuccess;
}

Module& module_of(Runtime& runtime, const Library& library) {
  return library.binary->module(runtime.device(), runtime.memory, runtime.settings.engine, "a library");
}

Function* function_of(Runtime& runtime, Library& library, const std::string& name) {
  Function*& function = library.functions[name];
  if (function == nullptr) {
    if (module_of(runtime, library).find_kernel(name) == nullptr) throw Failure{cudaErrorSymbolNotFound, ""};
    function = runtime.modules.add_function(library.binary, nullptr, name.c_str());
  }
  return function;
}

}  // namespace
}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**, unsigned,
                                cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) {
    if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
    return load(runtime, library, std::make_unique<Library>(), code);
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*, void**,
                                    unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) {
    if (library == nullptr || name == nullptr) return cudaErrorInvalidValue;
    std::ifstream in(name, std::ios::binary);
    if (!in) return cudaErrorFileNotFound;
    auto made = std::make_unique<Library>();
    made->file.assign(std::istreambuf_iterator<char>(in), {});
    if (made->file.size() < 16) return cudaErrorInvalidKernelImage;
    const void* code = made->file.c_str();
    return load(runtime, library, std::move(made), code);
  });
}

cudaError_t cudaLibraryUnload(cudaLibrary_t handle) {
  return call([&](Runtime& runtime) {
    runtime.modules.unload(known_library(handle).binary);
    libraries().erase(handle);
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  return call([&](Runtime& runtime) {
    if (kernel == nullptr || name == nullptr) return cudaErrorInvalidValue;
    *kernel = reinterpret_cast<cudaKernel_t>(function_of(runtime, known_library(handle), name));
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return call([&](Runtime& runtime) {
    if (count == nullptr) return cudaErrorInvalidValue;
    *count = static_cast<unsigned>(module_of(runtime, known_library(handle)).kernel_names().size());
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count, cudaLibrary_t handle) {
  return call([&](Runtime& runtime) {
    if (kernels == nullptr && count != 0) return cudaErrorInvalidValue;
    Library& library = known_library(handle);
    const auto names = module_of(runtime, library).kernel_names();
    for (unsigned i = 0; i < std::min<std::size_t>(count, names.size()); ++i)
      kernels[i] = reinterpret_cast<cudaKernel_t>(function_of(runtime, library, names[i]));
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t handle, const char* name) {
  return call([&](Runtime& runtime) {
    if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return cudaErrorInvalidValue;
    const auto symbol = module_of(runtime, known_library(handle)).find_symbol(name);
    if (!symbol) return cudaErrorSymbolNotFound;
    if (pointer != nullptr) *pointer = symbol->address;
    if (bytes != nullptr) *bytes = symbol->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library, const char* name) {
  return cudaLibraryGetGlobal(pointer, bytes, library, name);
}
