// SPDX-License-Identifier: Apache-2.0
// SGEMM with automatic kernel selection, for operands on the host or on a GPU.
#pragma once
#include <ladder/device.hpp>
#include <ladder/kernel.hpp>
#include <ladder/problem.hpp>

namespace ladder {

// Returns the kernel that sgemm() uses: on compute capability 9.0 the library's kernel of this
// precision and shape (`ladder explain --call` prints it), elsewhere and on the host the highest
// rung of the precision for which accepts() is true. kAuto is treated as in sgemm(). Pure. Errors
// (kUnsupportedProblem): no kernel accepts the problem; the message gives the first one's reason.
Result<const KernelInfo*> select(const Problem& problem, Place place, Precision precision,
                                 const Device& device);

// Computes C = alpha op(A) op(B) + beta C with FP32 operands, on the kernel that select()
// returns.
// Precision::kAuto selects the guarded product (ladder/guard.hpp) where that accepts the problem
// and the problem is large enough to gain from it: the device chooses the split by an error bound
// that is no larger than kIeee's. Otherwise, and on the host, kAuto is kIeee.
// A, B and C must all be in host memory (pinned or not) or all on the current CUDA device; managed
// memory counts as the device's. On the host the call uses all cores and returns when C is written.
// On a device it enqueues the work in `stream`.
// Errors: kInvalidArgument (a rule of validate() is broken, a type is not f32, an operand that
// would be read or written is null, the operands are in different places), kUnsupportedProblem (no
// kernel of the place and precision accepts the problem), kOutOfMemory, kLaunchFailed. After the
// first two C is unchanged.
// Thread-safe: any number of host threads may call concurrently, on different streams or on the
// same one. Scratch memory belongs to one call at a time, in stream order. A call may be captured
// into a graph, including the first call; its scratch memory then lives as long as the graph.
// Executable graphs instantiated from one captured graph share that memory, hence they must not run
// concurrently.
Status sgemm(const Problem& problem, const Operands& operands, Stream stream = nullptr,
             Precision precision = Precision::kIeee);

// `count` products of the same problem: operand number i starts at element i * stride. A stride of
// 0 for A or B means that all products share that operand.
struct Batch {
  std::int64_t count = 1;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
};

// Computes all products of a batch, in any precision: by one launch where each product alone would
// leave most of a Hopper GPU idle, else by one launch per product. A batch that shares B and whose
// A and C are contiguous (row-major, A not transposed) is computed as one product with count * m
// rows; for column-major, the batch shares A and the product has count * n columns. Errors: as
// above, and kInvalidArgument if count or a stride is negative or if products of the batch overlap
// in C. After an error other than kLaunchFailed C is unchanged.
Status sgemm(const Problem& problem, const Operands& operands, const Batch& batch,
             Stream stream = nullptr, Precision precision = Precision::kIeee);

}  // namespace ladder
