// SPDX-License-Identifier: Apache-2.0
#include "problem/suites.hpp"

#include <cstdint>

#include "problem/number.hpp"
#include "problem/random_suite.hpp"

namespace ladder {
namespace {

using Sizes = std::vector<std::int64_t>;
constexpr std::size_t kMostShapes = 4096;  // per text; a larger number is assumed to be a mistake

std::vector<Problem> shapes(const char* text) { return parse_shapes(text).value(); }

std::vector<Problem> layouts() {
  constexpr std::int64_t kSide = 4096;
  std::vector<Problem> all;
  for (const Op a : {Op::kNone, Op::kTranspose}) {
    for (const Op b : {Op::kNone, Op::kTranspose})
      all.push_back(make_problem(kSide, kSide, kSide, 1, 0, a, b));
  }
  for (const Op op : {Op::kNone, Op::kTranspose}) {
    Problem odd = make_problem(kSide, kSide, kSide, 1, 0, op, op);
    odd.lda = odd.ldb = odd.ldc = kSide + 1;
    all.push_back(odd);
  }
  return all;
}

// Each shape is listed twice, with beta = 0 and with beta = 1.
std::vector<Problem> thin() {
  std::vector<Problem> all;
  for (const Problem& p :
       shapes("64x4096x4096,128x14336x4096,512x14336x4096,14336x128x4096,65536x64x1024")) {
    for (const float beta : {0.0F, 1.0F}) all.push_back(make_problem(p.m, p.n, p.k, 1, beta));
  }
  return all;
}

// A hundred problems for testing kernel selection: shapes of all other suites, transposed operands,
// wide leading dimensions, alpha and beta.
std::vector<Problem> mixed() {
  std::vector<Problem> all = shapes(
      "16,32,64,96,128,192,256,384,512,640,768,896,1024,1280,1536,1792,2048,2560,3072,4096,"
      "8192,"
      "127,129,255,257,511,513,1000,1023,1025,2047,2049,4092,4093,"
      "65536x128x128,65536x64x1024,16384x256x4096,32768x32x256,16384x16x1024,8192x1x4096,"
      "100000x10x64,4096x8x4096,"
      "128x65536x128,64x65536x1024,256x16384x4096,32x32768x256,16x16384x1024,1x8192x4096,"
      "10x100000x64,128x14336x4096,"
      "64x64x65536,256x256x16384,512x512x32768,128x128x8192,32x32x16384,1000x1000x10000,"
      "16x16x65536,300x200x5000,"
      "4096x4096x8,4096x4096x16,4096x4096x32,4096x4096x64,4096x4096x128,8192x8192x1024,"
      "2048x2048x64,1000x1000x3,"
      "1..128*2x4096x4096,"
      "2048x4096x4096,2048x12288x4096,2048x14336x4096,2048x4096x14336,2048x2048x128,"
      "2048x128x2048,2048x32000x4096");
  for (const std::int64_t n : {256, 1024, 2048, 4096}) {
    all.push_back(make_problem(n, n, n, 1, 0, Op::kNone, Op::kTranspose));
    all.push_back(make_problem(n, n, n, 1, 0, Op::kTranspose, Op::kNone));
    all.push_back(make_problem(n, n, n, 1, 0, Op::kTranspose, Op::kTranspose));
  }
  for (const std::int64_t n : {512, 1024, 4096}) {
    all.push_back(make_problem(n, n, n, 0.5F, 1));
    Problem wide = make_problem(n, n, n);
    wide.lda = wide.ldb = wide.ldc = n + 1;
    all.push_back(wide);
  }
  all.push_back(make_problem(1024, 1024, 1024, 1, 0, Op::kNone, Op::kNone, Layout::kColMajor));
  return all;
}

std::vector<Suite> make_suites() {
  return {
      {"square", "powers of two from 128 to 16384", shapes("128..16384*2")},
      {"odd", "their neighbours, the published ladders' 4092 and a prime",
       shapes("127,129,255,257,511,513,1023,1025,2047,2049,3072,4092,4093,4095,4097")},
      {"small", "cubes below a wave of blocks", shapes("8,16,32,64,96,128,192,256,384")},
      {"tall", "many rows, few columns", shapes("65536x128x128,65536x64x1024,16384x256x4096")},
      {"wide", "few rows, many columns", shapes("128x65536x128,16x4096x4096,128x14336x4096")},
      {"thin", "few rows or columns, written (beta = 0) and added to (beta = 1)", thin()},
      {"deep", "long sums of few results", shapes("64x64x65536,256x256x16384,512x512x32768")},
      {"transformer",
       "one layer of a model with 4096 features, 2048 tokens: projections, feed-forward, scores",
       shapes("2048x4096x4096,2048x12288x4096,2048x14336x4096,2048x4096x14336,"
              "2048x2048x128,2048x128x2048,2048x32000x4096")},
      {"batches", "1 to 128 tokens against one matrix of 4096 x 4096",
       shapes("1..128*2x4096x4096")},
      {"layouts", "4096 with either operand transposed, and with odd leading dimensions",
       layouts()},
      {"mixed", "a hundred problems of every class: where a choice of kernels may lose", mixed()},
  };
}

Status refuse(const std::string& text, const char* rule) {
  return {Code::kInvalidArgument, "'" + text + "' " + rule};
}

bool is_size(std::string_view text, std::int64_t& value) {
  value = parse_number<std::int64_t>(text).value_or(-1);
  return value >= 0;
}

Result<Sizes> parse_range(const std::string& text) {
  constexpr const char* kRule =
      "is neither a size nor a range FIRST..LAST*FACTOR or FIRST..LAST+STEP";
  const std::size_t dots = text.find("..");
  std::int64_t first = 0;
  if (!is_size(text.substr(0, dots), first)) return refuse(text, kRule);
  if (dots == std::string::npos) return Sizes{first};
  const std::size_t sign = text.find_first_of("*+", dots + 2);
  std::int64_t last = 0;
  std::int64_t step = 0;
  if (sign == std::string::npos || !is_size(text.substr(dots + 2, sign - dots - 2), last) ||
      !is_size(text.substr(sign + 1), step))
    return refuse(text, kRule);
  const bool times = text[sign] == '*';
  if (last < first) return refuse(text, "ends before it begins");
  if (times ? step < 2 || first < 1 : step < 1)
    return refuse(text, times ? "needs a factor of at least 2 and a first size of at least 1"
                              : "needs a step of at least 1");
  Sizes sizes;
  for (std::int64_t n = first; n <= last; n = times ? n * step : n + step) {
    sizes.push_back(n);
    if (sizes.size() > kMostShapes) return refuse(text, "has more than 4096 sizes");
    if (times ? n > last / step : n > last - step) break;  // the next would be beyond, or overflow
  }
  return sizes;
}

std::vector<std::string> split(const std::string& text, char at) {
  std::vector<std::string> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(at); end != std::string::npos; end = text.find(at, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

}  // namespace

std::span<const Suite> suites() {
  static const std::vector<Suite> all = make_suites();
  return all;
}

Result<std::vector<Problem>> find_suite(std::string_view name) {
  if (is_random_suite(name)) return find_random_suite(name);
  std::string there;
  for (const Suite& suite : suites()) {
    if (suite.name == name) return suite.problems;
    there += std::string(suite.name) + ", ";
  }
  return Status(Code::kInvalidArgument, "no suite '" + std::string(name) + "'; there are " + there +
                                            std::string(random_suite::kForm));
}

Result<std::vector<Problem>> parse_shapes(const std::string& text) {
  std::vector<Problem> problems;
  for (const std::string& shape : split(text, ',')) {
    const std::vector<std::string> parts = split(shape, 'x');
    if (parts.size() != 1 && parts.size() != 3) return refuse(shape, "is neither MxNxK nor N");
    std::vector<Sizes> sizes;
    for (const std::string& part : parts) {
      auto range = parse_range(part);
      if (!range) {
        const std::string of = part == shape ? "" : "'" + shape + "': ";
        return Status(Code::kInvalidArgument, of + range.status().message());
      }
      sizes.push_back(std::move(range).value());
    }
    const auto add = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
      const Problem problem = make_problem(m, n, k);
      if (Status status = validate(problem); !status) return status;
      problems.push_back(problem);
      return problems.size() > kMostShapes ? refuse(text, "has more than 4096 shapes")
                                           : Status::ok();
    };
    for (const std::int64_t m : sizes[0]) {
      if (parts.size() == 1) {
        if (Status status = add(m, m, m); !status) return status;
        continue;
      }
      for (const std::int64_t n : sizes[1]) {
        for (const std::int64_t k : sizes[2]) {
          if (Status status = add(m, n, k); !status) return status;
        }
      }
    }
  }
  return problems;
}

}  // namespace ladder
