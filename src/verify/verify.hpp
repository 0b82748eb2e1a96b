// SPDX-License-Identifier: Apache-2.0
// Problem in, verdict out. Knows a kernel only as KernelInfo; docs/verification.md says what a
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
  std::function<void(std::size_t done, std::size_t of)> progress;  // told before each case
  std::function<bool()>
      interrupted;  // asked between cases; true ends the verification with kNotVerified
};

// All of these put problems into the kernel's types first.
//
// Runs the kernel twice on these inputs and judges memory, values and reproducibility. `device` is
// where the kernel runs: the host's Device for Place::kHost, else the current CUDA device.
CaseResult verify_case(const KernelInfo& kernel, const Case& which, const Device& device,
                       const VerifyOptions& options, ReferenceStore& store);

// All cases; a case that fails does not stop the others, an error that ends the device does.
Verdict verify(const KernelInfo& kernel, std::span<const Case> cases, const Device& device,
               const VerifyOptions& options, ReferenceStore& store);

// One problem, one kind of input.
Verdict verify(const KernelInfo& kernel, const Problem& problem, const Input& input,
               const Device& device, const VerifyOptions& options = {});

// Memory that verifying `problem` takes where the operands lie, and on the host besides.
struct MemoryNeed {
  double operands = 0;
  double host = 0;
};
MemoryNeed verification_memory(const Problem& problem);

}  // namespace ladder
