// SPDX-License-Identifier: Apache-2.0
#include "measure/timer.hpp"

#include <cuda_runtime_api.h>

#include <chrono>
#include <type_traits>
#include <utility>

#include "operands/buffer.hpp"

namespace ladder {
namespace {

class Event {
 public:
  static Result<Event> make() {
    Event event;
    if (Status status = cuda_status(cudaEventCreate(&event.event_), "cudaEventCreate"); !status)
      return status;
    return event;
  }
  ~Event() {
    if (event_ != nullptr) (void)cudaEventDestroy(event_);
  }
  Event(Event&& other) noexcept : event_(std::exchange(other.event_, nullptr)) {}
  Event& operator=(Event&& other) noexcept {
    std::swap(event_, other.event_);
    return *this;
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  cudaEvent_t get() const { return event_; }

 private:
  Event() = default;
  cudaEvent_t event_ = nullptr;
};

struct DestroyGraph {
  void operator()(cudaGraph_t graph) const { (void)cudaGraphDestroy(graph); }
  void operator()(cudaGraphExec_t graph) const { (void)cudaGraphExecDestroy(graph); }
};

class CudaTimer final : public Timer {
 public:
  ~CudaTimer() override {
    if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
  }
  CudaTimer() = default;
  CudaTimer(const CudaTimer&) = delete;
  CudaTimer& operator=(const CudaTimer&) = delete;

  Status open() {
    return cuda_status(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                       "cudaStreamCreate");
  }

  Result<std::vector<double>> time(const std::vector<Launch>& launches) override {
    while (events_.size() < 2 * launches.size()) {
      auto event = Event::make();
      if (!event) return event.status();
      events_.push_back(std::move(event).value());
    }
    for (std::size_t i = 0; i < launches.size(); ++i) {
      if (Status s = cuda_status(cudaEventRecord(events_[2 * i].get(), stream_), "cudaEventRecord");
          !s)
        return s;
      if (Status s = launches[i](stream_); !s) return s;
      if (Status s =
              cuda_status(cudaEventRecord(events_[2 * i + 1].get(), stream_), "cudaEventRecord");
          !s)
        return s;
    }
    if (Status s = cuda_status(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); !s)
      return s;
    std::vector<double> times;
    times.reserve(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
      float ms = 0;
      const auto error = cudaEventElapsedTime(&ms, events_[2 * i].get(), events_[2 * i + 1].get());
      if (Status s = cuda_status(error, "cudaEventElapsedTime"); !s) return s;
      times.push_back(ms);
    }
    return times;
  }

  Result<Launch> together(std::vector<Launch> launches) override {
    const auto begun = cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed);
    if (Status s = cuda_status(begun, "cudaStreamBeginCapture"); !s) return s;
    Status failed = Status::ok();
    for (const Launch& launch : launches) {
      if (failed) failed = launch(stream_);
    }
    cudaGraph_t raw = nullptr;
    // Also after a failure; otherwise the stream stays in capture mode.
    const auto ended = cudaStreamEndCapture(stream_, &raw);
    const std::unique_ptr<std::remove_pointer_t<cudaGraph_t>, DestroyGraph> graph(raw);
    if (!failed) return failed;
    if (Status s = cuda_status(ended, "cudaStreamEndCapture"); !s) return s;
    cudaGraphExec_t exec = nullptr;
    const auto made = cudaGraphInstantiateWithFlags(&exec, graph.get(), 0);
    if (Status s = cuda_status(made, "cudaGraphInstantiate"); !s) return s;
    const std::shared_ptr<std::remove_pointer_t<cudaGraphExec_t>> kept(exec, DestroyGraph{});
    return Launch([kept](Stream stream) {
      return cuda_status(cudaGraphLaunch(kept.get(), stream), "cudaGraphLaunch");
    });
  }

 private:
  cudaStream_t stream_ = nullptr;
  std::vector<Event> events_;
};

class HostTimer final : public Timer {
 public:
  Result<std::vector<double>> time(const std::vector<Launch>& launches) override {
    std::vector<double> times;
    times.reserve(launches.size());
    for (const Launch& launch : launches) {
      const auto start = std::chrono::steady_clock::now();
      if (Status status = launch(nullptr); !status) return status;
      const std::chrono::duration<double, std::milli> elapsed =
          std::chrono::steady_clock::now() - start;
      times.push_back(elapsed.count());
    }
    return times;
  }

  Result<Launch> together(std::vector<Launch> launches) override {
    return Launch([launches = std::move(launches)](Stream stream) {
      for (const Launch& launch : launches) {
        if (Status status = launch(stream); !status) return status;
      }
      return Status::ok();
    });
  }
};

}  // namespace

Result<std::unique_ptr<Timer>> Timer::make(Place place) {
  if (place == Place::kHost) return std::unique_ptr<Timer>(std::make_unique<HostTimer>());
  auto timer = std::make_unique<CudaTimer>();
  if (Status status = timer->open(); !status) return status;
  return std::unique_ptr<Timer>(std::move(timer));
}

}  // namespace ladder
