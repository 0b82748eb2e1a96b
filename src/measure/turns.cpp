// SPDX-License-Identifier: Apache-2.0
#include "measure/turns.hpp"

namespace ladder {

std::size_t kernel_in_turn(std::size_t kernels, std::size_t round, std::size_t turn) {
  const std::size_t at = round % 2 == 0 ? turn : kernels - 1 - turn;
  // Zigzag 0, 1, -1, 2, -2, ...: with its reverse, each difference of neighbours occurs twice.
  const std::size_t zigzag = at % 2 == 0 ? kernels - at / 2 : at / 2 + 1;
  return (zigzag + round / 2) % kernels;
}

}  // namespace ladder
