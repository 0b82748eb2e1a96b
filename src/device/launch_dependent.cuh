// SPDX-License-Identifier: Apache-2.0
// Launches that return their own error: cudaGetLastError would also return, and clear, an error
// that another library's call left. Kernels may overlap the preceding one (programmatic dependent
// launch) or run in thread block clusters. CUDA C++ Programming Guide, "Programmatic Dependent
// Launch and Synchronization", "Thread Block Clusters".
#pragma once
#include "device/runtime.cuh"

#include <cuda_runtime.h>

#include <cstdint>
#include <span>

namespace ladder {

struct Grid : dim3 {
  Grid(std::int64_t x, std::int64_t y = 1, std::int64_t z = 1)
      : dim3(static_cast<unsigned>(x), static_cast<unsigned>(y), static_cast<unsigned>(z)) {}
};

// The functions below return kLaunchFailed as an error.
template <class Kernel, class... Arguments>
Status launch_with(std::span<cudaLaunchAttribute> attributes, const char* name, Kernel kernel,
                   const Grid& grid, int threads, int shared_bytes, cudaStream_t stream,
                   const Arguments&... arguments) {
  const cudaLaunchConfig_t config{grid,
                                  dim3(static_cast<unsigned>(threads)),
                                  static_cast<std::size_t>(shared_bytes),
                                  stream,
                                  attributes.data(),
                                  static_cast<unsigned>(attributes.size())};
  const cudaError_t error = cudaLaunchKernelEx(&config, kernel, arguments...);
  return error == cudaSuccess ? Status::ok() : cuda_failure(name, error);
}

// Launches `kernel` after the preceding one.
template <class Kernel, class... Arguments>
Status launch_kernel(const char* name, Kernel kernel, const Grid& grid, int threads,
                     int shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  return launch_with({}, name, kernel, grid, threads, shared_bytes, stream, arguments...);
}

// Launches `kernel` in clusters of `cluster` blocks along x. Its blocks may start before the
// preceding kernel has ended, and the kernel itself waits for that (griddepcontrol).
template <class Kernel, class... Arguments>
Status launch_dependent(const char* name, Kernel kernel, const Grid& grid, int cluster, int threads,
                        int shared_bytes, cudaStream_t stream, const Arguments&... arguments) {
  if (shared_bytes > 0) {
    const void* const function = reinterpret_cast<const void*>(kernel);
    if (const cudaError_t error = allow_shared(function, shared_bytes); error != cudaSuccess)
      return cuda_failure(name, error);
  }
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[0].val.programmaticStreamSerializationAllowed = 1;
  attributes[1].id = cudaLaunchAttributeClusterDimension;
  attributes[1].val.clusterDim = {static_cast<unsigned>(cluster), 1, 1};
  return launch_with(std::span(attributes).first(cluster > 1 ? 2 : 1), name, kernel, grid, threads,
                     shared_bytes, stream, arguments...);
}

}  // namespace ladder
