// SPDX-License-Identifier: Apache-2.0
#include "verify/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <new>
#include <optional>
#include <utility>

#include "operands/buffer.hpp"
#include "operands/encode.hpp"
#include "operands/virtual_gpu.hpp"
#include "verify/compare.hpp"
#include "verify/proof_device.hpp"

namespace ladder {
namespace {

// Number of poison elements on each side of C: 32 rows within limits, about the height of a tile. A
// kernel that is off by one tile is detected and does no harm.
std::size_t guard_words(const Problem& problem) {
  constexpr std::int64_t kAlign = 256;  // elements: C stays as aligned as cudaMalloc gives it
  const std::int64_t lines = std::clamp<std::int64_t>(32 * problem.ldc, 1024, 1 << 18);
  return static_cast<std::size_t>((lines + kAlign - 1) / kAlign * kAlign);
}

constexpr std::size_t kOperandGuard = 1024;  // elements of NaN on each side of A and B

// Joins the lines of a fault's report into one line, separated by "; ".
std::string one_line(std::string report) {
  const auto end = report.find_last_not_of(" \n");
  report.resize(end == std::string::npos ? 0 : end + 1);
  std::string line;
  for (const char ch : report) {
    const bool blank = ch == '\n' || ch == ' ';
    if (!blank) {
      line += ch;
    } else if (!line.empty() && line.back() != ' ') {
      if (ch == '\n') line += line.back() == ':' || line.back() == ';' ? "" : ";";
      line += ' ';
    }
  }
  return line;
}

// The contents of C and its guards before a run.
std::vector<std::uint32_t> initial_words(const Images& images, std::size_t guard) {
  std::vector<std::uint32_t> words(images.c.size() + 2 * guard, kPoisonBits);
  if (!images.c.empty()) std::memcpy(words.data() + guard, images.c.data(), 4 * images.c.size());
  return words;
}

// A, B and C in the memory where the kernel runs. On the virtual GPU A and B are in allocations of
// exactly their size, so that its bounds check reports a read beyond them; elsewhere they are
// surrounded by NaN.
class Bench {
 public:
  static Result<Bench> make(const KernelInfo& kernel, const Problem& problem, const Images& images,
                            const Device& device) {
    Bench bench(kernel, problem);
    bench.guard_ = guard_words(problem);
    const bool guarded = !(kernel.place == Place::kCuda && device.is_virtual);
    bench.operand_guard_ = guarded ? kOperandGuard : 0;
    if (Status status = bench.place(images.stored_a(), bench.a_); !status) return status;
    if (Status status = bench.place(images.stored_b(), bench.b_); !status) return status;
    for (auto [scales, buffer] : {std::pair{&images.scales_a, &bench.scales_a_},
                                  std::pair{&images.scales_b, &bench.scales_b_}}) {
      auto made = Buffer::allocate(kernel.place, sizeof(float) * scales->size());
      if (!made) return made.status();
      *buffer = std::move(made).value();
      if (Status status = buffer->upload(scales->data(), buffer->bytes()); !status) return status;
    }
    bench.initial_ = initial_words(images, bench.guard_);
    auto c = Buffer::allocate(kernel.place, bytes(problem.out) * bench.initial_.size());
    if (!c) return c.status();
    bench.c_ = std::move(c).value();
    return bench;
  }

  // Restores C, runs the kernel once and reads C back. kLaunchFailed: the kernel failed.
  Status run(std::vector<std::uint32_t>& words) { return run_from(initial_, words); }

  Status run_from(const std::vector<std::uint32_t>& before, std::vector<std::uint32_t>& words) {
    const std::vector<std::byte> memory = encode(problem_.out, std::span(before));
    if (Status status = c_.upload(memory.data(), c_.bytes()); !status) return status;
    Operands operands{pointer(a_), pointer(b_), c_.as<float>(bytes(problem_.out) * guard_),
                      scales_a_.as<float>(), scales_b_.as<float>()};
    if (Status status = kernel_->launch(problem_, operands, nullptr); !status) {
      if (kernel_->place == Place::kCuda) (void)synchronize();
      return status;
    }
    if (kernel_->place == Place::kCuda) {
      if (Status status = synchronize(); !status) return status;
    }
    std::vector<std::byte> result(c_.bytes());
    if (Status status = c_.download(result.data(), result.size()); !status) return status;
    words = decode(problem_.out, result);
    return Status::ok();
  }

  // Replaces every NaN in A and B, including padding and guards, by zero.
  Status clear_operand_nans() {
    for (Buffer* buffer : {&a_, &b_}) {
      std::vector<std::byte> memory(buffer->bytes());
      if (Status status = buffer->download(memory.data(), memory.size()); !status) return status;
      std::vector<std::uint32_t> all = decode(problem_.in, memory);
      std::replace_if(
          all.begin(), all.end(),
          [](std::uint32_t x) { return std::isnan(std::bit_cast<float>(x)); }, 0U);
      memory = encode(problem_.in, std::span(all));
      if (Status status = buffer->upload(memory.data(), memory.size()); !status) return status;
    }
    return Status::ok();
  }

  ResultMemory memory(const std::vector<std::uint32_t>& words) const { return {words, guard_}; }
  const std::vector<std::uint32_t>& initial() const { return initial_; }
  std::size_t guard() const { return guard_; }

 private:
  Bench(const KernelInfo& kernel, const Problem& problem) : kernel_(&kernel), problem_(problem) {}

  static std::size_t bytes(Type type) { return static_cast<std::size_t>(bytes_of(type)); }

  Status place(const std::vector<float>& image, Buffer& buffer) {
    if (image.empty()) return Status::ok();  // null: the kernel must not read it
    std::vector<float> all(image.size() + 2 * operand_guard_, std::nanf(""));
    std::ranges::copy(image, all.begin() + static_cast<std::ptrdiff_t>(operand_guard_));
    const std::vector<std::byte> memory = encode(problem_.in, std::span(all));
    auto allocated = Buffer::allocate(kernel_->place, memory.size());
    if (!allocated) return allocated.status();
    buffer = std::move(allocated).value();
    return buffer.upload(memory.data(), buffer.bytes());
  }

  const float* pointer(const Buffer& buffer) const {
    return buffer.bytes() == 0 ? nullptr : buffer.as<float>(bytes(problem_.in) * operand_guard_);
  }

  const KernelInfo* kernel_;
  Problem problem_;
  std::size_t guard_ = 0, operand_guard_ = 0;
  Buffer a_, b_, c_, scales_a_, scales_b_;
  std::vector<std::uint32_t> initial_;
};

// Reruns the kernel without the NaNs of one origin. If the result is then correct, that is the
// origin.
std::string explain_nan(Bench& bench, const Case& which, const Prepared& prepared,
                        const ErrorBound& bound) {
  const auto cured = [&](const std::vector<std::uint32_t>& before) {
    std::vector<std::uint32_t> words;
    if (!bench.run_from(before, words)) return false;
    return compare(prepared, which.input, bound, bench.memory(words)).outcome == Outcome::kPassed;
  };
  if (!reads_c(which.problem)) {
    std::vector<std::uint32_t> zeros = bench.initial();
    const Operation& operation = prepared.operation;
    for (std::int64_t i = 0; i < operation.problem.m; ++i) {
      std::uint32_t* line = zeros.data() + bench.guard() + i * operation.problem.ldc;
      std::fill(line, line + operation.problem.n, 0U);
    }
    if (cured(zeros)) return "C is read although beta = 0";
  }
  if (!bench.clear_operand_nans()) return "";
  if (!cured(bench.initial())) return "";
  return which.input.nan_operands
             ? "A or B is read although alpha = 0"
             : "memory of A or B that is not an element (padding, or beyond the end) is used";
}

void append(std::string& reason, const std::string& hint) {
  if (!hint.empty()) reason += "; " + hint;
}

CaseResult failed_run(CaseResult result, const KernelInfo& kernel, const Status& status) {
  const std::string fault = kernel.place == Place::kCuda ? virtual_gpu::last_fault() : "";
  if (!fault.empty()) {
    result.outcome = virtual_gpu::last_fault_is_race() ? Outcome::kRace : Outcome::kFault;
    result.reason = one_line(fault);
    virtual_gpu::clear_fault();
  } else {
    result.outcome =
        status.code() == Code::kOutOfMemory ? Outcome::kNotVerified : Outcome::kLaunchError;
    result.reason = one_line(status.message());
  }
  return result;
}

Rounding rounding_of(const KernelInfo& kernel) {
  return kernel.role == Role::kBaseline ? Rounding::kOnceOrTwice : Rounding::kOnce;
}

// Verifies on the device if a GPU computes the reference. Returns nullopt if that proves nothing;
// the host then verifies and finds what is wrong.
std::optional<CaseResult> proved_on_device(CaseResult result, const KernelInfo& kernel,
                                           const Case& which, const ErrorBound& bound,
                                           ReferenceKind kind, ReferenceStore& store) {
  const Problem& p = which.problem;
  if (kind != ReferenceKind::kCublas || kernel.place != Place::kCuda || !reads_ab(p) || p.m == 0 ||
      p.n == 0 || p.scaling != Scaling::kNone)
    return std::nullopt;
  const auto proof = store.on_device(p, which.input, kernel.precision, kind);
  if (!proof) return std::nullopt;
  const auto judged =
      proof.value()->judge(kernel, bound, rounding_of(kernel), guard_words(p), kOperandGuard);
  if (!judged) {
    if (judged.status().code() == Code::kOutOfMemory) return std::nullopt;
    result.reference = DeviceProof::kName;
    return failed_run(std::move(result), kernel, judged.status());
  }
  if (!judged.value()) return std::nullopt;
  result.reference = DeviceProof::kName;
  result.outcome = Outcome::kPassed;
  result.errors = *judged.value();
  return result;
}

CaseResult judge(CaseResult result, const KernelInfo& kernel, const Case& which,
                 const Device& device, const Prepared& prepared, const ErrorBound& bound) {
  auto made = Bench::make(kernel, which.problem, prepared.images, device);
  if (!made) return failed_run(std::move(result), kernel, made.status());
  Bench& bench = made.value();
  std::vector<std::uint32_t> first;
  std::vector<std::uint32_t> second;
  for (std::vector<std::uint32_t>* words : {&first, &second}) {
    const bool again = words == &second;
    // On the virtual GPU the asynchronous copies of the second run complete as late as the rules
    // allow. A kernel that relies on earlier completion then differs from the first run.
    const std::string schedule = again ? virtual_gpu::set_schedule("lazy") : std::string();
    const Status status = bench.run(*words);
    if (again) virtual_gpu::set_schedule(schedule);
    if (!status) return failed_run(std::move(result), kernel, status);
    virtual_gpu::check_races(false);  // a second run of the same launch would find the same races
  }
  const Rounding rounding = rounding_of(kernel);
  Finding finding = compare(prepared, which.input, bound, bench.memory(first), rounding);
  if (finding.outcome == Outcome::kPassed)
    finding = compare(prepared, which.input, bound, bench.memory(second), rounding);
  if (first != second &&
      (finding.outcome == Outcome::kPassed || finding.outcome == Outcome::kWrongValue)) {
    std::size_t differing = 0;
    for (std::size_t at = 0; at < first.size(); ++at) differing += first[at] != second[at] ? 1 : 0;
    finding.outcome = Outcome::kNondeterministic;
    finding.reason = fmt::format("two runs on the same data differ in {} elements{}{}", differing,
                                 finding.reason.empty() ? "" : "; ", finding.reason);
  } else if (finding.outcome == Outcome::kWrongValue) {
    append(finding.reason, explain_wrong_values(prepared, kernel.precision, bench.memory(first)));
  } else if (finding.outcome == Outcome::kNan) {
    append(finding.reason, explain_nan(bench, which, prepared, bound));
  }
  result.outcome = finding.outcome;
  result.reason = finding.reason;
  result.errors = finding.errors;
  return result;
}

}  // namespace

CaseResult verify_case(const KernelInfo& kernel, const Case& any_types, const Device& device,
                       const VerifyOptions& options, ReferenceStore& store) {
  const Case which{any_types.name, in_types_of(kernel, any_types.problem), any_types.input};
  CaseResult result;
  result.name = which.name;
  result.problem = which.problem;
  result.input = which.input;
  const auto not_verified = [&](const Status& status) {
    result.outcome = Outcome::kNotVerified;
    result.reason = status.message();
    return result;
  };
  if (Status status = validate(which.problem); !status) return not_verified(status);
  if (Status status = accepts(kernel, which.problem, device); !status) {
    result.outcome = Outcome::kRefused;
    result.reason = status.message();
    return result;
  }
  const auto bound = error_bound(which.problem, kernel.precision);
  if (!bound) return not_verified(bound.status());
  const ReferenceKind kind = options.reference == ReferenceKind::kAuto
                                 ? choose_reference(which.problem, device)
                                 : options.reference;
  const ErrorBound allowed =
      kernel.role == Role::kBaseline ? rounded_twice(bound.value(), which.problem) : bound.value();
  if (auto proved = proved_on_device(result, kernel, which, allowed, kind, store))
    return *std::move(proved);
  const auto prepared = store.get(which.problem, which.input, kernel.precision, kind);
  if (!prepared) return not_verified(prepared.status());
  result.reference = kind == ReferenceKind::kIdentity ? "identity C t = alpha A (B t) + beta C t"
                                                      : prepared.value()->reference.name;
  virtual_gpu::check_races(options.check_races);
  try {
    result = judge(std::move(result), kernel, which, device, *prepared.value(), allowed);
  } catch (const std::bad_alloc&) {
    result.outcome = Outcome::kNotVerified;
    result.reason = "no host memory for the result";
  }
  virtual_gpu::check_races(false);
  return result;
}

Verdict verify(const KernelInfo& kernel, std::span<const Case> cases, const Device& device,
               const VerifyOptions& options, ReferenceStore& store) {
  std::vector<CaseResult> results;
  for (const Case& which : cases) {
    if (options.progress) options.progress(results.size(), cases.size());
    if (options.interrupted && options.interrupted()) {
      CaseResult result;
      result.name = which.name;
      result.problem = which.problem;
      result.input = which.input;
      result.reason = "interrupted";
      results.push_back(std::move(result));
      break;
    }
    // Which warp accesses which word depends on the problem, not on the values. Hence only one case
    // per problem is checked for races.
    VerifyOptions case_options = options;
    case_options.check_races &= std::ranges::none_of(results, [&](const CaseResult& earlier) {
      return earlier.problem == in_types_of(kernel, which.problem);
    });
    results.push_back(verify_case(kernel, which, device, case_options, store));
    // After the device's context is lost every launch fails, so this is reported once.
    if (kernel.place == Place::kCuda && results.back().outcome == Outcome::kLaunchError &&
        !synchronize()) {
      results.back().reason += "; the device takes no more work from this process";
      break;
    }
  }
  return summarize(std::move(results));
}

Verdict verify(const KernelInfo& kernel, const Problem& problem, const Input& input,
               const Device& device, const VerifyOptions& options) {
  ReferenceStore store;
  const Case which{to_string(problem), problem, input};
  return verify(kernel, std::span(&which, 1), device, options, store);
}

MemoryNeed verification_memory(const Problem& problem) {
  // 32-bit words for all types: 16-bit elements are also held as 32-bit words on the host.
  const auto bytes = [](const Extent& extent) {
    return 4.0 * static_cast<double>(extent.elements());
  };
  const double a = bytes(extent_a(problem));
  const double b = bytes(extent_b(problem));
  const double c = bytes(extent_c(problem)) + 8.0 * static_cast<double>(guard_words(problem));
  // Host memory: the images, a guarded copy for the transfer, and C before the run, after the first
  // run and after the second run.
  return {a + b + c, a + b + c + std::max(a, b) + 3 * c};
}

}  // namespace ladder
