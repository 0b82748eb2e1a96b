// SPDX-License-Identifier: Apache-2.0
// Verification of a kernel, which is known only as KernelInfo. docs/verification.md says what a
// verdict proves.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

#include <functional>
#include <span>

#include "verify/battery.hpp"
#include "verify/reference.hpp"
#include "verify/verdict.hpp"

namespace ladder {

struct VerifyOptions {
  ReferenceKind reference = ReferenceKind::kAuto;
  bool check_races = true;                                         // on the virtual GPU
  std::function<void(std::size_t done, std::size_t of)> progress;  // called before each case
  std::function<bool()>
      interrupted;  // called between cases; true ends the verification with kNotVerified
};

// All functions below first convert problems to the kernel's types.
//
// Runs the kernel twice on these inputs and checks memory, values and reproducibility. `device` is
// where the kernel runs: the host's Device for Place::kHost, otherwise the current CUDA device.
CaseResult verify_case(const KernelInfo& kernel, const Case& which, const Device& device,
                       const VerifyOptions& options, ReferenceStore& store);

// Verifies all cases. A failed case does not stop the others; loss of the device does.
Verdict verify(const KernelInfo& kernel, std::span<const Case> cases, const Device& device,
               const VerifyOptions& options, ReferenceStore& store);

// Verifies one problem with one kind of input.
Verdict verify(const KernelInfo& kernel, const Problem& problem, const Input& input,
               const Device& device, const VerifyOptions& options = {});

// Bytes needed to verify `problem`: in the place of the operands, and on the host in addition.
struct MemoryNeed {
  double operands = 0;
  double host = 0;
};
MemoryNeed verification_memory(const Problem& problem);

}  // namespace ladder
