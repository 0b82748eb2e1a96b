// SPDX-License-Identifier: Apache-2.0
// Memory pools: one default pool per device, and the pools that programs create.
#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "runtime/api.hpp"

namespace vgpu::runtime {

class Runtime;

struct Pool {
  int device = 0;
  std::uint64_t used = 0, most_used = 0;  // bytes
  std::uint64_t release_threshold = 0;    // stored without effect, like the next three
  int follow_events = 1, opportunistic = 1, internal_dependencies = 1;
};

class Pools {
 public:
  cudaMemPool_t create(int device);
  Pool* find(cudaMemPool_t handle);   // null for a handle of no live pool
  Pool& known(cudaMemPool_t handle);  // throws Failure for a handle of no live pool
  bool destroy(cudaMemPool_t handle);
  cudaMemPool_t default_of(int device);
  cudaMemPool_t current_of(int device);
  void set_current(int device, cudaMemPool_t pool) { currents_[device] = pool; }
  bool is_default(cudaMemPool_t pool) const;

 private:
  std::vector<std::unique_ptr<Pool>> pools_;
  std::map<int, cudaMemPool_t> defaults_, currents_;
};

// Like allocate(), and updates the pool's count of bytes. forget_pooled() updates it before the
// pointer is released.
void allocate_from(Runtime& runtime, cudaMemPool_t pool, void** pointer, std::size_t bytes,
                   const void* caller);
void forget_pooled(Runtime& runtime, void* pointer);

}  // namespace vgpu::runtime
