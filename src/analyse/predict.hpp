// SPDX-License-Identifier: Apache-2.0
// How long a kernel should take on a machine, pipe by pipe, and which of them sets the pace.
// docs/analysis.md states the model and how far it is from measurements.
#pragma once
#include <ladder/problem.hpp>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyse/bounds.hpp"
#include "analyse/machine_code.hpp"
#include "analyse/observe.hpp"
#include "analyse/occupancy.hpp"
#include "analyse/simulate.hpp"
#include "analyse/tile.hpp"

namespace ladder::analyse {

inline constexpr double kMsPerSecond = 1e3;
// A pipe that is busy for this share of the time limits the kernel; below it, latency does.
inline constexpr double kBinds = 0.85;

// A resource and the time it is busy if nothing else held it up.
struct Pipe {
  std::string name;
  double ms = 0;
};

struct Prediction {
  double ms = 0, tflops = 0;
  std::vector<Pipe> pipes;  // in falling order
  std::string limiter;      // the pipe that is busy nearly all the time, or "latency"
  std::string why;          // one sentence with the numbers
  double busiest = 0;       // share of the predicted time that the busiest pipe works, 0 to 1

  Occupancy occupancy;
  Waves waves;
  double rounds = 0;  // of the hot loop, a warp
  SmRound round;      // of the hot loop with all resident blocks
  double l1_hits = 0;
};

// What the model rests on: an observation, the machine code of the same kernel, and its hot loop.
struct Subject {
  Observation seen;
  std::optional<TileShape> tile;
  std::vector<MachineInstruction> code;
  Loop loop;
};

// The cost of each instruction of the loop, from the trace: of machine code by offset, of PTX by
// kind and width.
std::vector<MemoryCost> loop_costs(const Subject& subject);

// Errors (kUnsupportedProblem): something the model needs is missing; the message says what.
Result<Prediction> predict(const Subject& subject, const Problem& problem, const Machine& machine);

// Blocks of the grid for a problem, from the tile or else from the outputs of an observed block.
double blocks_for(const Subject& subject, const Problem& problem);
// As many of the observed launch's blocks as do the problem's work: what its counts are multiplied
// by. Where blocks stay and share tiles, those are not the grid's.
double counted_blocks_for(const Subject& subject, const Problem& problem);

}  // namespace ladder::analyse
