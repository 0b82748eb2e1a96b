// SPDX-License-Identifier: Apache-2.0
// A matrix of small integers on the host and on the device. NaN precedes its first element and lies
// between its rows.
#pragma once
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <vector>

namespace ladder {

class PaddedMatrix {
 public:
  // `skip` elements before the first one, `more` elements behind each row.
  PaddedMatrix(std::int64_t rows, std::int64_t cols, std::int64_t more, int skip, int seed)
      : ld(cols + more),
        skip(skip),
        x(static_cast<std::size_t>(skip + rows * ld), std::numeric_limits<float>::quiet_NaN()) {
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < cols; ++j)
        at(i, j) = static_cast<float>((i * 7 + j * 3 + seed + i * j % 3) % 5 - 2);
    }
    if (cudaMalloc(&memory_, bytes()) != cudaSuccess ||
        cudaMemcpy(memory_, x.data(), bytes(), cudaMemcpyHostToDevice) != cudaSuccess)
      throw std::bad_alloc();
  }
  ~PaddedMatrix() { static_cast<void>(cudaFree(memory_)); }
  PaddedMatrix(const PaddedMatrix&) = delete;
  PaddedMatrix& operator=(const PaddedMatrix&) = delete;

  [[nodiscard]] float& at(std::int64_t i, std::int64_t j) {
    return x[static_cast<std::size_t>(skip + i * ld + j)];
  }
  [[nodiscard]] float* on_device() const { return static_cast<float*>(memory_) + skip; }

  // That the device's copy equals the host's, NaN included.
  void expect_on_device() const {
    std::vector<float> found(x.size());
    ASSERT_EQ(cudaMemcpy(found.data(), memory_, bytes(), cudaMemcpyDeviceToHost), cudaSuccess);
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_TRUE(std::isnan(x[i]) ? std::isnan(found[i]) : found[i] == x[i])
          << "at " << i << ": " << found[i] << ", not " << x[i];
  }

  const std::int64_t ld;
  const int skip;
  std::vector<float> x;  // on the host

 private:
  [[nodiscard]] std::size_t bytes() const { return x.size() * sizeof(float); }
  void* memory_ = nullptr;
};

// C = alpha A B + beta C on the host. `a_along`, `b_along`: A and B are K-major; `c_rows`: rows of
// C are contiguous.
struct HostProduct {
  std::int64_t m, n, k;
  bool a_along, b_along, c_rows;
  float alpha, beta;
};

inline void multiply(const HostProduct& p, PaddedMatrix& a, PaddedMatrix& b, PaddedMatrix& c) {
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      float sum = 0;
      for (std::int64_t k = 0; k < p.k; ++k)
        sum += (p.a_along ? a.at(i, k) : a.at(k, i)) * (p.b_along ? b.at(j, k) : b.at(k, j));
      float& to = p.c_rows ? c.at(i, j) : c.at(j, i);
      to = p.beta == 0 ? p.alpha * sum : p.alpha * sum + p.beta * to;
    }
  }
}

}  // namespace ladder
