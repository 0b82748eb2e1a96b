// SPDX-License-Identifier: Apache-2.0
// The order of work in streams: what a stream's next work must follow, and what waiting for a
// stream means. The functions that wait or submit release the runtime's lock meanwhile: a reference
// to a stream or an event may not be used after them.
#pragma once
#include <functional>
#include <vector>

#include "runtime/runtime.hpp"

namespace vgpu::runtime {

struct Tasks {
  std::vector<Ticket> unfinished;
  std::uint64_t last = 0;  // the highest number, finished ones included
};

// What the stream's next work must follow. The legacy default stream follows all blocking streams
// of its device, and they follow it.
Tasks predecessors(Runtime& runtime, Stream& stream);

// What synchronising with the stream waits for: its own work, or what the legacy stream follows.
Tasks tasks_of(Runtime& runtime, Stream& stream);

// Lets the event stand for what the stream's next work would follow.
void mark(Runtime& runtime, Event& event, Stream& stream);
// The stream's next work follows what the event stands for.
void follow(Runtime& runtime, Stream& stream, const Event& event);

// Queues `work`, which runs with the runtime's lock held. What it throws becomes the sticky error.
// If there is such an error, it does not run. `blocking`: waits for it, and throws what await does.
void submit(Runtime& runtime, Stream& stream, std::function<void()> work, bool blocking = false);

// Queues a function of the program, which runs without the lock. It gets the sticky error; a
// function that is not `always` called is not if there is one.
void submit_host_function(Runtime& runtime, Stream& stream,
                          std::function<void(cudaError_t)> function, bool always);

// Runs work that never waits, such as a copy, at once if the stream is idle. Otherwise calls
// `check`, which makes the work's checks, and queues the work.
template <class Check, class Work>
void run_in_order(Runtime& runtime, Stream& stream, Check check, Work work) {
  if (predecessors(runtime, stream).unfinished.empty()) return work();
  check();
  submit(runtime, stream, work);
}

// Waits for the tasks, then shows what kernels printed. Throws Failure with the sticky error if one
// of the tasks or an earlier one caused it.
void await(Runtime& runtime, const Tasks& tasks);
// As await(), but returns cudaErrorNotReady instead of waiting.
cudaError_t ask(Runtime& runtime, const Tasks& tasks);
Tasks tasks_of_device(Runtime& runtime, int device);
Tasks all_tasks(Runtime& runtime);

// Shows what kernels printed that were submitted up to this task, and throws Failure with the
// sticky error if one of them caused it.
void show_results(Runtime& runtime, std::uint64_t last);

}  // namespace vgpu::runtime
