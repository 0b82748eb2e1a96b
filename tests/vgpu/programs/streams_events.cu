// SPDX-License-Identifier: Apache-2.0
// Streams, events and host functions in a stream.
#include "require.hpp"

__global__ void fill(int* data, int value) { data[threadIdx.x] = value; }

static void CUDART_CB raise(void* flag) { *static_cast<int*>(flag) += 1; }
static void CUDART_CB note(cudaStream_t, cudaError_t status, void* flag) {
  *static_cast<int*>(flag) += status == cudaSuccess ? 10 : 1000;
}

// What an H100 (driver 580) accepts, and what it says afterwards.
static void check_access_policy(cudaStream_t stream, void* data) {
  constexpr auto kWindow = cudaLaunchAttributeAccessPolicyWindow;
  cudaStreamAttrValue value{}, found{};
  value.accessPolicyWindow = {data, 256, 0.5F, cudaAccessPropertyPersisting,
                              cudaAccessPropertyStreaming};
  require(cudaStreamSetAttribute(stream, kWindow, &value));
  const auto is_refused = [&](std::size_t bytes, float ratio, cudaAccessProperty miss) {
    cudaStreamAttrValue wrong = value;
    wrong.accessPolicyWindow.num_bytes = bytes;
    wrong.accessPolicyWindow.hitRatio = ratio;
    wrong.accessPolicyWindow.missProp = miss;
    const cudaError_t error = cudaStreamSetAttribute(stream, kWindow, &wrong);
    cudaGetLastError();
    return error == cudaErrorInvalidValue;
  };
  require(is_refused(256, 1.5F, cudaAccessPropertyStreaming), "a ratio above 1");
  require(is_refused(256, -0.5F, cudaAccessPropertyStreaming), "a ratio below 0");
  require(is_refused(256, 0.5F, cudaAccessPropertyPersisting), "misses that persist");
  require(is_refused(1U << 28, 0.5F, cudaAccessPropertyStreaming), "a window that is too large");
  require(cudaStreamGetAttribute(stream, kWindow, &found));
  require(found.accessPolicyWindow.base_ptr == data && found.accessPolicyWindow.num_bytes == 256 &&
              found.accessPolicyWindow.hitRatio == 0.5F,
          "the window that was accepted");

  cudaDeviceProp properties{};
  std::size_t bytes = 0;
  require(cudaGetDeviceProperties(&properties, 0));
  const std::size_t way = properties.l2CacheSize / 16, most = properties.persistingL2CacheMaxSize;
  require(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 1));
  require(cudaDeviceGetLimit(&bytes, cudaLimitPersistingL2CacheSize));
  require(bytes == way, "whole ways of L2");
  require(cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, most + 1) == cudaErrorInvalidValue,
          "more of L2 than may be set aside");
  cudaGetLastError();
}

int main() {
  cudaStream_t a, b;
  cudaEvent_t start, stop, untimed;
  int* data;
  require(cudaStreamCreate(&a));
  require(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
  require(cudaEventCreate(&start));
  require(cudaEventCreate(&stop));
  require(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming));
  require(cudaMallocAsync(&data, 64 * sizeof(int), a));

  require(cudaEventRecord(start, a));
  fill<<<1, 64, 0, a>>>(data, 7);
  require(cudaEventRecord(stop, a));
  require(cudaStreamWaitEvent(b, stop, 0));
  int host[64], flag = 0;
  require(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, b));
  require(cudaLaunchHostFunc(b, raise, &flag));
  require(cudaStreamAddCallback(b, note, &flag, 0));
  require(cudaStreamSynchronize(b));
  require(flag == 11, "both host functions ran");
  require(host[0] == 7 && host[63] == 7, "the copy after the kernel");
  require(cudaStreamQuery(a));
  require(cudaEventSynchronize(stop));
  float milliseconds = -1;
  require(cudaEventElapsedTime(&milliseconds, start, stop));
  require(milliseconds > 0, "time has passed");

  unsigned flags = 0;
  int priority = 1;
  require(cudaStreamGetFlags(b, &flags));
  require(flags == cudaStreamNonBlocking, "the stream's flags");
  require(cudaStreamGetPriority(a, &priority));
  require(priority == 0, "the default priority");
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusActive;
  require(cudaStreamIsCapturing(a, &capture));
  require(capture == cudaStreamCaptureStatusNone, "nothing is captured");

  check_access_policy(a, data);

  require(cudaFreeAsync(data, a));
  require(cudaStreamDestroy(a));
  require(cudaStreamDestroy(b));
  require(cudaEventDestroy(start));
  require(cudaEventDestroy(stop));
  require(cudaEventDestroy(untimed));
}
