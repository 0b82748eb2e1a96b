// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>

namespace vgpu::app {

// The instructions that the virtual GPU knows: of machine code with their classes in Nsight
// Compute's counters, and of PTX. For people, or as JSON.
std::string list_instructions(bool json);

// The devices that --device takes. The JSON is that of a file which describes one.
std::string list_devices(bool json);

}  // namespace vgpu::app
