// SPDX-License-Identifier: Apache-2.0
// Validation, extents and operation counts of a problem, and its form as text.
#include <ladder/problem.hpp>

#include <algorithm>
#include <charconv>
#include <limits>
#include <vector>

#include "problem/names.hpp"

namespace ladder {
namespace {

// Rows and columns of a matrix as it is stored (before op is applied).
struct Shape {
  std::int64_t rows, cols;
};

Shape stored(std::int64_t rows, std::int64_t cols, Op op) {
  return op == Op::kNone ? Shape{rows, cols} : Shape{cols, rows};
}

Extent extent(Shape shape, std::int64_t ld, Layout layout) {
  if (layout == Layout::kColMajor) std::swap(shape.rows, shape.cols);
  return {shape.rows, shape.cols, ld};
}

Status invalid(const std::string& message) { return {Code::kInvalidArgument, message}; }

Status check_size(const char* name, std::int64_t value) {
  if (value >= 0) return Status::ok();
  return invalid(std::string(name) + " = " + std::to_string(value) + ": a size must be at least 0");
}

Status check_matrix(const char* ld_name, const Extent& extent, Layout layout) {
  const std::int64_t least = std::max<std::int64_t>(1, extent.used);
  if (extent.ld < least) {
    return invalid(std::string(ld_name) + " = " + std::to_string(extent.ld) +
                   ": must be at least " + std::to_string(least) + ", the matrix's " +
                   (layout == Layout::kRowMajor ? "columns (row-major)" : "rows (column-major)"));
  }
  constexpr std::int64_t kMaxElements =
      std::numeric_limits<std::int64_t>::max() / static_cast<std::int64_t>(sizeof(float));
  if (extent.lines > 1 && extent.ld > (kMaxElements - extent.used) / (extent.lines - 1)) {
    return invalid(std::string(ld_name) + " = " + std::to_string(extent.ld) +
                   ": the matrix's extent in bytes does not fit in 63 bits");
  }
  return Status::ok();
}

}  // namespace

const char* to_string(Type type) {
  return name_of<Type::kE5m2>(type, {"f32", "bf16", "f16", "e4m3", "e5m2"});
}

std::int64_t bytes_of(Type type) {
  if (type == Type::kE4m3 || type == Type::kE5m2) return 1;
  return type == Type::kF32 ? 4 : 2;
}

const char* to_string(Scaling scaling) {
  return name_of<Scaling::kBlock>(scaling, {"none", "tensor", "block"});
}

Problem make_problem(std::int64_t m, std::int64_t n, std::int64_t k, float alpha, float beta,
                     Op op_a, Op op_b, Layout layout) {
  Problem p{.m = m,
            .n = n,
            .k = k,
            .alpha = alpha,
            .beta = beta,
            .op_a = op_a,
            .op_b = op_b,
            .layout = layout};
  p.lda = std::max<std::int64_t>(1, extent_a(p).used);
  p.ldb = std::max<std::int64_t>(1, extent_b(p).used);
  p.ldc = std::max<std::int64_t>(1, extent_c(p).used);
  return p;
}

Extent extent_a(const Problem& p) { return extent(stored(p.m, p.k, p.op_a), p.lda, p.layout); }
Extent extent_b(const Problem& p) { return extent(stored(p.k, p.n, p.op_b), p.ldb, p.layout); }
Extent extent_c(const Problem& p) { return extent({p.m, p.n}, p.ldc, p.layout); }

namespace {

std::int64_t blocks_of(std::int64_t size) { return (size + kScaleBlock - 1) / kScaleBlock; }

Extent of_scales(const Problem& p, const Extent& blocks) {
  if (p.scaling == Scaling::kNone) return {};
  return p.scaling == Scaling::kTensor ? Extent{1, 1, 1} : blocks;
}

}  // namespace

Extent extent_scales_a(const Problem& p) {
  return of_scales(p, {blocks_of(p.k), p.m, std::max<std::int64_t>(1, p.m)});
}
Extent extent_scales_b(const Problem& p) {
  const std::int64_t along_k = (blocks_of(p.k) + 3) / 4 * 4;
  return of_scales(p, {blocks_of(p.n), along_k, std::max<std::int64_t>(1, along_k)});
}

Status validate(const Problem& p) {
  if (Status s = check_size("m", p.m); !s) return s;
  if (Status s = check_size("n", p.n); !s) return s;
  if (Status s = check_size("k", p.k); !s) return s;
  if (Status s = check_matrix("lda", extent_a(p), p.layout); !s) return s;
  if (Status s = check_matrix("ldb", extent_b(p), p.layout); !s) return s;
  return check_matrix("ldc", extent_c(p), p.layout);
}

RowMajor as_row_major(const Problem& p) {
  if (p.layout == Layout::kRowMajor) return {p, false};
  Problem t = p;
  t.layout = Layout::kRowMajor;
  std::swap(t.m, t.n);
  std::swap(t.lda, t.ldb);
  std::swap(t.op_a, t.op_b);
  return {t, true};
}

bool reads_ab(const Problem& p) { return p.k != 0 && p.alpha != 0.0F && p.m != 0 && p.n != 0; }
bool reads_c(const Problem& p) { return p.beta != 0.0F && p.m != 0 && p.n != 0; }

double flops(const Problem& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

double least_bytes(const Problem& p) {
  const auto m = static_cast<double>(p.m);
  const auto n = static_cast<double>(p.n);
  const auto k = static_cast<double>(p.k);
  const double ab = reads_ab(p) ? m * k + k * n : 0.0;
  const double c = m * n * (reads_c(p) ? 2.0 : 1.0);
  return ab * static_cast<double>(bytes_of(p.in)) + c * static_cast<double>(bytes_of(p.out));
}

std::string to_string(const Problem& p) {
  std::string text = std::to_string(p.m) + "x" + std::to_string(p.n) + "x" + std::to_string(p.k);
  const Problem plain = make_problem(p.m, p.n, p.k, 1.0F, 0.0F, p.op_a, p.op_b, p.layout);
  std::vector<std::string> extras;
  if (p.in != p.out) {
    extras.push_back(std::string(to_string(p.in)) + " to " + to_string(p.out));
  } else if (p.in != Type::kF32) {
    extras.emplace_back(to_string(p.in));
  }
  if (p.scaling != Scaling::kNone) extras.push_back(std::string(to_string(p.scaling)) + " scales");
  if (p.layout == Layout::kColMajor) extras.emplace_back("column-major");
  if (p.op_a != Op::kNone || p.op_b != Op::kNone) {
    extras.push_back(std::string("op ") + (p.op_a == Op::kNone ? 'N' : 'T') +
                     (p.op_b == Op::kNone ? 'N' : 'T'));
  }
  const auto number = [](float value) {
    char buffer[32];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
    return std::string(buffer, end);
  };
  if (p.lda != plain.lda) extras.push_back("lda " + std::to_string(p.lda));
  if (p.ldb != plain.ldb) extras.push_back("ldb " + std::to_string(p.ldb));
  if (p.ldc != plain.ldc) extras.push_back("ldc " + std::to_string(p.ldc));
  if (p.alpha != 1.0F) extras.push_back("alpha " + number(p.alpha));
  if (p.beta != 0.0F) extras.push_back("beta " + number(p.beta));
  for (std::size_t i = 0; i < extras.size(); ++i) text += (i == 0 ? " (" : ", ") + extras[i];
  return extras.empty() ? text : text + ")";
}

Result<Problem> parse_shape(const std::string& text) {
  const auto bad = [&](const std::string& rule) {
    return invalid("shape '" + text + "': " + rule);
  };
  std::vector<std::int64_t> sizes;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    std::int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error == std::errc::result_out_of_range) return bad("a size must fit in 63 bits");
    if (error != std::errc{}) return bad("expected MxNxK or N, whole numbers of at least 0");
    if (value < 0) return bad("a size must be at least 0");
    sizes.push_back(value);
    at = next;
    if (at == end) break;
    if (*at != 'x' && *at != 'X') return bad("expected MxNxK or N, whole numbers of at least 0");
    ++at;
  }
  if (sizes.size() == 1) sizes.assign(3, sizes[0]);
  if (sizes.size() != 3) return bad("expected three sizes (MxNxK) or one (N, a cube)");
  const Problem p = make_problem(sizes[0], sizes[1], sizes[2]);
  if (const Status s = validate(p); !s) return bad(s.message());
  return p;
}

}  // namespace ladder
