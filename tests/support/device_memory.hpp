// SPDX-License-Identifier: Apache-2.0
// Arrays on the CUDA device.
#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

namespace ladder::test {

struct FreeOnDevice {
  void operator()(void* at) const { EXPECT_EQ(cudaFree(at), cudaSuccess); }
};
template <class T>
using OnDevice = std::unique_ptr<T[], FreeOnDevice>;

template <class T>
OnDevice<T> device_array(std::size_t count) {
  void* at = nullptr;
  EXPECT_EQ(cudaMalloc(&at, std::max<std::size_t>(1, count) * sizeof(T)), cudaSuccess);
  return OnDevice<T>(static_cast<T*>(at));
}
// Every byte is `fill`.
template <class T>
OnDevice<T> filled_array(std::size_t count, unsigned char fill) {
  auto at = device_array<T>(count);
  EXPECT_EQ(cudaMemset(at.get(), fill, count * sizeof(T)), cudaSuccess);
  return at;
}
template <class T>
OnDevice<T> upload(const std::vector<T>& x) {
  auto at = device_array<T>(x.size());
  EXPECT_EQ(cudaMemcpy(at.get(), x.data(), x.size() * sizeof(T), cudaMemcpyHostToDevice),
            cudaSuccess);
  return at;
}
template <class T>
std::vector<T> download(const OnDevice<T>& at, std::size_t count) {
  std::vector<T> x(count);
  EXPECT_EQ(cudaMemcpy(x.data(), at.get(), count * sizeof(T), cudaMemcpyDeviceToHost), cudaSuccess);
  return x;
}

}  // namespace ladder::test
