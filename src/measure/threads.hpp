// SPDX-License-Identifier: Apache-2.0
// The other threads of this process. Libraries keep theirs spinning for a while after a call, some
// 100 ms, in which they take a core from whatever is timed next.
#pragma once

namespace ladder {

// Whether none of them runs or wants to. True where the system does not tell (only Linux does).
bool other_threads_sleep();

// Returns as soon as they sleep, at the latest after so many seconds.
void wait_for_other_threads(double longest_s);

}  // namespace ladder
