// SPDX-License-Identifier: Apache-2.0
// The virtual GPU's own interface, found at run time, as by a tool that also runs on a GPU.
#include <dlfcn.h>

#include <cstring>
#include <string>

#include "require.hpp"
#include "vgpu/vgpu.h"

template <class F>
static F* find(const char* name) {
  void* symbol = dlsym(RTLD_DEFAULT, name);
  require(symbol != nullptr, name);
  return reinterpret_cast<F*>(symbol);
}

__global__ void touch(int* data) { data[threadIdx.x] = 1; }

__global__ void racy(int* data) {
  __shared__ int tile[64];
  tile[threadIdx.x] = data[threadIdx.x];
  data[threadIdx.x] = tile[63 - threadIdx.x];
}

static int count(const std::string& text, const std::string& word) {
  int n = 0;
  for (auto at = text.find(word); at != text.npos; at = text.find(word, at + 1)) ++n;
  return n;
}

int main() {
  skip_on_hardware();
  const auto device_name = find<decltype(vgpuDeviceName)>("vgpuDeviceName");
  const auto reset = find<decltype(vgpuResetCounters)>("vgpuResetCounters");
  const auto counters = find<decltype(vgpuCountersJson)>("vgpuCountersJson");
  const auto set_race_check = find<decltype(vgpuSetRaceCheck)>("vgpuSetRaceCheck");
  const auto set_schedule = find<decltype(vgpuSetSchedule)>("vgpuSetSchedule");
  const auto last_fault = find<decltype(vgpuLastFault)>("vgpuLastFault");
  const auto last_kind = find<decltype(vgpuLastFaultKind)>("vgpuLastFaultKind");
  const auto clear_fault = find<decltype(vgpuClearFault)>("vgpuClearFault");
  const auto contains = find<decltype(vgpuDeviceContains)>("vgpuDeviceContains");

  require(std::strcmp(device_name(), "h200") == 0, "the device's name");
  int *data, *kept, host[64];
  require(cudaMalloc(&data, sizeof host));
  require(cudaMalloc(&kept, sizeof host));
  touch<<<1, 64>>>(kept);
  require(contains(data, sizeof host) == 1, "the allocation");
  require(contains(data, sizeof host + 1) == 0, "a byte more");
  require(contains(host, 1) == 0, "host memory");

  touch<<<1, 64>>>(data);
  require(count(counters(), "touch(int*)") == 0, "nothing is kept before the first reset");
  reset();
  touch<<<1, 64>>>(data);
  require(count(counters(), "touch(int*)") == 1, "one launch after the reset");

  require(std::strcmp(set_schedule("random:7"), "eager") == 0, "copies landed at once");
  require(set_schedule("late") == nullptr, "no schedule");
  require(std::strcmp(set_schedule("lazy"), "random:7") == 0, "copies landed at random");
  require(std::strcmp(set_schedule("eager"), "lazy") == 0, "copies landed late");

  require(std::strlen(last_fault()) == 0 && std::strlen(last_kind()) == 0, "no fault yet");
  require(set_race_check(1) == 1, "the race check was on");
  racy<<<1, 64>>>(data);
  require(cudaDeviceSynchronize() != cudaSuccess, "the race");
  require(std::strstr(last_kind(), "race") != nullptr, "the fault's kind");
  require(std::strstr(last_fault(), "racy") != nullptr, "the report names the kernel");
  clear_fault();
  require(std::strlen(last_fault()) == 0, "the fault is cleared");
  require(set_race_check(0) == 1, "the race check was on");
  require(cudaMemcpy(host, kept, sizeof host, cudaMemcpyDeviceToHost), "the device works again");
  require(host[0] == 1 && host[63] == 1, "memory kept its contents");
  racy<<<1, 64>>>(data);
  require(cudaDeviceSynchronize(), "without the check nothing is found");
}
