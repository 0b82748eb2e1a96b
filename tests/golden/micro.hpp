// SPDX-License-Identifier: Apache-2.0
// The small kernels of micro_*.cu, by name.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace micro {

inline constexpr std::size_t kBytes = std::size_t{64}
                                      << 10;  // bytes of device memory that a kernel needs

struct Launch {
  const char* name;
  void (*start)(int* memory);
  // false: the results depend on the order of warps or on the device's approximations.
  bool deterministic = true;
};

std::span<const Launch> control_launches();
std::span<const Launch> divergent_launches();
std::span<const Launch> call_launches();
std::span<const Launch> memory_launches();
std::span<const Launch> async_launches();
std::span<const Launch> arithmetic_launches();
std::span<const Launch> packed_launches();
std::span<const Launch> matrix_launches();
std::span<const Launch> narrow_launches();
std::span<const Launch> hopper_launches();  // needs sm_90a

inline std::vector<Launch> launches() {
  std::vector<Launch> all;
  for (const auto& some :
       {control_launches(), divergent_launches(), call_launches(), memory_launches(),
        async_launches(), arithmetic_launches(), packed_launches(), matrix_launches(),
        narrow_launches(), hopper_launches()}) {
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

}  // namespace micro
