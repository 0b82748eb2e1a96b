// SPDX-License-Identifier: Apache-2.0
// Properties of a kernel that are known without lowering it.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace vgpu {

struct Dim3 {
  std::uint32_t x = 1, y = 1, z = 1;
  std::uint64_t count() const { return std::uint64_t{x} * y * z; }
  bool operator==(const Dim3&) const = default;
};

struct Param {
  std::uint32_t offset = 0, size = 0;  // bytes in the packed parameter block
};

struct KernelAttributes {
  std::string name;           // mangled
  std::vector<Param> params;  // in order of declaration
  std::uint32_t param_bytes = 0;
  std::uint32_t static_shared_bytes = 0;
  std::uint32_t local_bytes = 0;  // per thread
  std::uint32_t constant_bytes = 0;
  std::uint32_t max_threads = 0;  // .maxntid; 0 if not given
  Dim3 cluster{0, 0, 0};          // .reqnctapercluster; 0 if not given
  int target = 0;                 // 80 for sm_80
};

}  // namespace vgpu
