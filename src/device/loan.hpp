// SPDX-License-Identifier: Apache-2.0
// Device memory that a caller lends to the library's calls of its thread.
#pragma once
#include <ladder/status.hpp>

#include <cstdint>

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
  explicit Loan(MemoryNeed& asked);
  Loan(char* scratch, unsigned* flags, const MemoryNeed& lent);
  Loan(const Loan&) = delete;
  Loan& operator=(const Loan&) = delete;
  ~Loan();

  static Loan* current();
  // Errors: kOutOfMemory.
  Status take(const MemoryNeed& need);
  char* scratch() const { return scratch_; }
  unsigned* flags() const { return flags_; }

 private:
  MemoryNeed* asked_ = nullptr;
  char* scratch_ = nullptr;
  unsigned* flags_ = nullptr;
  MemoryNeed lent_;
  Loan* outer_;
};

}  // namespace ladder
