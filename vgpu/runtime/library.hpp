// SPDX-License-Identifier: Apache-2.0
// Code that the program loads itself: libraries of the runtime API and of the driver API, and the
// driver API's modules, all of which are one kind of object.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

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
  const Context* context = nullptr;  // of a module; null for a library, which has all contexts
};

// Reads a wrapper, a fat binary, machine code (an ELF file) or PTX text that ends with a zero byte;
// or, if `limit` is given, with the file. All functions throw Failure.
Library& load_library(Runtime& runtime, const void* code, std::optional<std::size_t> limit);
Library& load_library_file(Runtime& runtime, const char* path);
void unload_library(Runtime& runtime, Library& library);

Library& known_library(const void* handle);
// The library of a fat binary. One that the program registered at its start becomes a library, too.
Library& library_of(FatBinary& binary);
std::vector<Library*> libraries_of(const Context& context);

Module& module_of(Runtime& runtime, const Library& library);

}  // namespace vgpu::runtime
