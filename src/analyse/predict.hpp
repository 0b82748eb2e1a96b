// SPDX-License-Identifier: Apache-2.0
// Predicts a kernel's time on a machine, pipe by pipe, and the pipe that limits it.
// docs/analysis.md describes the model and its error against measurements.
#pragma once
#include <ladder/problem.hpp>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyse/bounds.hpp"
#include "analyse/machine_code.hpp"
#include "analyse/observe.hpp"
#include "analyse/occupancy.hpp"
#include "analyse/simulate.hpp"
#include "analyse/tile.hpp"

namespace ladder::analyse {

inline constexpr double kMsPerSecond = 1e3;
// A pipe busy for at least this share of the time is the limiter; below it, latency is.
inline constexpr double kBinds = 0.85;

// A resource and the time for which it is busy, without any stalls.
struct Pipe {
  std::string name;
  double ms = 0;
};

struct Prediction {
  double ms = 0, tflops = 0;
  std::vector<Pipe> pipes;  // in descending order of time
  std::string limiter;      // the pipe that is busy nearly all the time, or "latency"
  std::string why;          // one sentence with the numbers
  double busiest = 0;       // utilisation of the busiest pipe over the predicted time, 0 to 1

  Occupancy occupancy;
  Waves waves;
  double rounds = 0;  // iterations of the hot loop per warp
  SmRound round;      // one iteration of the hot loop with all resident blocks
  double l1_hits = 0;

  double pipe_ms(std::string_view name) const;  // 0 if the prediction has no such pipe
};

// Inputs of the model: an observation, the machine code of the same kernel, and its hot loop.
struct Subject {
  Observation seen;
  std::optional<TileShape> tile;       // for the problem
  std::optional<TileShape> seen_tile;  // of the observed launches and of `code`
  std::vector<MachineInstruction> code;
  Loop loop;

  // The loop's instructions; none without machine code.
  std::span<const MachineInstruction> body() const {
    return code.empty() ? std::span(code) : std::span(code).subspan(loop.first, loop.size());
  }
};

// The cost of each instruction of the loop, from the trace: matched by offset for a machine code
// trace, by kind and width for a PTX trace.
std::vector<MemoryCost> loop_costs(const Subject& subject);

// Errors (kUnsupportedProblem): an input that the model requires is missing; the message names it.
Result<Prediction> predict(const Subject& subject, const Problem& problem, const Machine& machine);

// Warps per block that execute the hot loop. In warp-specialised kernels, producer warps do not.
int looping_warps(const Subject& subject);

// Grid size for a problem, from the tile if known, else from the outputs per observed block.
double blocks_for(const Subject& subject, const Problem& problem);
// Multiplier for the observed per-block counts: the number of the observed launch's blocks that
// would do the problem's work. It differs from the grid size if persistent blocks share tiles.
double counted_blocks_for(const Subject& subject, const Problem& problem);

}  // namespace ladder::analyse
