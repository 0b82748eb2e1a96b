// SPDX-License-Identifier: Apache-2.0
// What the planner knows of a device and of a call's operands.
#pragma once

namespace ladder {

// By default an H200's.
struct DeviceFacts {
  int sms = 132;
  int l2_bytes = 60 << 20;
  int cc = 90;  // compute capability
};

// Bytes of which the addresses of A and B are multiples, at most 256.
struct Alignment {
  int a = 256, b = 256;
};

}  // namespace ladder
