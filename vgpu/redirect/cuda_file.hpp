// SPDX-License-Identifier: Apache-2.0
// Reads which CUDA runtime a program file or a library uses, and where the entry points are of a
// runtime that is linked in. Only documented facts are read: sections, symbols and the names of
// the runtime's functions.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace vgpu {

// CUDA's libraries that the virtual GPU has under the same names, in its folder.
inline constexpr std::array kStandIns = {
    "libcudart.so.13", "libcudart.so.12",   "libcuda.so.1",
    "libcublas.so.13", "libcublasLt.so.13", "libcufft.so.12",
    "libcurand.so.10", "libcusolver.so.12", "libcusparse.so.12"};
// The library with the functions of the runtime and the driver.
inline constexpr const char* kCore = "libvgpu.so";

struct RuntimeName {
  const char* name;    // of a runtime's function
  const char* target;  // of the virtual GPU's function; null if there is none
};

// The functions of CUDA 13 (vgpu/names.cmake), then those of CUDA 12 that differ (names12.inc).
std::span<const RuntimeName> runtime_names();

// Addresses are relative to where the file is loaded.
struct EntryPoint {
  unsigned name;  // index of runtime_names()
  std::uint64_t address, size;
  std::array<unsigned char, 9> head;  // the code's first bytes
};

// A part of the file that is loaded as code.
struct CodeSegment {
  std::uint64_t address, size, offset;
  bool writable;
};

enum class StaticRuntime { kNone, kCuda13, kCuda12, kOlder };

struct CudaFile {
  bool is_elf = false;           // 64-bit and little-endian; false for a script
  std::string interpreter;       // the dynamic loader; "" for a library or if statically linked
  bool has_device_code = false;  // nvcc's section .nv_fatbin
  bool has_symbols = false;      // not stripped
  bool calls_others = false;     // a runtime's functions that another library must have
  std::uint64_t tls_bytes = 0;   // of thread-local variables, with room for alignment
  std::string needed;            // "libcudart.so.13" if it is linked to the shared runtime
  StaticRuntime runtime = StaticRuntime::kNone;
  std::vector<EntryPoint> entry_points;  // by address
  std::vector<CodeSegment> code;

  // Whether a runtime that it has must be one that no symbol names.
  bool has_hidden_names() const { return !has_symbols && !calls_others && needed.empty(); }
  bool has_hidden_runtime() const { return has_device_code && has_hidden_names(); }
};

// A path's last part.
std::string_view file_name(std::string_view path);

// Whether the file's name is that of one of NVIDIA's libraries that have a runtime linked in,
// without symbols. A program that is linked to one need not call it.
bool is_of_toolkit(std::string_view path);

// Whether the code in the file has a runtime that no symbol names; NVIDIA's libraries also where
// the file has no device code.
bool hides_runtime(std::string_view path, const CudaFile& file);

// Returns default values for a file that cannot be read or is damaged.
CudaFile read_cuda_file(const std::string& path);

// Why the runtime in the file cannot be redirected, and what to do; "" if it can.
std::string obstacle(const CudaFile& file);

}  // namespace vgpu
