// SPDX-License-Identifier: Apache-2.0
#include "verify/atlas.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "problem/names.hpp"

#include "operands/buffer.hpp"

namespace ladder {
namespace {

constexpr std::uint64_t kStreamA = 301, kStreamB = 302;

struct Draw {
  std::uint64_t seed, stream;

  double unit(std::int64_t index, int which) const {  // [0, 1)
    return static_cast<double>(random_bits(seed, stream,
                                           4 * static_cast<std::uint64_t>(index) +
                                               static_cast<std::uint64_t>(which)) >>
                               11) *
           0x1p-53;
  }
  double normal(std::int64_t index) const {  // Box and Muller
    return std::sqrt(-2 * std::log(1 - unit(index, 1))) *
           std::cos(2 * std::numbers::pi * unit(index, 2));
  }
  double spread(std::int64_t index, double phi) const {
    return (unit(index, 0) - 0.5) * std::exp(phi * normal(index));
  }
};

// Value of element `index` of an operand; k is its position along the sum of length `depth`.
double value(const Draw& draw, Distribution distribution, std::int64_t index, std::int64_t k,
             std::int64_t depth, bool is_a) {
  constexpr double kGrade = 40;  // binades
  const double u = draw.unit(index, 0);
  switch (distribution) {
    case Distribution::kPositive: return u;
    case Distribution::kNormal: return draw.normal(index);
    case Distribution::kSpread1: return draw.spread(index, 1);
    case Distribution::kSpread2: return draw.spread(index, 2);
    case Distribution::kSpread4: return draw.spread(index, 4);
    case Distribution::kGraded: {
      const double grade = kGrade * static_cast<double>(k) /
                           static_cast<double>(std::max<std::int64_t>(1, depth - 1));
      return (2 * u - 1) * std::exp2(std::round(is_a ? grade : -grade));
    }
    case Distribution::kUniform:
    case Distribution::kCancelling: break;
  }
  return 2 * u - 1;
}

}  // namespace

std::span<const Distribution> distributions() {
  static constexpr std::array kAll{Distribution::kUniform, Distribution::kPositive,
                                   Distribution::kNormal,  Distribution::kSpread1,
                                   Distribution::kSpread2, Distribution::kSpread4,
                                   Distribution::kGraded,  Distribution::kCancelling};
  return kAll;
}

const char* to_string(Distribution distribution) {
  return name_of<Distribution::kCancelling>(
      distribution, {"uniform", "positive", "normal", "spread 1", "spread 2", "spread 4", "graded",
                     "cancelling"});
}

Images draw(const Problem& problem, Distribution distribution, std::uint64_t seed) {
  const auto [m, n, k] = std::array{problem.m, problem.n, problem.k};
  Images images;
  images.a.resize(static_cast<std::size_t>(m * k));
  images.b.resize(static_cast<std::size_t>(k * n));
  images.c.resize(static_cast<std::size_t>(m * n));
  const Draw of_a{seed, kStreamA}, of_b{seed, kStreamB};
  const bool cancels = distribution == Distribution::kCancelling;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t l = 0; l < k; ++l) {
      // columns 2p and 2p + 1 of A are equal
      const std::int64_t source = cancels ? l & ~std::int64_t{1} : l;
      images.a[i * k + l] =
          static_cast<float>(value(of_a, distribution, i * k + source, l, k, true));
    }
  }
  for (std::int64_t l = 0; l < k; ++l) {
    for (std::int64_t j = 0; j < n; ++j) {
      double x = value(of_b, distribution, l * n + j, l, k, false);
      if (cancels && l % 2 == 1)
        x = -static_cast<double>(images.b[(l - 1) * n + j]) * (1 + 0x1p-10 * x);
      images.b[l * n + j] = static_cast<float>(x);
    }
  }
  return images;
}

AtlasErrors errors_of(const Problem& problem, const Reference& reference,
                      std::span<const float> c) {
  AtlasErrors errors;
  double error_squares = 0, squares = 0;
  std::vector<double> relative;
  const auto count = static_cast<std::size_t>(problem.m * problem.n);
  relative.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double r = reference.c[i];
    if (!std::isfinite(c[i])) {
      ++errors.not_finite;
      continue;
    }
    const double error = std::abs(static_cast<double>(c[i]) - r);
    error_squares += error * error;
    squares += r * r;
    if (error > 0)
      errors.componentwise = std::max(errors.componentwise, error / reference.abs_products[i]);
    relative.push_back(r == 0 ? (error == 0 ? 0 : HUGE_VAL) : error / std::abs(r));
    const double ulp = std::ldexp(1.0, std::max(r == 0 ? -149 : std::ilogb(r) - 23, -149));
    const auto bucket =
        std::lower_bound(AtlasErrors::kUlps.begin(), AtlasErrors::kUlps.end(), error / ulp);
    ++errors.ulps[static_cast<std::size_t>(bucket - AtlasErrors::kUlps.begin())];
  }
  if (squares > 0) errors.normwise = std::sqrt(error_squares / squares);
  if (!relative.empty()) {
    const auto middle = relative.begin() + static_cast<std::ptrdiff_t>(relative.size() / 2);
    std::nth_element(relative.begin(), middle, relative.end());
    errors.median = *middle;
    errors.largest = *std::ranges::max_element(relative);
  }
  return errors;
}

Result<AtlasErrors> measure_errors(const KernelInfo& kernel, const Problem& problem,
                                   const Images& images, const Reference& reference,
                                   const Device& device) {
  if (Status s = accepts(kernel, problem, device); !s) return s;
  const auto place = [&](const std::vector<float>& image, Buffer& buffer) -> Status {
    auto made = Buffer::allocate(kernel.place, image.size() * sizeof(float));
    if (!made) return made.status();
    buffer = std::move(made).value();
    return buffer.upload(image.data(), buffer.bytes());
  };
  Buffer a, b, c;
  if (Status s = place(images.a, a); !s) return s;
  if (Status s = place(images.b, b); !s) return s;
  if (Status s = place(images.c, c); !s) return s;
  if (Status s = kernel.launch(problem, {a.as<float>(), b.as<float>(), c.as<float>()}, nullptr); !s)
    return s;
  if (kernel.place == Place::kCuda) {
    if (Status s = synchronize(); !s) return s;
  }
  std::vector<float> result(images.c.size());
  if (Status s = c.download(result.data(), c.bytes()); !s) return s;
  return errors_of(problem, reference, result);
}

}  // namespace ladder
