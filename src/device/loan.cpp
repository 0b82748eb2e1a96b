// SPDX-License-Identifier: Apache-2.0
#include "device/loan.hpp"

#include <string>

namespace ladder {
namespace {

thread_local Loan* of_thread = nullptr;

}  // namespace

Loan::Loan(MemoryNeed& asked) : asked_(&asked), outer_(of_thread) { of_thread = this; }

Loan::Loan(char* scratch, unsigned* flags, const MemoryNeed& lent)
    : scratch_(scratch), flags_(flags), lent_(lent), outer_(of_thread) {
  of_thread = this;
}

Loan::~Loan() { of_thread = outer_; }

Loan* Loan::current() { return of_thread; }

Status Loan::take(const MemoryNeed& need) {
  if (asked_ != nullptr) {
    *asked_ = need;
    return {Code::kOutOfMemory, "the call was asked for its need only"};
  }
  if (need.scratch <= lent_.scratch && need.flags <= lent_.flags) return Status::ok();
  return {Code::kOutOfMemory, "workspace: the kernel needs " + std::to_string(need.scratch) +
                                  " bytes and " + std::to_string(need.flags) + " flags, not " +
                                  std::to_string(lent_.scratch) + " and " +
                                  std::to_string(lent_.flags)};
}

}  // namespace ladder
