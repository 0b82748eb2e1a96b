// SPDX-License-Identifier: Apache-2.0
// Which memory a call's kernels get: the caller's workspace, the handle's, or the library's pool.
#pragma once
#include "device/loan.hpp"
#include "device/relaxed_capture.hpp"
#include "device/runtime.cuh"
#include "library/handle.hpp"

#include <cstdint>

namespace ladder::api {

// What a call needs: its kernel, and the call itself for a product that is stored apart. Below,
// launch(apart) enqueues the kernel; `apart` is the address of that product.
struct Lent {
  MemoryNeed need;  // of the kernel; only read with a caller's workspace or a product apart
  std::int64_t apart_bytes = 0;
};

template <class Launch>
Status lend_workspace(const ladder_context& handle, const Lent& lent, Launch launch) {
  char* const scratch = handle.workspace + lent.apart_bytes;
  auto* const flags = reinterpret_cast<unsigned*>(scratch + part_bytes(lent.need.scratch));
  if (lent.need.flags > 0) {
    const cudaError_t error =
        cudaMemsetAsync(flags, 0, static_cast<std::size_t>(lent.need.flags) * 4, handle.stream);
    if (error != cudaSuccess) return cuda_failure("workspace", error);
  }
  const Loan loan(scratch, flags, lent.need);
  return launch(handle.workspace);
}

// Code::kOutOfMemory: the memory does not suffice or is another stream's, and nothing was enqueued.
template <class Launch>
Status lend_own_memory(ladder_context& handle, const Lent& lent, Launch launch) {
  Status no_memory(Code::kOutOfMemory, "");
  if (!handle.stream_id || (handle.owner && *handle.owner != *handle.stream_id)) return no_memory;
  const std::int64_t apart = lent.apart_bytes;
  if (apart > handle.own.scratch) return no_memory;
  const Loan loan(handle.scratch + apart, handle.flags,
                  {handle.own.scratch - apart, handle.own.flags});
  Status status = launch(handle.scratch);
  if (status.code() != Code::kOutOfMemory) handle.owner = handle.stream_id;
  return status;
}

template <class Launch>
Status lend_pool(const ladder_context& handle, const Lent& lent, Launch launch) {
  const RelaxedCapture relaxed;  // the pool may have to allocate
  if (lent.apart_bytes == 0) return launch(nullptr);
  CallMemory memory;
  if (Status s = memory.take(handle.stream, lent.apart_bytes + lent.need.scratch, lent.need.flags);
      !s)
    return s;
  char* const at = memory.scratch();
  const Loan loan(at + lent.apart_bytes, memory.flags(), lent.need);
  return launch(at);
}

template <class Launch>
Status with_memory(ladder_context& handle, const Lent& lent, Launch launch) {
  if (handle.workspace != nullptr) return lend_workspace(handle, lent, launch);
  Status status = lend_own_memory(handle, lent, launch);
  return status.code() == Code::kOutOfMemory ? lend_pool(handle, lent, launch) : status;
}

}  // namespace ladder::api
