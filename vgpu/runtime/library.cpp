// SPDX-License-Identifier: Apache-2.0
// Code that the program loads itself: fat binaries and PTX text, from memory or from a file.
// Loading reads and parses the code. A kernel is registered when it is first looked up.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>

#include "runtime/allocations.hpp"
#include "runtime/library.hpp"

namespace vgpu::runtime {
namespace {

std::map<const void*, std::unique_ptr<Library>>& libraries() {
  static auto* const all = new std::map<const void*, std::unique_ptr<Library>>;
  return *all;
}

[[noreturn]] void refuse_image(const std::string& why) {
  refuse(cudaErrorInvalidKernelImage, "the code of a library " + why);
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

  // Machine code, up to the end of what its headers name.
  std::string elf() const {
    require(image::kCubinHeader);
    const auto* const file = reinterpret_cast<const std::byte*>(data_);
    try {
      const std::size_t tables = image::cubin_tables_end({file, image::kCubinHeader});
      require(tables);
      const std::size_t bytes = image::cubin_bytes({file, tables});
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

}  // namespace

Library& known_library(const void* handle) {
  const auto found = libraries().find(handle);
  if (found == libraries().end()) refuse(cudaErrorInvalidResourceHandle);
  return *found->second;
}

Library& library_of(FatBinary& binary) {
  for (const auto& [handle, library] : libraries()) {
    if (library->binary == &binary) return *library;
  }
  auto library = std::make_unique<Library>();
  library->binary = &binary;
  Library& added = *library;
  libraries()[&added] = std::move(library);
  return added;
}

std::vector<Library*> libraries_of(const Context& context) {
  std::vector<Library*> found;
  for (const auto& [handle, library] : libraries()) {
    if (library->context == &context) found.push_back(library.get());
  }
  return found;
}

Module& module_of(Runtime& runtime, const Library& library) {
  return library.binary->module(runtime.device(), runtime.memory, runtime.settings.engine,
                                "a library");
}

Library& load_library(Runtime& runtime, const void* data, std::optional<std::size_t> limit) {
  constexpr std::uint32_t kFatBinary = 0xba55ed50;
  Image code(data, limit);
  bool is_text = false;
  auto library = std::make_unique<Library>();
  if (code.begins_with(&library->wrapper.magic, sizeof library->wrapper.magic)) {
    if (code.is_file()) refuse_image("is a pointer to code, which a file cannot hold");
    code.require(sizeof(Wrapper));
    const void* inner = nullptr;
    std::memcpy(&inner, code.data() + offsetof(Wrapper, data), sizeof inner);
    code = Image(inner, std::nullopt);
  }
  if (code.begins_with(&kFatBinary, sizeof kFatBinary)) {
    library->bytes = code.fat_binary();  // the program may free its copy
    library->wrapper.data = library->bytes.data();
    library->binary = runtime.modules.add(&library->wrapper);
  } else if (code.begins_with("\177ELF", 4)) {
    library->binary = runtime.modules.add_code(image::Kind::kCubin, code.elf());
  } else {
    is_text = true;
    std::string text = code.text();
    if (text.find(".version") == text.npos)
      refuse_image("is neither a fat binary, nor machine code, nor PTX");
    library->binary = runtime.modules.add_code(image::Kind::kPtx, std::move(text));
  }
  try {
    // Read the code now, so that this call reports errors in it.
    module_of(runtime, *library);
  } catch (Failure& failure) {
    runtime.modules.unload(library->binary);
    // PTX alone that is for newer devices is refused by its compiler.
    if (is_text && runtime.settings.engine != EngineChoice::kSass &&
        failure.code == cudaErrorNoKernelImageForDevice)
      failure.code = cudaErrorInvalidPtx;
    throw;
  }
  Library& loaded = *library;
  libraries()[&loaded] = std::move(library);
  return loaded;
}

Library& load_library_file(Runtime& runtime, const char* path) {
  std::string file;
  if (read_file(path, file) != 0) refuse(cudaErrorFileNotFound);
  if (file.empty()) refuse(cudaErrorInvalidKernelImage);
  return load_library(runtime, file.data(), file.size());
}

void unload_library(Runtime& runtime, Library& library) {
  runtime.modules.unload(library.binary);
  libraries().erase(&library);
}

}  // namespace vgpu::runtime

using namespace vgpu::runtime;

static Function& function_of(Runtime& runtime, Library& library, const std::string& name) {
  Function*& function = library.functions[name];
  if (function == nullptr) {
    if (module_of(runtime, library).find_kernel(name) == nullptr) refuse(cudaErrorSymbolNotFound);
    function = runtime.modules.add_function(library.binary, nullptr, name.c_str());
  }
  return *function;
}

static cudaLibrary_t handle_of(Library& library) {
  return reinterpret_cast<cudaLibrary_t>(&library);
}

VGPU_CALL(cudaLibraryLoadData, cudaLibrary_t* library, const void* code, cudaJitOption*, void**,
          unsigned, cudaLibraryOption*, void**, unsigned) {
  if (library == nullptr || code == nullptr) refuse();
  *library = handle_of(load_library(runtime, code, std::nullopt));
}

VGPU_CALL(cudaLibraryLoadFromFile, cudaLibrary_t* library, const char* name, cudaJitOption*, void**,
          unsigned, cudaLibraryOption*, void**, unsigned) {
  if (library == nullptr || name == nullptr) refuse();
  *library = handle_of(load_library_file(runtime, name));
}

VGPU_CALL(cudaLibraryUnload, cudaLibrary_t handle) {
  unload_library(runtime, known_library(handle));
}

VGPU_CALL(cudaLibraryGetKernel, cudaKernel_t* kernel, cudaLibrary_t handle, const char* name) {
  if (kernel == nullptr || name == nullptr) refuse();
  *kernel = reinterpret_cast<cudaKernel_t>(&function_of(runtime, known_library(handle), name));
}

cudaError_t cudaLibraryGetKernelCount(unsigned* count, cudaLibrary_t handle) {
  return call_for(count, [&](Runtime& runtime) {
    return static_cast<unsigned>(module_of(runtime, known_library(handle)).kernel_names().size());
  });
}

VGPU_CALL(cudaLibraryEnumerateKernels, cudaKernel_t* kernels, unsigned count,
          cudaLibrary_t handle) {
  if (kernels == nullptr && count != 0) refuse();
  Library& library = known_library(handle);
  const auto names = module_of(runtime, library).kernel_names();
  for (unsigned i = 0; i < std::min<std::size_t>(count, names.size()); ++i)
    kernels[i] = reinterpret_cast<cudaKernel_t>(&function_of(runtime, library, names[i]));
}

VGPU_CALL(cudaLibraryGetGlobal, void** pointer, size_t* bytes, cudaLibrary_t handle,
          const char* name) {
  if (name == nullptr || (pointer == nullptr && bytes == nullptr)) refuse();
  const auto symbol = module_of(runtime, known_library(handle)).find_symbol(name);
  if (!symbol) refuse(cudaErrorSymbolNotFound);
  if (pointer != nullptr) *pointer = symbol->address;
  if (bytes != nullptr) *bytes = symbol->bytes;
}
VGPU_BY(cudaLibraryGetManaged, 4, cudaLibraryGetGlobal(a0, a1, a2, a3));
