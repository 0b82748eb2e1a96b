// SPDX-License-Identifier: Apache-2.0
// Which of a rung's compiled tiles this device gets: the one tuned for its name, else the one for
// any.
#pragma once
#include <ladder/kernel.hpp>

#include <cuda_runtime.h>

#include <string>
#include <string_view>
#include <vector>

namespace ladder {

struct TunedTile {
  std::string_view gpu;  // cudaDeviceProp::name; "" for any
  Status (*launch)(const Problem& problem, const Operands& operands, Stream stream);
};

// The names of all devices, queried once: a launch must not wait for cudaGetDeviceProperties. The
// virtual GPU's marks itself behind the name of the GPU that it stands for.
inline const std::vector<std::string>& device_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    int count = 0;
    if (cudaGetDeviceCount(&count) != cudaSuccess) count = 0;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      cudaDeviceProp prop{};
      const bool known = cudaGetDeviceProperties(&prop, ordinal) == cudaSuccess;
      std::string name = known ? prop.name : "";
      if (const auto mark = name.find(" (virtual)"); mark != std::string::npos) name.resize(mark);
      all.push_back(std::move(name));
    }
    return all;
  }();
  return names;
}

// The first entry for the current device or for any; the last entry of `tiles` is for any.
template <class Tiles>
const TunedTile& tile_for_device(const Tiles& tiles) {
  int ordinal = 0;
  const bool known =
      cudaGetDevice(&ordinal) == cudaSuccess && ordinal < static_cast<int>(device_names().size());
  const TunedTile* found = nullptr;
  for (const TunedTile& tile : tiles) {
    found = &tile;
    if (tile.gpu.empty() || (known && tile.gpu == device_names()[ordinal])) break;
  }
  return *found;
}

}  // namespace ladder
