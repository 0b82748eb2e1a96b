// SPDX-License-Identifier: Apache-2.0
// More than 48 KB of dynamic shared memory must be requested, and cannot exceed the device's limit.
#include <vector>

#include "device_array.hpp"

__global__ void reverse(int* data, int n) {
  extern __shared__ int tile[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) tile[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = tile[n - 1 - i];
}

int main() {
  int optin = 0;
  require(cudaDeviceGetAttribute(&optin, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
  const int n = optin / static_cast<int>(sizeof(int));
  std::vector<int> host(n);
  for (int i = 0; i < n; ++i) host[i] = i;
  int* const device = upload(host);

  reverse<<<1, 256, optin>>>(device, n);
  require(cudaGetLastError(), cudaErrorInvalidValue, "without the attribute the launch is refused");
  require(cudaDeviceSynchronize(), "the refusal is not sticky");
  require(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, optin + 1),
          cudaErrorInvalidValue, "more than the device has cannot be allowed");
  cudaGetLastError();
  require(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, optin));
  reverse<<<1, 256, optin>>>(device, n);
  require(cudaGetLastError());
  const std::vector<int> got = download(device, n);
  for (int i = 0; i < n; ++i) require(got[i] == n - 1 - i, "an element");
}
