// SPDX-License-Identifier: Apache-2.0
// A kernel seen on the virtual GPU: small problems launched, counted and traced, and counts for any
// problem that follow from them.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "analyse/trace.hpp"
#include "measure/count.hpp"

namespace ladder::analyse {

inline constexpr const char* kMultiplyAdds = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

// Where a matrix lay when the trace was taken.
struct Matrix {
  char name = '?';
  std::uint64_t begin = 0, bytes = 0;
  std::int64_t ld = 1, element_bytes = 4;
};

struct Observation {
  std::string kernel, engine;  // of the launch that multiplies
  Problem problem;             // the one that was traced
  double blocks = 0;           // of that problem
  std::array<std::uint64_t, 3> block_shape{};
  int threads = 0, registers = 0, shared_bytes = 0;  // registers 0: unknown (no machine code)
  int launches = 0;                                  // of one problem
  Trace trace;
  std::vector<Matrix> matrices;
  // Of a metric, a block's share: `fixed` and `per_k` of depth. `exact` where a third depth agrees.
  struct Scale {
    double fixed = 0, per_k = 0;
    bool exact = false;
    bool certain = false;  // under "metrics", not an estimate
  };
  std::map<std::string, Scale> scales;
};

// Launches three small problems. Errors: those of count(), kIo (the trace), kUnsupportedDevice (not
// on the virtual GPU).
Result<Observation> observe(const KernelInfo& kernel, const Device& device, float beta);

// Which elements of which matrix the lanes of a global access touch: "A: rows 0-31, column 0", "C:
// row 0: lanes 0-15 at columns 0,8,...,120; row 8: ...". "" for shared memory or memory of no
// matrix.
std::string elements_of(const Access& access, const std::vector<Matrix>& matrices);

// A metric for `blocks` blocks of depth k; NaN for a metric that was not counted.
double scaled(const Observation& observation, const std::string& metric, double blocks, double k);

}  // namespace ladder::analyse
