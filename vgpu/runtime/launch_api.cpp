// SPDX-License-Identifier: Apache-2.0
// The entry points that launch kernels. CUDA Runtime API, "Execution Control".
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "runtime/graph/capture.hpp"
#include "runtime/launch.hpp"

using namespace vgpu::runtime;

namespace {

struct Configuration {
  dim3 grid, block;
  std::size_t shared;
  cudaStream_t stream;
};

// The arguments between <<< and >>>, until the stub that nvcc generated for the kernel pops them.
std::vector<Configuration>& configurations() {
  thread_local std::vector<Configuration> stack;
  return stack;
}

// Launches, or adds a node if the stream is being captured.
void launch_or_record(Runtime& runtime, const void* function, const Request& request) {
  Stream& on = stream_for(runtime, request.stream);
  if (capture_of(on) == nullptr) return launch(runtime, on, function, request);
  KernelWork work = kernel_work(runtime, function, request.grid, request.block,
                                request.dynamic_shared, request.arguments, request.cooperative);
  work.cluster = request.cluster;
  record(on, std::move(work));
}

// Whether the calling thread is in the stub of a kernel, which drops what the launch returns.
bool& in_stub() {
  thread_local bool inside = false;
  return inside;
}

void note_dropped(Runtime& runtime, const void* handle, cudaError_t code, const char* why) {
  if (code == cudaSuccess || runtime.fault.code != cudaSuccess) return;
  const Function* const function = runtime.modules.function(handle);
  const std::string kernel = function == nullptr ? "a kernel" : function->shown;
  const std::string reason =
      *why == 0 ? fmt::format("{}: {}", kernel, cudaGetErrorString(code)) : why;
  runtime.launch_errors.note(
      {"launch error", kernel,
       fmt::format(
           "launch error: {}\n  the kernel did not run, and no cudaGetLastError() after the "
           "launch asked for {}",
           reason, cudaGetErrorName(code)),
       "", 0});
}

void launch_in_stub(Runtime& runtime, const void* function, const Request& request) {
  try {
    launch_or_record(runtime, function, request);
  } catch (const Failure& failure) {
    const dim3& grid = request.grid;
    const bool nothing_to_do = grid.x == 0 || grid.y == 0 || grid.z == 0;
    if (!nothing_to_do) note_dropped(runtime, function, failure.code, failure.message.c_str());
    throw;
  }
}

}  // namespace

unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, CUstream_st* stream) {
  configurations().push_back({grid, block, shared, stream});
  return 0;
}

cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, size_t* shared, void* stream) {
  if (configurations().empty()) return finish(cudaErrorMissingConfiguration);
  const Configuration top = configurations().back();
  configurations().pop_back();
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  in_stub() = true;
  return cudaSuccess;
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                             size_t shared, cudaStream_t stream) {
  const bool dropped = std::exchange(in_stub(), false);
  return call([&](Runtime& runtime) {
    const Request request{grid, block, arguments, shared, stream, false, {0, 0, 0}};
    if (dropped)
      launch_in_stub(runtime, function, request);
    else
      launch_or_record(runtime, function, request);
  });
}
VGPU_TWIN(cudaLaunchKernel, _ptsz, 6);

VGPU_BY(__cudaLaunchKernel, 6, cudaLaunchKernel(a0, a1, a2, a3, a4, a5));
VGPU_TWIN(__cudaLaunchKernel, _ptsz, 6);

VGPU_CALL_PTSZ(cudaLaunchCooperativeKernel, const void* function, dim3 grid, dim3 block,
               void** arguments, size_t shared, cudaStream_t stream) {
  launch_or_record(runtime, function, {grid, block, arguments, shared, stream, true, {0, 0, 0}});
}

VGPU_CALL_PTSZ(cudaLaunchKernelExC, const cudaLaunchConfig_t* config, const void* function,
               void** arguments) {
  if (config == nullptr || (config->numAttrs != 0 && config->attrs == nullptr)) refuse();
  Request request{
      config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes, config->stream,
      false,           {0, 0, 0}};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const cudaLaunchAttribute& attribute = config->attrs[i];
    switch (attribute.id) {
      case cudaLaunchAttributeCooperative:
        request.cooperative = attribute.val.cooperative != 0;
        break;
      case cudaLaunchAttributeClusterDimension: {
        const auto& cluster = attribute.val.clusterDim;
        if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0) refuse(cudaErrorInvalidClusterSize);
        request.cluster = {cluster.x, cluster.y, cluster.z};
        break;
      }
      // Attributes of scheduling and placement have no effect here.
      case cudaLaunchAttributeIgnore:
      case cudaLaunchAttributeAccessPolicyWindow:
      case cudaLaunchAttributeClusterSchedulingPolicyPreference:
      case cudaLaunchAttributeProgrammaticStreamSerialization:
      case cudaLaunchAttributePriority:
      case cudaLaunchAttributeMemSyncDomainMap:
      case cudaLaunchAttributeMemSyncDomain:
      case cudaLaunchAttributePreferredSharedMemoryCarveout: break;
      default:
        refuse(cudaErrorNotSupported, fmt::format("{}: launch attribute {} is not implemented",
                                                  known_function(runtime, function).shown,
                                                  static_cast<int>(attribute.id)));
    }
  }
  launch_or_record(runtime, function, request);
}
