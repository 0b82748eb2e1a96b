// SPDX-License-Identifier: Apache-2.0
// Predicts the time of kernels whose warpgroups multiply from shared memory (wgmma) with operands
// copied by tensor maps. Instruction issue is not a limit there; the model follows a tile through a
// ring of stages.
#pragma once
#include "analyse/predict.hpp"

namespace ladder::analyse {

// Requires a warpgroup tile in `subject` and one resident block per SM. Fills in the pipes, time,
// limiter and reason of `prediction`, whose occupancy is already set. Errors (kUnsupportedProblem):
// the machine has no wgmma, or more than one block fits.
Result<Prediction> predict_warpgroups(const Subject& subject, const Problem& problem,
                                      const Machine& machine, Prediction prediction);

}  // namespace ladder::analyse
