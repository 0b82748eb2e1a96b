// SPDX-License-Identifier: Apache-2.0
// Observes a kernel on the virtual GPU: launches, counts and traces small problems, and
// extrapolates the counts to any problem.
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

// of warps, by mma.sync and wgmma
inline constexpr const char* kTensorInstructions = "sm__inst_executed_pipe_tensor_op_hmma.sum";
inline constexpr const char* kMultiplyAdds = "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum";

// Location of a matrix when the trace was taken.
struct Matrix {
  char name = '?';
  std::uint64_t begin = 0, bytes = 0;
  std::int64_t ld = 1, element_bytes = 4;
};

struct Observation {
  std::string kernel, engine;  // of the launch that computes the product
  Problem problem;             // the traced problem
  double blocks = 0;           // grid size for that problem
  std::array<std::uint64_t, 3> block_shape{};
  int threads = 0, registers = 0, shared_bytes = 0;  // registers 0: unknown (no machine code)
  int launches = 0;                                  // per problem
  Trace trace;
  std::vector<Matrix> matrices;
  // Model of a metric per block: `fixed` + `per_k` * depth. `exact`: a third depth confirms it.
  struct Scale {
    double fixed = 0, per_k = 0;
    bool exact = false;
    bool certain = false;  // listed under "metrics" by the virtual GPU, so not an estimate
  };
  std::map<std::string, Scale> scales;
};

// Launches three small problems, with the beta of `like` and, where the kernel takes it, the
// alignment of its rows. Errors: those of count(), kIo (the trace), kUnsupportedDevice (the
// device is not the virtual GPU).
Result<Observation> observe(const KernelInfo& kernel, const Device& device, const Problem& like);

// Describes the matrix elements that the lanes of a global access touch: "A: rows 0-31, column 0",
// "C: row 0: lanes 0-15 at columns 0,8,...,120; row 8: ...". Returns "" for shared memory and for
// memory outside the matrices.
std::string elements_of(const Access& access, const std::vector<Matrix>& matrices);

// Value of a metric for `blocks` blocks of depth k; NaN if the metric was not counted.
double scaled(const Observation& observation, const std::string& metric, double blocks, double k);

}  // namespace ladder::analyse
