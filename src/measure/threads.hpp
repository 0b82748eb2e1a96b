// SPDX-License-Identifier: Apache-2.0
// The other threads of this process. After a call, libraries keep theirs spinning for up to about
// 100 ms, which takes a core from whatever is timed next.
#pragma once

namespace ladder {

// Whether no other thread is running or runnable. Always true except on Linux.
bool other_threads_sleep();

// Returns as soon as they sleep, at the latest after `longest_s` seconds.
void wait_for_other_threads(double longest_s);

}  // namespace ladder
