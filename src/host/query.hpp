// SPDX-License-Identifier: Apache-2.0
// Queries the machine's devices: CUDA devices, real or virtual, and the host.
#pragma once
#include <ladder/device.hpp>
#include <ladder/status.hpp>

namespace ladder {

// Number of CUDA devices that the loaded CUDA runtime reports; 0 if there is no driver.
int cuda_device_count();

// Errors: kInvalidArgument if `ordinal` is not below cuda_device_count(), kUnsupportedDevice if the
// runtime fails.
Result<Device> query_device(int ordinal);

// The CPU. memory_bytes is the memory available now; fp32_flops and bandwidth are 0 (unknown).
Device host_device();

}  // namespace ladder
