// SPDX-License-Identifier: Apache-2.0
#include "app/rules.hpp"

#include <algorithm>
#include <array>

namespace vgpu::app {
namespace {

constexpr std::array kRules = {
    Rule{"out of bounds", "vgpu/out-of-bounds", "An access leaves every live allocation",
         "Compare the index with the size of the allocation that the report names. Guard the last, "
         "partly filled block."},
    Rule{"use after free", "vgpu/use-after-free", "An access to memory that was freed",
         "Free the memory after the last kernel or copy that uses it."},
    Rule{"misaligned address", "vgpu/misaligned-address",
         "An address is no multiple of the access's size",
         "Align the pointer and every row's length to the width of vector loads, or load scalars."},
    Rule{"barrier divergence", "vgpu/barrier-divergence",
         "Threads wait at a barrier that others cannot reach",
         "Have all threads of the block, or of the barrier's group, reach the same barrier."},
    Rule{"deadlock", "vgpu/deadlock", "All threads wait and nothing can release them",
         "See in the report which warp waits for what, and which arrival or byte is missing."},
    Rule{"timeout", "vgpu/timeout", "A kernel runs longer than --timeout allows",
         "See in the report where its warps are. Look for a loop that does not end, or allow more "
         "seconds."},
    Rule{"assertion", "vgpu/assertion", "An assert() in a kernel failed",
         "The report has the condition and the thread."},
    Rule{"trap", "vgpu/trap", "A kernel executed a trap",
         "Look for __trap(), an unreachable branch or a call through a bad function pointer."},
    Rule{"stack overflow", "vgpu/stack-overflow", "Calls are nested too deeply",
         "Bound the recursion, or raise cudaLimitStackSize."},
    Rule{"race", "vgpu/race", "Two accesses to one word are not ordered, and one writes",
         "Put a barrier, a fence with an atomic, or a wait for the copy between the two accesses "
         "that the report names. Blocks have no order: use atomics, or another kernel."},
    Rule{"uninitialized read", "vgpu/uninitialized-read", "A value that was never written is used",
         "Write the memory first (cudaMemset, a store by every thread), or do not read beyond what "
         "was written."},
    Rule{"mbarrier", "vgpu/mbarrier", "An mbarrier is used against its rules",
         "Initialise it once, with the number of arrivals of a phase; order the initialisation "
         "before its use; expect the bytes that are copied."},
    Rule{"bad operand", "vgpu/bad-operand", "An instruction does not permit its operand",
         "The report names the instruction and the values that it takes."},
    Rule{"illegal instruction", "vgpu/illegal-instruction",
         "A copy by tensor map has coordinates or a type that its instruction does not permit",
         "The report names the rule. Align the first coordinate; begin within the box of im2col "
         "mode's corners; reduce in a type that has the operation."},
    Rule{"setmaxnreg", "vgpu/setmaxnreg", "The warps of a warpgroup disagree on their registers",
         "Have all four warps execute the same setmaxnreg, and the sum of all registers fit."},
    Rule{"shared memory of a block that has ended", "vgpu/cluster-exit",
         "A block of the cluster uses the shared memory of one that has ended",
         "Synchronise the cluster before a block ends."},
    Rule{"invalid free", "vgpu/invalid-free", "Memory is freed that is not allocated",
         "Free each allocation once, by the function that belongs to the one that allocated it."},
    Rule{"bad host pointer", "vgpu/bad-host-pointer",
         "A copy uses host memory that the program cannot access",
         "Compare the copy's size with that of the host's buffer."},
    Rule{"launch error", "vgpu/launch-error",
         "A launch failed, and the program did not ask for the error",
         "Call cudaGetLastError() after <<<>>>. The message says why the kernel did not run."},
    Rule{"leak", "vgpu/leak", "Memory was not freed when the program ended",
         "Free what the report names, or run without --check leak."},
    Rule{"", "vgpu/check", "A check failed", "See the message."},
};

}  // namespace

std::span<const Rule> rules() { return kRules; }

const Rule& rule_of(std::string_view finding) {
  const auto found = std::ranges::find(kRules, finding, &Rule::finding);
  return found == kRules.end() ? kRules.back() : *found;
}

}  // namespace vgpu::app
