// SPDX-License-Identifier: Apache-2.0
// Order of the kernels in each round. A launch affects the next one's clock, temperature and L2
// contents; in a fixed order each kernel would always follow the same neighbour.
#pragma once
#include <cstddef>

namespace ladder {

// Index of the kernel, below `kernels`, that runs at position `turn` of round `round`, all counted
// from 0. Each round runs each kernel once. In 2 * `kernels` rounds, each kernel runs twice at each
// position and follows every other kernel of its round twice: a Latin square balanced for
// carry-over effects (E. J. Williams, Experimental designs balanced for the estimation of residual
// effects of treatments, 1949). Every second round reverses the one before, so that drift affects
// all kernels equally. Requires kernels > 0, turn < kernels.
inline std::size_t kernel_in_turn(std::size_t kernels, std::size_t round, std::size_t turn) {
  const std::size_t at = round % 2 == 0 ? turn : kernels - 1 - turn;
  // Zigzag 0, 1, -1, 2, -2, ...: with its reverse, each difference of neighbours occurs twice.
  const std::size_t zigzag = at % 2 == 0 ? kernels - at / 2 : at / 2 + 1;
  return (zigzag + round / 2) % kernels;
}

}  // namespace ladder
