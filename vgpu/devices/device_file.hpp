// SPDX-License-Identifier: Apache-2.0
// Devices described by JSON files (docs/device.schema.json), in the form that device_json() writes.
#pragma once
#include <string>

#include "devices/devices.hpp"

namespace vgpu {

// Whether an item of --device names a file and not a known device.
bool names_device_file(std::string_view item);

// Reads the device that the file describes. Returns "" or an error message that names the file, the
// key and the rule. find_device() then finds it, and its texts live as long as the process.
std::string read_device(const std::string& path, Device& device);

// The device as such a file.
std::string device_json(const Device& device);

}  // namespace vgpu
