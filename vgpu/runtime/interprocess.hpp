// SPDX-License-Identifier: Apache-2.0
// Device memory that several processes share (cudaIpc). Exported pages move to a memory file in
// place; another process maps the file of the exporting one.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

#include "runtime/api.hpp"

namespace vgpu::runtime {

class Runtime;

class Interprocess {
 public:
  // The handle of the allocation that begins at `pointer`. Throws Failure.
  cudaIpcMemHandle_t share(Runtime& runtime, const void* pointer, std::size_t bytes);
  // Maps what another process shared. Throws Failure.
  void* open(Runtime& runtime, const cudaIpcMemHandle_t& handle);
  void close(Runtime& runtime, void* pointer);
  bool has_opened(const void* pointer) const { return opened_.contains(pointer); }
  // Whether other processes may write the allocation that begins at `pointer`.
  bool is_shared(const void* pointer) const {
    return opened_.contains(pointer) || exported_.contains(pointer);
  }
  // The allocation is about to be freed: its pages are this process's own again.
  void forget(const void* pointer);

 private:
  struct Pages {  // of one file, in place
    std::uint64_t end = 0;
    int file = -1;
  };
  struct Opened {
    void* mapping = nullptr;
    std::size_t mapped = 0;
    unsigned count = 0;
    cudaIpcMemHandle_t handle{};
  };

  void move_to_file(std::uint64_t begin, std::uint64_t end);

  std::map<const void*, std::size_t> exported_;  // bytes of allocations
  std::map<std::uint64_t, Pages> shared_;        // by begin
  std::map<const void*, Opened> opened_;
};

// What several processes share of an event (cudaIpc), in a memory file.
class SharedEvent {
 public:
  // These throw Failure.
  static std::shared_ptr<SharedEvent> create();
  static std::shared_ptr<SharedEvent> open(const cudaIpcEventHandle_t& handle);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  cudaIpcEventHandle_t handle() const;
  // Records the event; returns how often it has been recorded.
  std::uint64_t record() { return ++counts_->recorded; }
  std::uint64_t recorded() const { return counts_->recorded; }
  // The work before the n-th record has ended.
  void complete(std::uint64_t n);
  bool is_over(std::uint64_t n) const { return counts_->completed >= n; }

 private:
  struct Counts {
    std::atomic<std::uint64_t> recorded, completed;
  };

  SharedEvent(int file, Counts* counts) : file_(file), counts_(counts) {}
  static std::shared_ptr<SharedEvent> map(int file);

  int file_;
  Counts* counts_;
};

}  // namespace vgpu::runtime
