// SPDX-License-Identifier: Apache-2.0
// What the guarded SGEMM (precision `auto`) decided. The decision is made on the device, from the
// operands, while the call runs; nothing waits for it but this question.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

namespace ladder {

// How the last guarded product on this stream and device was computed: kFp16x3, kBf16x6, or kIeee
// where no words would do. Waits for the stream. Holds until another call on this stream uses
// scratch memory, or 8 calls on others have followed; a graph's products are not asked. Errors
// (kInvalidArgument): there was no such product, or it is too long ago; kLaunchFailed.
Result<Precision> guarded_choice(Stream stream);

}  // namespace ladder
