// SPDX-License-Identifier: Apache-2.0
// A device that says it is smaller than it is, so that small problems are shared out among its SMs
// as large ones are among a real device's. pretended_device.cpp answers in the CUDA runtime's
// place, which must be a library that is loaded.
#pragma once

namespace ladder {

struct PretendedDevice {
  int sms = 0, l2_bytes = 0;  // 0: the truth
};
extern PretendedDevice pretended;

}  // namespace ladder
