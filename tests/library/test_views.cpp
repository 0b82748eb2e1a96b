// SPDX-License-Identifier: Apache-2.0
// gemm.hpp: how views become calls, and their results.
#include <gtest/gtest.h>
#include <ladder/gemm.hpp>

#include <string>
#include <vector>

#include "library/support.hpp"

#if __has_include(<cuda/std/mdspan>)
#include <cuda/std/mdspan>
#define HAS_MDSPAN
#endif

namespace ladder::test {
namespace {

class Views : public WithDevice {};

// A matrix on the device with any steps, and its elements.
struct Stored {
  Stored(std::int64_t rows, std::int64_t cols, std::int64_t row_step, std::int64_t col_step,
         unsigned seed)
      : host(integers((rows - 1) * row_step + (cols - 1) * col_step + 1, seed)),
        there(upload(host)),
        view(there.get(), rows, cols, row_step, col_step) {}
  float element(std::int64_t i, std::int64_t j) const {
    return host[static_cast<std::size_t>(i * view.row_step + j * view.col_step)];
  }
  std::vector<float> host;
  OnDevice<float> there;
  View<float> view;
};

TEST_F(Views, OfEveryStorage) {
  const auto handle = ladder::Handle::create();
  ASSERT_TRUE(handle) << handle.error().text;
  struct Size {
    std::int64_t m, n, k;
  };
  for (const auto& [m, n, k] : {Size{17, 12, 9}, Size{1, 12, 9}, Size{17, 1, 9}, Size{5, 6, 1}}) {
    for (int way = 0; way < 8; ++way) {
      const auto stored = [&](std::int64_t rows, std::int64_t cols, bool by_rows, unsigned seed) {
        return by_rows ? Stored(rows, cols, cols + 2, 1, seed)
                       : Stored(rows, cols, 1, rows + 3, seed);
      };
      const Stored a = stored(m, k, (way & 1) != 0, 1), b = stored(k, n, (way & 2) != 0, 2),
                   c = stored(m, n, (way & 4) != 0, 3);
      const auto done = multiply(*handle, a.view, b.view, c.view, {.alpha = 2, .beta = -1});
      ASSERT_TRUE(done) << done.error().text;
      const auto result = download(c.there, c.host.size());
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          float sum = 0;
          for (std::int64_t l = 0; l < k; ++l) sum += a.element(i, l) * b.element(l, j);
          const auto at = static_cast<std::size_t>(i * c.view.row_step + j * c.view.col_step);
          ASSERT_EQ(result[at], 2 * sum - c.host[at]) << m << " " << n << " " << k << " " << way;
        }
      }
    }
  }
}

TEST_F(Views, AVectorBetweenOthers) {
  const auto handle = ladder::Handle::create();
  ASSERT_TRUE(handle);
  const Stored a(1, 8, 100, 5, 1), b(8, 6, 7, 1, 2), c(1, 6, 99, 1, 3);  // a row of steps of 5
  ASSERT_TRUE(multiply(*handle, a.view, b.view, c.view));
  const auto result = download(c.there, c.host.size());
  for (std::int64_t j = 0; j < 6; ++j) {
    float sum = 0;
    for (std::int64_t l = 0; l < 8; ++l) sum += a.element(0, l) * b.element(l, j);
    EXPECT_EQ(result[static_cast<std::size_t>(j)], sum);
  }
}

TEST_F(Views, WhatDoesNotFitIsNamed) {
  const auto handle = ladder::Handle::create();
  ASSERT_TRUE(handle);
  const Stored a(4, 6, 6, 1, 1), b(6, 5, 5, 1, 2), c(4, 5, 5, 1, 3), wide(4, 5, 11, 2, 4);
  const auto text = [&](const auto& x, const auto& y, const auto& z) {
    const auto done = multiply(*handle, x, y, z);
    EXPECT_EQ(done.error().status, LADDER_STATUS_INVALID_ARGUMENT);
    return done.error().text;
  };
  EXPECT_EQ(text(b.view, b.view, c.view), "a: its rows are 6, but those of c are 4");
  EXPECT_EQ(text(a.view, a.view, c.view), "b: its columns are 6, but those of c are 5");
  EXPECT_EQ(text(c.view, b.view, c.view), "b: its rows are 6, but the columns of a are 5");
  EXPECT_EQ(text(a.view, b.view, wide.view), "c: neither its rows nor its columns are contiguous");
  EXPECT_EQ(text(a.view.batch(3, 24), b.view, c.view), "a: a batch of 3, but c has one of 1");
  EXPECT_EQ(text(a.view, b.view, View<float>(nullptr, 4, 5)), "c: null");
}

TEST_F(Views, ABatchSharesAMatrix) {
  const auto handle = ladder::Handle::create();
  ASSERT_TRUE(handle);
  const Stored a(12, 6, 6, 1, 1), b(6, 5, 5, 1, 2), c(12, 5, 5, 1, 3);  // 3 products of 4 rows
  const View<float> rows(a.there.get(), 4, 6), result(c.there.get(), 4, 5);
  ASSERT_TRUE(multiply(*handle, rows.batch(3, 24), b.view, result.batch(3, 20)));
  const auto all = download(c.there, c.host.size());
  const Stored one(12, 5, 5, 1, 4);
  ASSERT_TRUE(multiply(*handle, a.view, b.view, one.view));
  EXPECT_EQ(all, download(one.there, one.host.size()));
}

TEST_F(Views, PlansAndMoves) {
  auto made = ladder::Handle::create();
  ASSERT_TRUE(made);
  ladder::Handle handle = *std::move(made);
  const Stored a(4, 6, 6, 1, 1), b(6, 5, 5, 1, 2), c(4, 5, 5, 1, 3);
  const auto planned = plan(handle, a.view, b.view, c.view, {.flags = LADDER_BATCH_INVARIANT});
  ASSERT_TRUE(planned) << planned.error().text;
  EXPECT_EQ(std::string(planned->kernel), "ladder_strided");
  EXPECT_TRUE(handle.set_precision(LADDER_PRECISION_AUTO));
  EXPECT_FALSE(handle.set_precision(static_cast<ladder_precision>(77)));
}

#ifdef HAS_MDSPAN
TEST_F(Views, OfMdspan) {
  namespace md = cuda::std;
  const auto handle = ladder::Handle::create();
  ASSERT_TRUE(handle);
  const Stored a(4, 6, 6, 1, 1), b(6, 5, 1, 6, 2), c(4, 5, 5, 1, 3), same(4, 5, 5, 1, 3);
  using Extents = md::dextents<int, 2>;
  const md::mdspan<const float, Extents> x(a.there.get(), 4, 6);
  const md::mdspan<float, Extents, md::layout_left> w(b.there.get(), 6, 5);
  const md::mdspan<float, Extents> y(c.there.get(), 4, 5);
  ASSERT_TRUE(multiply(*handle, x, w, y));
  ASSERT_TRUE(multiply(*handle, a.view, b.view, same.view));
  EXPECT_EQ(download(c.there, c.host.size()), download(same.there, c.host.size()));
  const md::mdspan<float, md::dextents<int, 3>> batch(c.there.get(), 2, 2, 5);
  const View<float> view = batch;
  EXPECT_EQ(view.count, 2);
  EXPECT_EQ(view.batch_step, 10);
}
#endif

}  // namespace
}  // namespace ladder::test
