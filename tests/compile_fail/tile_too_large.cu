// SPDX-License-Identifier: Apache-2.0
// A tile of 64 x 64 needs 4,096 threads: the rung's own static_assert must fail.
#include "rungs/cuda/r03_smem_tile.cu"

template struct ladder::r03_smem_tile::Tile<64>;
