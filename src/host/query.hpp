// SPDX-License-Identifier: Apache-2.0
// What the machine has: CUDA devices, real or virtual, and the host.
#pragma once
#include <ladder/device.hpp>
#include <ladder/status.hpp>

namespace ladder {

// Number of CUDA devices that the loaded CUDA runtime sees; 0 also where there is no driver.
int cuda_device_count();

// Errors: kInvalidArgument if `ordinal` is not below cuda_device_count(), kUnsupportedDevice if the
// runtime fails.
Result<Device> query_device(int ordinal);

// The CPU. memory_bytes is the memory now available, fp32_flops and bandwidth are unknown (0).
Device host_device();

}  // namespace ladder
