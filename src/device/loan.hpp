// SPDX-License-Identifier: Apache-2.0
// Device memory that a caller lends to the library's calls of its thread.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>
#include <string>
#include <utility>

namespace ladder {

// What a call needs: bytes of scratch, and flags of 4 bytes that are zero.
struct MemoryNeed {
  std::int64_t scratch = 0, flags = 0;
};

// While it lives, calls of this thread (CallMemory::take) use its memory and not the library's, so
// that they allocate nothing. The kernels leave its flags zero.
class Loan {
 public:
  // Lends nothing: a call stores its need in `asked`, fails and enqueues nothing.
  explicit Loan(MemoryNeed& asked) : asked_(&asked) {}
  Loan(char* scratch, unsigned* flags, const MemoryNeed& lent)
      : scratch_(scratch), flags_(flags), lent_(lent) {}
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan() { current_ = outer_; }

  static Loan* current() { return current_; }
  // Errors: kOutOfMemory.
  Status take(const MemoryNeed& need) {
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
  char* scratch() const { return scratch_; }
  unsigned* flags() const { return flags_; }

 private:
  static inline thread_local Loan* current_ = nullptr;
  MemoryNeed* asked_ = nullptr;
  char* scratch_ = nullptr;
  unsigned* flags_ = nullptr;
  MemoryNeed lent_;
  Loan* outer_ = std::exchange(current_, this);
};

}  // namespace ladder
