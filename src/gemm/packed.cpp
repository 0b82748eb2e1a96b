// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <ladder/packed.hpp>
#include <ladder/registry.hpp>
#include <ladder/sgemm.hpp>

#include <algorithm>
#include <string>

#include "gemm/call.hpp"
#include "gemm/split/packed.hpp"

namespace ladder {
namespace {

// The row-major problem, and which of its operands the given one is.
struct RowMajorOperand {
  Problem problem;
  bool of_a;
};
RowMajorOperand as_row_major(const Problem& problem, Operand which) {
  const RowMajor row_major = as_row_major(problem);
  return {row_major.problem, (which == Operand::kA) != row_major.swapped};
}

struct Side {
  std::int64_t vectors, ld;  // vectors: rows of op(A) or columns of op(B)
  Op op;
};
Side side_of(const Problem& p, Operand which) {
  return which == Operand::kA ? Side{p.m, p.lda, p.op_a} : Side{p.n, p.ldb, p.op_b};
}

// The other sizes of a problem do not count, nor whether it scales A and B away.
Problem of_operand(Problem p, Operand which) {
  p.alpha = 1.0F;
  p.beta = 0.0F;
  (which == Operand::kA ? p.n : p.m) = 1;
  p.ldc = std::max({p.m, p.n, std::int64_t{1}});
  (which == Operand::kA ? p.ldb : p.lda) = std::max({p.m, p.n, p.k, std::int64_t{1}});
  return p;
}

Status accepted(const Problem& problem, const Device& device) {
  return select(problem, Place::kCuda, Precision::kFp16x3, device).status();
}

Status mismatch(const std::string& argument, std::int64_t packed, std::int64_t given) {
  return {Code::kInvalidArgument, argument + ": packed with " + std::to_string(packed) +
                                      ", but the problem has " + std::to_string(given)};
}

}  // namespace

Result<PackedOperand> pack(const Problem& problem, Operand which, const float* matrix,
                           Stream stream) {
  if (Status status = validate(problem); !status) return status;
  if (problem.in != Type::kF32 || problem.out != Type::kF32)
    return Status(Code::kInvalidArgument, "in, out: pack takes f32 operands");
  const char* const name = which == Operand::kA ? "a" : "b";
  if (side_of(problem, which).vectors == 0 || problem.k == 0)
    return Status(Code::kInvalidArgument, std::string(name) + ": an empty matrix has no terms");
  const auto call = checked_matrix(name, matrix);
  if (!call) return call.status();
  const Problem of = of_operand(problem, which);
  if (Status status = accepted(of, *call.value().device); !status) return status;

  const auto [p, of_a] = as_row_major(of, which);
  PackedOperand packed;
  packed.which_ = which;
  packed.of_ = of;
  packed.matrix_ = matrix;
  packed.device_ = call.value().ordinal;
  packed.bytes_ = split_fp16::packed_bytes(p, of_a);
  void* terms = nullptr;
  const auto bytes = static_cast<std::size_t>(packed.bytes_);
  if (const cudaError_t error = cudaMalloc(&terms, bytes); error != cudaSuccess)
    return Status(Code::kOutOfMemory, std::string("terms: ") + cudaGetErrorString(error));
  packed.terms_ = std::shared_ptr<void>(terms, [](void* at) { static_cast<void>(cudaFree(at)); });
  // Tiles also read, but do not use, the scales beyond the last row or column.
  if (const cudaError_t error = cudaMemsetAsync(terms, 0, bytes, stream); error != cudaSuccess)
    return Status(Code::kLaunchFailed, std::string("terms: ") + cudaGetErrorString(error));
  const Operands operands{of_a ? matrix : nullptr, of_a ? nullptr : matrix, nullptr};
  if (Status status = split_fp16::pack(p, operands, of_a, terms, stream); !status) return status;
  return packed;
}

Status sgemm(const Problem& problem, const Operands& operands, const PackedOperand& packed,
             Stream stream) {
  const Operand which = packed.which_;
  const bool is_a = which == Operand::kA;
  const char* const name = is_a ? "a" : "b";
  const float* const given = is_a ? operands.a : operands.b;
  if (given != nullptr && given != packed.matrix_)
    return {Code::kInvalidArgument,
            std::string(name) + ": neither null nor the matrix that was packed"};
  Operands all = operands;
  (is_a ? all.a : all.b) = packed.matrix_;
  const auto call = checked_call(problem, all);
  if (!call || call.value().empty) return call.status();
  if (problem.layout != packed.of_.layout)
    return {Code::kInvalidArgument, "layout: not the one that the operand was packed with"};
  const Side given_side = side_of(problem, which), packed_side = side_of(packed.of_, which);
  if (given_side.op != packed_side.op)
    return {Code::kInvalidArgument,
            std::string("op_") + name + ": not the one that the operand was packed with"};
  if (given_side.vectors != packed_side.vectors)
    return mismatch(is_a ? "m" : "n", packed_side.vectors, given_side.vectors);
  if (problem.k != packed.of_.k) return mismatch("k", packed.of_.k, problem.k);
  if (given_side.ld != packed_side.ld)
    return mismatch(std::string("ld") + name, packed_side.ld, given_side.ld);
  if (call.value().ordinal != packed.device_)
    return mismatch("c's device", packed.device_, call.value().ordinal);
  if (Status status = accepted(problem, *call.value().device); !status) return status;
  const auto [p, of_a] = as_row_major(problem, which);
  const Operands row_major = of_a == is_a ? all : Operands{all.b, all.a, all.c};
  return split_fp16::launch_packed(p, row_major, of_a, packed.terms_.get(), stream);
}

}  // namespace ladder
