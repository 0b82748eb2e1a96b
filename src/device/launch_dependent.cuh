// SPDX-License-Identifier: Apache-2.0
// Launches that return their own error: cudaGetLastError would also return, and clear, an error
// that another library's call left. Kernels may overlap the preceding one (programmatic dependent
// launch) or run in thread block clusters. CUDA C++ Programming Guide, "Programmatic Dependent
// Launch and Synchronization", "Thread Block Clusters".
#pragma once
#include "device/runtime.cuh"

#include <cuda_runtime.h>

#include <cstdint>

namespace ladder {

// Launches `kernel` after the preceding one. Errors: kLaunchFailed.
template <class Kernel, class... Arguments>
Status launch_kernel(const char* name, Kernel kernel, dim3 grid, int threads, int shared_bytes,
                     cudaStream_t stream, const Arguments&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  return error == cudaSuccess ? Status::ok() : cuda_failure(name, error);
}

// Launches `kernel` in clusters of `cluster` blocks along x. Its blocks may start before the
// preceding kernel has ended, and the kernel itself waits for that (griddepcontrol). Errors:
// kLaunchFailed.
template <class Kernel, class... Arguments>
Status launch_dependent(const char* name, Kernel kernel, dim3 grid, int cluster, int threads,
                        int shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  cudaError_t error = shared_bytes > 0
                          ? allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes)
                          : cudaSuccess;
  if (error != cudaSuccess) return cuda_failure(name, error);
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = dim3(static_cast<unsigned>(threads));
  config.dynamicSmemBytes = static_cast<std::size_t>(shared_bytes);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = cluster > 1 ? 2 : 1;
  error = cudaLaunchKernelEx(&config, kernel, arguments...);
  return error == cudaSuccess ? Status::ok() : cuda_failure(name, error);
}
template <class Kernel, class... Arguments>
Status launch_dependent(const char* name, Kernel kernel, std::int64_t blocks, int cluster,
                        int threads, int shared_bytes, cudaStream_t stream,
                        const Arguments&... arguments) {
  return launch_dependent(name, kernel, dim3(static_cast<unsigned>(blocks)), cluster, threads,
                          shared_bytes, stream, arguments...);
}

}  // namespace ladder
