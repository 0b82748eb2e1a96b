// SPDX-License-Identifier: Apache-2.0
// Whose turn it is in a round. A launch leaves the next one a clock, a temperature and what lies in
// L2: in a fixed order each kernel would have one neighbour's for ever.
#pragma once
#include <cstddef>

namespace ladder {

// The kernel, of `kernels`, whose turn is the `turn`-th of round `round`, all counted from 0. Every
// round has each kernel once. In 2 `kernels` rounds each has each turn twice and comes right behind
// each other kernel of its round twice: a Latin square balanced for what a treatment carries over
// to the next (E. J. Williams, Experimental designs balanced for the estimation of residual effects
// of treatments, 1949). Every second round is the one before in reverse, so that what drifts falls
// on all alike. Requires kernels > 0, turn < kernels.
std::size_t kernel_in_turn(std::size_t kernels, std::size_t round, std::size_t turn);

}  // namespace ladder
