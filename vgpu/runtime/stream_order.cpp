// SPDX-License-Identifier: Apache-2.0
#include "runtime/stream_order.hpp"

#include <algorithm>
#include <cstdio>
#include <new>
#include <thread>
#include <utility>

namespace vgpu::runtime {
namespace {

bool is_finished(const Ticket& task) { return task->done; }

void add_tasks(Tasks& tasks, Stream& stream) {
  std::erase_if(stream.tail, is_finished);
  tasks.unfinished.insert(tasks.unfinished.end(), stream.tail.begin(), stream.tail.end());
  tasks.last = std::max(tasks.last, stream.last_task);
}

bool is_blocking(const Stream& stream) { return (stream.flags & cudaStreamNonBlocking) == 0; }

// Keeps an error that the program learns of when it synchronises.
void fail_later(Runtime& runtime, const Failure& failure) {
  if (!failure.message.empty()) say(failure.message);
  if (runtime.fault.code != cudaSuccess) return;  // the first one stays
  runtime.fault = {failure.code, "", failure.message, WorkQueue::current()->number, false};
}

void run_guarded(Runtime& runtime, const std::function<void()>& work) {
  try {
    work();
  } catch (const Abandoned&) {
    if (runtime.fault.code == cudaSuccess) runtime.queue.drop_queued();
  } catch (const Failure& failure) {
    fail_later(runtime, failure);
  } catch (const std::bad_alloc&) {
    fail_later(runtime, {out_of_memory(runtime), ""});
  } catch (const std::exception& error) {
    fail_later(runtime, {cudaErrorUnknown, error.what()});
  }
}

Ticket queue_work(Runtime& runtime, Stream& stream, std::function<void()> work) {
  const int device = Runtime::ordinal();
  const Ticket task = runtime.queue.add(
      [device, work = std::move(work)] {
        const OnDevice here(device);
        work();
      },
      predecessors(runtime, stream).unfinished, device);
  stream.tail = {task};
  stream.last_task = task->number;
  return task;
}

}  // namespace

Tasks predecessors(Runtime& runtime, Stream& stream) {
  Tasks tasks;
  add_tasks(tasks, stream);
  if (!is_blocking(stream)) return tasks;
  Stream& legacy = runtime.streams.legacy(stream.device);
  if (&stream != &legacy) {
    add_tasks(tasks, legacy);
    return tasks;
  }
  runtime.streams.for_each([&](Stream& other) {
    if (&other != &legacy && is_blocking(other) && other.device == stream.device)
      add_tasks(tasks, other);
  });
  return tasks;
}

Tasks tasks_of(Runtime& runtime, Stream& stream) {
  if (&stream == &runtime.streams.legacy(stream.device)) return predecessors(runtime, stream);
  Tasks tasks;
  add_tasks(tasks, stream);
  return tasks;
}

void mark(Runtime& runtime, Event& event, Stream& stream) {
  Tasks tasks = predecessors(runtime, stream);
  stream.tail = tasks.unfinished;
  stream.last_task = tasks.last;
  event.recorded = true;
  event.work = std::move(tasks.unfinished);
  event.last_task = tasks.last;
  event.time = Task::Clock::now();
  if (event.shared == nullptr) return;
  submit(runtime, stream,
         [shared = event.shared, n = event.shared->record()] { shared->complete(n); });
}

void follow(Runtime& runtime, Stream& stream, const Event& event) {
  stream.tail.insert(stream.tail.end(), event.work.begin(), event.work.end());
  stream.last_task = std::max(stream.last_task, event.last_task);
  const std::uint64_t n = event.shared == nullptr ? 0 : event.shared->recorded();
  if (event.shared == nullptr || event.shared->is_over(n)) return;
  submit(runtime, stream, [&runtime, shared = event.shared, n] {
    for (bool still = false; !shared->is_over(n); still = true) {
      if (runtime.fault.code != cudaSuccess) throw Abandoned();
      static_cast<void>(runtime.queue.let_others_run(WorkQueue::Writer::kAnybody, still));
    }
  });
}

void submit(Runtime& runtime, Stream& stream, std::function<void()> work, bool blocking) {
  const Ticket task = queue_work(runtime, stream, [&runtime, work = std::move(work)] {
    if (runtime.fault.code == cudaSuccess) run_guarded(runtime, work);
  });
  // A kernel takes microseconds on a GPU, so that programs find its results in managed memory even
  // where they do not wait for it.
  const bool seen = runtime.pointers.has_managed() || !runtime.modules.managed_variables().empty();
  if (blocking)
    await(runtime, {{task}, task->number});
  else if (seen)
    runtime.queue.wait_briefly(task);
}

void submit_host_function(Runtime& runtime, Stream& stream,
                          std::function<void(cudaError_t)> function, bool always) {
  queue_work(runtime, stream, [&runtime, function = std::move(function), always] {
    const cudaError_t error = runtime.fault.code;
    if (error != cudaSuccess && !always) return;
    {
      const Unlocked meanwhile(runtime.mutex);
      Runtime::in_host_function() = true;
      function(error);
      Runtime::in_host_function() = false;
    }
    if (!std::exchange(Runtime::marks_writes(), false)) runtime.known.host_function_ends();
  });
}

void show_results(Runtime& runtime, std::uint64_t last) {
  while (!runtime.output.empty() && runtime.output.front().task <= last) {
    const std::string text = std::move(runtime.output.front().text);
    runtime.output.pop_front();
    std::fwrite(text.data(), 1, text.size(), stdout);
  }
  if (runtime.fault.code == cudaSuccess || runtime.fault.task > last) return;
  runtime.fault.seen = true;
  refuse(runtime.fault.code);
}

void await(Runtime& runtime, const Tasks& tasks) {
  runtime.queue.wait(tasks.unfinished);
  show_results(runtime, tasks.last);
}

cudaError_t ask(Runtime& runtime, const Tasks& tasks) {
  if (!std::ranges::all_of(tasks.unfinished, is_finished)) {
    // A program that asks all the time must not keep the lock from the workers.
    const Unlocked meanwhile(runtime.mutex);
    std::this_thread::yield();
    return cudaErrorNotReady;
  }
  show_results(runtime, tasks.last);
  return cudaSuccess;
}

Tasks tasks_of_device(Runtime& runtime, int device) {
  Tasks tasks{{}, runtime.queue.last_number()};
  for (const Ticket& task : runtime.queue.pending()) {
    if (task->device == device) tasks.unfinished.push_back(task);
  }
  return tasks;
}

Tasks all_tasks(Runtime& runtime) {
  const std::deque<Ticket>& pending = runtime.queue.pending();
  return {{pending.begin(), pending.end()}, runtime.queue.last_number()};
}

}  // namespace vgpu::runtime
