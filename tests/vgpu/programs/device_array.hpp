// SPDX-License-Identifier: Apache-2.0
// Arrays in device memory.
#pragma once
#include <cstddef>
#include <vector>

#include "require.hpp"

// Memory that lives as long as the program, or until cudaFree.
template <class T>
T* allocate(std::size_t count) {
  T* device = nullptr;
  require(cudaMalloc(&device, count * sizeof(T)));
  return device;
}
template <class T>
T* upload(const std::vector<T>& host) {
  T* const device = allocate<T>(host.size());
  require(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}
template <class T>
std::vector<T> download(const T* device, std::size_t count) {
  std::vector<T> host(count);
  require(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  return host;
}

// Zero, or with the values of the host's.
template <class T>
class DeviceArray {
 public:
  explicit DeviceArray(std::size_t size) : data_(allocate<T>(size)), size_(size) {
    require(cudaMemset(data_, 0, size * sizeof(T)));
  }
  explicit DeviceArray(const std::vector<T>& values)
      : data_(upload(values)), size_(values.size()) {}
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;
  T* get() const { return data_; }
  std::vector<T> read() const { return download(data_, size_); }

 private:
  T* data_;
  std::size_t size_;
};
