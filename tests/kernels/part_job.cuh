// SPDX-License-Identifier: Apache-2.0
// A product by the kernels with k-splits and for few rows, with any of its plans.
#pragma once
#include <cstdint>
#include <vector>

#include "device/runtime.cuh"
#include "gemm/simt/part_sums.cuh"
#include "padded_matrix.hpp"

namespace ladder {

// Launches with a job for the product and with zeroed memory for `sums` partial sums, which must be
// zero afterwards.
template <class Launch>
void expect_launched(const HostProduct& p, std::int64_t more, int skip, PartJob job,
                     std::int64_t sums, Launch launch) {
  const auto m = static_cast<int>(p.m), n = static_cast<int>(p.n);
  PaddedMatrix a(p.a_along ? p.m : p.k, p.a_along ? p.k : p.m, more, skip, 1),
      b(p.b_along ? p.n : p.k, p.b_along ? p.k : p.n, more, skip, 2),
      c(p.c_rows ? p.m : p.n, p.c_rows ? p.n : p.m, more, 0, 3);
  const auto operand = [](const PaddedMatrix& x, int lines, bool along) {
    return PartOperand{x.on_device(), along ? x.ld : 1, along ? 1 : x.ld, lines,
                       x.ld % 4 == 0 && x.skip == 0};
  };
  job.a = operand(a, m, p.a_along);
  job.b = operand(b, n, p.b_along);
  job.gC = c.on_device();
  job.row_step = p.c_rows ? c.ld : 1;
  job.col_step = p.c_rows ? 1 : c.ld;
  job.aligned = c.ld % 4 == 0;
  job.m = m;
  job.n = n;
  job.k = static_cast<int>(p.k);
  job.alpha = p.alpha;
  job.beta = p.beta;
  CallMemory memory;
  const Status taken = memory.take(nullptr, 0, sums);
  ASSERT_TRUE(taken) << taken.message();
  job.gSums = memory.flags();
  const Status status = launch(job);
  ASSERT_TRUE(status) << status.message();
  multiply(p, a, b, c);
  c.expect_on_device();
  if (sums == 0) return;
  std::vector<unsigned> left(static_cast<std::size_t>(sums));
  ASSERT_EQ(
      cudaMemcpy(left.data(), job.gSums, left.size() * sizeof(unsigned), cudaMemcpyDeviceToHost),
      cudaSuccess);
  for (const unsigned word : left) ASSERT_EQ(word, 0U) << "a sum was left";
}

}  // namespace ladder
