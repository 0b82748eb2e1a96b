// SPDX-License-Identifier: Apache-2.0
// The decision of the guarded SGEMM (precision `auto`). The device makes it from the operands while
// the call runs; only guarded_choice() waits for it.
#pragma once
#include <ladder/kernel.hpp>
#include <ladder/status.hpp>

namespace ladder {

// Returns how the last guarded product on this stream and device was computed: kFp16x3, kBf16x6, or
// kIeee if no split format can represent the operands accurately enough. Waits for the stream. The
// answer is available until another call on this stream uses scratch memory, or until 8 calls on
// other streams have followed. Products in graphs are not covered. Errors: kInvalidArgument (there
// was no such product, or it is too long ago), kLaunchFailed.
Result<Precision> guarded_choice(Stream stream);

}  // namespace ladder
