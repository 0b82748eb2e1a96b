// SPDX-License-Identifier: Apache-2.0
// The references agree with a definition in this file, and with each other if there are several.
#include "verify/reference.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "host/query.hpp"
#include "operands/virtual_gpu.hpp"

namespace ladder {
namespace {

double element(Op op, const float* x, std::int64_t ld, std::int64_t row, std::int64_t column) {
  return op == Op::kNone ? x[row * ld + column] : x[column * ld + row];
}

void expect_definition(const Operation& operation, const Reference& reference) {
  const Problem& p = operation.problem;
  for (std::int64_t i = 0; i < p.m; ++i) {
    for (std::int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      double absolute = 0;
      for (std::int64_t k = 0; k < p.k && reads_ab(p); ++k) {
        const double product =
            element(p.op_a, operation.a, p.lda, i, k) * element(p.op_b, operation.b, p.ldb, k, j);
        sum += product;
        absolute += std::abs(product);
      }
      const double before =
          reads_c(p) ? p.beta * static_cast<double>(operation.c[i * p.ldc + j]) : 0;
      const double tolerance = 4 * static_cast<double>(p.k + 4) * 0x1p-53;
      const double abs_products = std::abs(p.alpha) * absolute;
      EXPECT_LE(std::abs(reference.c[i * p.n + j] - (p.alpha * sum + before)),
                tolerance * (abs_products + std::abs(before)));
      EXPECT_LE(std::abs(reference.abs_products[i * p.n + j] - abs_products),
                tolerance * abs_products);
    }
  }
}

std::vector<Problem> problems() {
  Problem padded = make_problem(13, 17, 19, -1.5F, 0.5F);
  padded.lda += 2, padded.ldb += 3, padded.ldc += 5;
  return {padded,
          make_problem(1, 1, 1),
          make_problem(40, 30, 300),
          make_problem(5, 4, 0, 1, 2),
          make_problem(5, 4, 3, 0, 2),
          make_problem(9, 8, 7, 2, 1, Op::kTranspose, Op::kNone),
          make_problem(9, 8, 7, 2, 1, Op::kNone, Op::kTranspose, Layout::kColMajor)};
}

TEST(HostReference, IsTheDefinition) {
  for (const Problem& problem : problems()) {
    for (const Values values : {Values::kUniform, Values::kScaled}) {
      const Images images = make_images(problem, {values, 3}, Precision::kIeee).value();
      const Operation operation = as_operation(problem, images);
      const auto reference = make_reference(operation, ReferenceKind::kHost);
      ASSERT_TRUE(reference);
      expect_definition(operation, reference.value());
    }
  }
}

TEST(CublasReference, IsTheDefinitionOnAGpuAndRefusesElsewhere) {
  const bool gpu = cuda_device_count() > 0 && !virtual_gpu::active();
  for (const Problem& problem : problems()) {
    const Images images = make_images(problem, {Values::kScaled, 3}, Precision::kIeee).value();
    const Operation operation = as_operation(problem, images);
    const auto reference = make_reference(operation, ReferenceKind::kCublas);
    if (gpu) {
      ASSERT_TRUE(reference) << reference.status().message();
      expect_definition(operation, reference.value());
    } else if (reads_ab(problem)) {
      EXPECT_FALSE(reference);
    }
  }
}

TEST(ReferenceStore, KeepsWhatItMadeUntilItIsFull) {
  const Problem problem = make_problem(16, 16, 16);
  ReferenceStore store(1 << 20);
  const auto one =
      store.get(problem, {Values::kUniform, 1}, Precision::kIeee, ReferenceKind::kHost).value();
  EXPECT_EQ(
      one,
      store.get(problem, {Values::kUniform, 1}, Precision::kTf32, ReferenceKind::kHost).value());
  EXPECT_NE(
      one,
      store.get(problem, {Values::kUniform, 2}, Precision::kIeee, ReferenceKind::kHost).value());
  EXPECT_NE(one,
            store.get(problem, {Values::kUniform, 1}, Precision::kIeee, ReferenceKind::kIdentity)
                .value());
  // The ranges of the integers for ieee and tf32 kernels differ.
  EXPECT_NE(
      store.get(problem, {Values::kIntegers, 1}, Precision::kIeee, ReferenceKind::kHost).value(),
      store.get(problem, {Values::kIntegers, 1}, Precision::kTf32, ReferenceKind::kHost).value());
  ReferenceStore small(1);
  const auto first =
      small.get(problem, {Values::kUniform, 1}, Precision::kIeee, ReferenceKind::kHost).value();
  (void)small.get(problem, {Values::kUniform, 2}, Precision::kIeee, ReferenceKind::kHost).value();
  EXPECT_NE(
      first,
      small.get(problem, {Values::kUniform, 1}, Precision::kIeee, ReferenceKind::kHost).value());
}

TEST(ChooseReference, WholeWhereItIsQuickElseTheIdentity) {
  const Device host = host_device();
  EXPECT_EQ(choose_reference(make_problem(256, 256, 256), host), ReferenceKind::kHost);
  EXPECT_EQ(choose_reference(make_problem(60000, 60000, 60000), host), ReferenceKind::kIdentity);
}

}  // namespace
}  // namespace ladder
