// SPDX-License-Identifier: Apache-2.0
// A device that reports fewer resources than it has, so that small problems are distributed over
// its SMs as large ones are on a real device. pretended_device.cpp replaces functions of the CUDA
// runtime, which must be a shared library.
#pragma once

namespace ladder {

struct PretendedDevice {
  int sms = 0, l2_bytes = 0;  // 0: the real value
};
extern PretendedDevice pretended;

}  // namespace ladder
