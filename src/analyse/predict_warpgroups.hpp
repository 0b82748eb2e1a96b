// SPDX-License-Identifier: Apache-2.0
// How long a kernel should take whose warpgroups multiply from shared memory (wgmma) what tensor
// maps bring there. Instructions hardly matter there; what does is a tile's way through a ring of
// stages.
#pragma once
#include "analyse/predict.hpp"

namespace ladder::analyse {

// `subject` has a tile of warpgroups; one block is resident. Pipes, time, limiter and why of the
// prediction; occupancy is already there. Errors (kUnsupportedProblem): the machine has no such
// instruction, or more than a block fits.
Result<Prediction> predict_warpgroups(const Subject& subject, const Problem& problem,
                                      const Machine& machine, Prediction prediction);

}  // namespace ladder::analyse
