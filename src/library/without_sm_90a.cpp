// SPDX-License-Identifier: Apache-2.0
// What a library without kernels of sm_90a (LADDER_SM_90A=OFF) has in their place. No call of
// gemm.h leads here: choose() asks the registry for the kernel first.
#include "gemm/call.hpp"

namespace ladder {

Status launch_batch(const Problem& /*problem*/, const Operands& /*operands*/,
                    const Batch& /*batch*/, Stream /*stream*/) {
  return {Code::kUnsupportedDevice,
          "ladder_split_k: this library was built with LADDER_SM_90A=OFF"};
}

}  // namespace ladder
