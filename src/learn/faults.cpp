// SPDX-License-Identifier: Apache-2.0
// Faults and CUDA's errors, explained to a beginner.
#include <algorithm>
#include <array>

#include "learn/marks.hpp"

namespace ladder::learn {
namespace {

constexpr std::array kFaults = {
    Explained{"out of bounds", "in bounds",
              "A thread used an index outside its array. Which threads have nothing to do?"},
    Explained{"use after free", "in bounds", "The memory was freed before the kernel used it."},
    Explained{"misaligned address", "aligned",
              "A 128-bit access needs an address that is a multiple of 16 bytes, a 64-bit one a "
              "multiple of 8."},
    Explained{"uninitialized read", "initialised",
              "The memory was never written: an output before the kernel stores it, shared memory, "
              "or what lies behind an array."},
    Explained{"race", "no race",
              "Two warps (or blocks) use one place, one of them writes, and nothing puts them in "
              "order. That it gave the right result here is luck; on hardware the order changes."},
    Explained{"barrier divergence", "synchronised",
              "__syncthreads() must be reached by all threads of the block. A thread that returned "
              "or took another branch never arrives."},
    Explained{"deadlock", "synchronised", "All threads wait for something that never comes."},
    Explained{"mbarrier", "synchronised",
              "The mbarrier is used against its rules: initialise it once, arrive as often as was "
              "announced, wait for each phase in turn."},
};

constexpr std::array kErrors = {
    Explained{"cudaErrorInvalidConfiguration", "launches",
              "The grid or the block is impossible: every extent is at least 1, a block has at "
              "most 1,024 threads, and the grid at most 65,535 blocks in y and z."},
    Explained{
        "cudaErrorInvalidValue", "launches",
        "An argument of a launch or a CUDA call is impossible: every extent of the grid and of "
        "the block is at least 1, a block has at most 1,024 threads, the grid at most 65,535 "
        "blocks in y and z, and more than 48 KB of shared memory need cudaFuncSetAttribute."},
    Explained{"cudaErrorLaunchOutOfResources", "launches",
              "A block needs more registers than an SM has: fewer threads per block, or "
              "__launch_bounds__(threads), which makes the compiler stay below the limit."},
    Explained{"cudaErrorMemoryAllocation", "launches", "There is not enough device memory."},
    Explained{"cudaErrorNoKernelImageForDevice", "launches",
              "The machine code is of another architecture."},
    Explained{"cudaErrorNotSupported", "launches",
              "The virtual GPU has no such function, or the kernel uses what it does not execute."},
    Explained{"cudaErrorIllegalAddress", "in bounds",
              "A thread used an address outside every allocation."},
};

template <std::size_t n>
const Explained* find(const std::array<Explained, n>& all, std::string_view name) {
  const auto at = std::ranges::find(all, name, &Explained::name);
  return at == all.end() ? nullptr : &*at;
}

}  // namespace

const Explained* fault_named(std::string_view kind) { return find(kFaults, kind); }
const Explained* error_named(std::string_view name) { return find(kErrors, name); }

}  // namespace ladder::learn
