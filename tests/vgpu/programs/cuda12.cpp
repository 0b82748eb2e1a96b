// SPDX-License-Identifier: Apache-2.0
// Calls functions as a program does that has CUDA 12's runtime linked in.
#include <cstring>

#define OF_12(name, ...) extern "C" int name(__VA_ARGS__);
#include "../verdict.hpp"
#include "cuda12.hpp"

// What follows in the caller's memory must stay as it is.
template <class T>
struct Guarded {
  T value;
  unsigned char behind[256];
  Guarded() { std::memset(this, 0x5A, sizeof *this); }
  bool intact() const {
    for (const unsigned char byte : behind) {
      if (byte != 0x5A) return false;
    }
    return true;
  }
};

int main() {
  Guarded<Properties12> properties;
  const int result = cudaGetDeviceProperties_v2(&properties.value, 0);
  if (result != 0 && tests_go_on()) return kSkipped;  // nobody redirects it on hardware
  require(result == 0, "cudaGetDeviceProperties");
  const Properties12& p = properties.value;
  require(std::strncmp(p.name, "NVIDIA H200", 11) == 0 && p.warp_size == 32 && p.major == 9 &&
              p.clock_rate == 1980000 && p.multiprocessors == 132 && properties.intact(),
          "properties");
  void *pointer, *managed;
  require(cudaMalloc(&pointer, 64) == 0, "cudaMalloc");
  require(cudaMallocManaged(&managed, 64, 1) == 0, "cudaMallocManaged");
  Guarded<PointerAttributes12> attributes;
  require(cudaPointerGetAttributes(&attributes.value, pointer) == 0 &&
              attributes.value.type == cudaMemoryTypeDevice &&
              attributes.value.device_pointer == pointer && attributes.intact(),
          "attributes of a pointer");
  int version = 0;
  require(cudaRuntimeGetVersion(&version) == 0 && version / 1000 == 12, "the runtime's version");
  require(cudaMemAdvise(managed, 64, cudaMemAdviseSetPreferredLocation, 0) == 0, "cudaMemAdvise");
  require(cudaMemPrefetchAsync(managed, 64, -1, nullptr) == 0, "to the host");
  require(cudaMemPrefetchAsync_v2(managed, 64, {cudaMemLocationTypeDevice, 0}, 0, nullptr) == 0,
          "to the device");
  cudaGraph_t graph;
  cudaGraphNode_t first, second, from, to;
  std::size_t count = 1;
  require(cudaGraphCreate(&graph, 0) == 0, "cudaGraphCreate");
  require(cudaGraphAddEmptyNode(&first, graph, nullptr, 0) == 0, "a node");
  require(cudaGraphAddEmptyNode(&second, graph, nullptr, 0) == 0, "a node");
  require(cudaGraphAddDependencies(graph, &first, &second, 1) == 0, "cudaGraphAddDependencies");
  require(cudaGraphGetEdges(graph, &from, &to, &count) == 0 && count == 1 && from == first &&
              to == second,
          "cudaGraphGetEdges");
  require(cudaGraphNodeGetDependencies_v2(second, &from, nullptr, &count) == 0 && count == 1,
          "cudaGraphNodeGetDependencies");
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  require(cudaStreamGetCaptureInfo(nullptr, &status, nullptr) == 0 &&
              status == cudaStreamCaptureStatusNone,
          "cudaStreamGetCaptureInfo");
  require(cudaThreadSynchronize() == 0, "cudaThreadSynchronize");
  require(cudaLaunchCooperativeKernelMultiDevice(nullptr, 0, 0) == cudaErrorNotSupported,
          "what is missing");
}
