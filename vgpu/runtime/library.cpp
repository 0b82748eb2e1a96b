// SPDX-License-Identifier: Apache-2.0
// Code that the program loads itself: fat binaries and PTX text, from memory or from a file.
// Loading reads and parses the code. A kernel is registered when it is first looked up.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <system_error>

#include "engine/engine.hpp"
#include "runtime/host_memory.hpp"
#include "runtime/runtime.hpp"

namespace vgpu::runtime {
namespace {

// The wrapper of a fat binary, as nvcc registers it.
struct Wrapper {
  std::uint32_t magic = 0x466243b1, version = 1;
  const void* data = nullptr;
  void* unused = nullptr;
};

struct Library {
  std::string bytes;  // a copy of its fat binary
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

Module& module_of(Runtime& runtime, const Library& library) {
  return library.binary->module(runtime.device(), runtime.memory, runtime.settings.engine,
                                "a library");
}

[[noreturn]] void refuse_image(const std::string& why) {
  throw Failure{cudaErrorInvalidKernelImage, "the code of a library " + why};
}

// Code in memory whose size follows only from its contents.
class Image {
 public:
  // `limit` is the number of bytes, if known. Otherwise each access is checked with can_read().
  Image(const void* data, std::optional<std::size_t> limit)
      : data_(static_cast<const char*>(data)), limit_(limit) {}

  const char* data() const { return data_; }
  bool is_file() const { return limit_.has_value(); }
  bool has(std::size_t bytes) const { return limit_ ? bytes <= *limit_ : can_read(data_, bytes); }
  void require(std::size_t bytes) const {
    if (!has(bytes)) refuse_image(fmt::format("ends before its {} bytes", bytes));
  }
  bool begins_with(const void* bytes, std::size_t count) const {
    return has(count) && std::memcmp(data_, bytes, count) == 0;
  }

  std::string fat_binary() const {
    require(image::kFatBinaryHeader);
    try {
      const std::size_t bytes =
          image::fat_binary_bytes(std::span<const std::byte, image::kFatBinaryHeader>(
              reinterpret_cast<const std::byte*>(data_), image::kFatBinaryHeader));
      require(bytes);
      return {data_, bytes};
    } catch (const image::Damaged& error) {
      refuse_image(fmt::format("is damaged: {}", error.what()));
    }
  }

  // The text up to the terminating zero byte or the end of the file.
  std::string text() const {
    constexpr std::size_t kStep = 4096;
    for (std::size_t bytes = 0;;) {
      std::size_t more = kStep - reinterpret_cast<std::uintptr_t>(data_ + bytes) %
                                     kStep;  // up to the end of the page
      if (limit_) more = std::min(more, *limit_ - bytes);
      if (more == 0) return {data_, bytes};
      if (!limit_ && !can_read(data_ + bytes, more))
        refuse_image("is text that does not end with a zero byte");
      if (const void* end = std::memchr(data_ + bytes, 0, more); end != nullptr)
        return {data_, static_cast<const char*>(end)};
      bytes += more;
    }
  }

 private:
  const char* data_;
  std::optional<std::size_t> limit_;
};

cudaError_t load(Runtime& runtime, cudaLibrary_t* out, Image code) {
  constexpr std::uint32_t kFatBinary = 0xba55ed50;
  auto library = std::make_unique<Library>();
  if (code.begins_with(&library->wrapper.magic, sizeof library->wrapper.magic)) {
    if (code.is_file()) refuse_image("is a pointer to code, which a file cannot hold");
    code.require(sizeof(Wrapper));
    const void* data = nullptr;
    std::memcpy(&data, code.data() + offsetof(Wrapper, data), sizeof data);
    code = Image(data, std::nullopt);
  }
  if (code.begins_with(&kFatBinary, sizeof kFatBinary)) {
    library->bytes = code.fat_binary();  // the program may free its copy
    library->wrapper.data = library->bytes.data();
    library->binary = runtime.modules.add(&library->wrapper);
  } else if (code.begins_with("\177ELF", 4)) {
    throw Failure{
        cudaErrorNotSupported,
        "a library of machine code only is not implemented: give a fat binary with PTX, or PTX"};
  } else {
    library->binary = runtime.modules.add_ptx(code.text());
  }
  try {
    // Read the code now, so that this call reports errors in it.
    module_of(runtime, *library);
  } catch (...) {
    runtime.modules.unload(library->binary);
    throw;
  }
  *out = reinterpret_cast<cudaLibrary_t>(library.get());
  libraries()[*out] = std::move(library);
  return cudaSuccess;
}

Function* function_of(Runtime& runtime, Library& library, const std::string& name) {
  Function*& function = library.functions[name];
  if (function == nullptr) {
    if (module_of(runtime, library).find_kernel(name) == nullptr)
      throw Failure{cudaErrorSymbolNotFound, ""};
    function = runtime.modules.add_function(library.binary, nullptr, name.c_str());
  }
  return function;
}

}  // namespace
}  // namespace vgpu::runtime

using namespace vgpu::runtime;

cudaError_t cudaLibraryLoadData(cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
                                unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) {
    if (library == nullptr || code == nullptr) return cudaErrorInvalidValue;
    return load(runtime, library, Image(code, std::nullopt));
  });
}

cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t* library, const char* name, cudaJitOption*,
                                    void**, unsigned, cudaLibraryOption*, void**, unsigned) {
  return call([&](Runtime& runtime) {
    if (library == nullptr || name == nullptr) return cudaErrorInvalidValue;
    std::error_code error;
    if (!std::filesystem::is_regular_file(name, error)) return cudaErrorFileNotFound;
    std::ifstream in(name, std::ios::binary);
    if (!in) return cudaErrorFileNotFound;
    const std::string file(std::istreambuf_iterator<char>(in), {});
    if (file.empty()) return cudaErrorInvalidKernelImage;
    return load(runtime, library, Image(file.data(), file.size()));
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

cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t* kernels, unsigned count,
                                        cudaLibrary_t handle) {
  return call([&](Runtime& runtime) {
    if (kernels == nullptr && count != 0) return cudaErrorInvalidValue;
    Library& library = known_library(handle);
    const auto names = module_of(runtime, library).kernel_names();
    for (unsigned i = 0; i < std::min<std::size_t>(count, names.size()); ++i)
      kernels[i] = reinterpret_cast<cudaKernel_t>(function_of(runtime, library, names[i]));
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetGlobal(void** pointer, size_t* bytes, cudaLibrary_t handle,
                                 const char* name) {
  return call([&](Runtime& runtime) {
    if (name == nullptr || (pointer == nullptr && bytes == nullptr)) return cudaErrorInvalidValue;
    const auto symbol = module_of(runtime, known_library(handle)).find_symbol(name);
    if (!symbol) return cudaErrorSymbolNotFound;
    if (pointer != nullptr) *pointer = symbol->address;
    if (bytes != nullptr) *bytes = symbol->bytes;
    return cudaSuccess;
  });
}

cudaError_t cudaLibraryGetManaged(void** pointer, size_t* bytes, cudaLibrary_t library,
                                  const char* name) {
  return cudaLibraryGetGlobal(pointer, bytes, library, name);
}
