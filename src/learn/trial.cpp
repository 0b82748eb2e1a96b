// SPDX-License-Identifier: Apache-2.0
#include "learn/trial.hpp"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>

#include "learn/build.hpp"
#include "learn/expression.hpp"
#include "operands/buffer.hpp"
#include "operands/encode.hpp"
#include "operands/virtual_gpu.hpp"

namespace ladder::learn {
namespace {

constexpr unsigned char kPoison = 0xcd;  // the bytes of an output before the launch
constexpr std::size_t kMostElements = std::size_t{1} << 24;
constexpr std::uint64_t kMapRows = 16, kMapColumns = 64;

struct Closes {
  void operator()(void* handle) const { (void)::dlclose(handle); }
};

std::size_t size_of(Element element) {
  return element == Element::kHalf || element == Element::kBfloat16 ? 2 : 4;
}

// The values of an array's elements before the launch.
std::vector<float> values_of(const std::string& fill, std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    if (fill == "integers") {
      value = static_cast<float>(static_cast<int>(random() % 9) - 4);
    } else if (fill == "sixteenths") {
      // Exact in 16-bit types.
      value = static_cast<float>(static_cast<int>(random() % 33) - 16) / 16.0F;
    } else {
      value = static_cast<float>(random() >> 8) * 0x1p-23F - 1.0F;
    }
  }
  return values;
}

std::vector<std::byte> encoded(Element element, const std::vector<float>& values) {
  if (element == Element::kHalf) return encode(Type::kF16, std::span<const float>(values));
  if (element == Element::kBfloat16) return encode(Type::kBf16, std::span<const float>(values));
  std::vector<std::byte> bytes(values.size() * sizeof(float));
  if (element == Element::kFloat) {
    std::memcpy(bytes.data(), values.data(), bytes.size());
  } else {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const int value = static_cast<int>(values[i]);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  }
  return bytes;
}

struct Array {
  const Parameter* parameter = nullptr;
  std::size_t count = 0;
  Buffer buffer;
  void* pointer = nullptr;
};

// The elements of an output after the launch.
struct Output {
  std::vector<double> values;
  std::vector<bool> unwritten;
};

Result<Output> download(const Array& array) {
  const std::size_t size = size_of(array.parameter->element);
  const std::size_t skipped = static_cast<std::size_t>(array.parameter->offset) * size;
  std::vector<std::byte> bytes(array.count * size);
  if (Status status = array.buffer.download(bytes.data(), bytes.size(), skipped); !status)
    return status;
  Output output{std::vector<double>(array.count), std::vector<bool>(array.count)};
  std::vector<std::uint32_t> words;
  if (array.parameter->element == Element::kHalf) words = decode(Type::kF16, bytes);
  if (array.parameter->element == Element::kBfloat16) words = decode(Type::kBf16, bytes);
  for (std::size_t i = 0; i < array.count; ++i) {
    const std::byte* at = bytes.data() + i * size;
    output.unwritten[i] = true;
    for (std::size_t byte = 0; byte < size; ++byte)
      output.unwritten[i] = output.unwritten[i] && at[byte] == std::byte{kPoison};
    if (array.parameter->element == Element::kInt) {
      int value = 0;
      std::memcpy(&value, at, sizeof value);
      output.values[i] = value;
    } else {
      float value = 0;
      std::memcpy(&value, words.empty() ? static_cast<const void*>(at) : &words[i], sizeof value);
      output.values[i] = value;
    }
  }
  return output;
}

// A drawing of an output of two dimensions, or of one in rows of kMapColumns. A character stands
// for several elements where there are more than fit.
std::vector<std::string> map_of(std::uint64_t rows, std::uint64_t columns,
                                const std::string& marks) {
  const std::uint64_t step_row = (rows + kMapRows - 1) / kMapRows,
                      step_column = (columns + kMapColumns - 1) / kMapColumns;
  std::vector<std::string> lines;
  for (std::uint64_t row = 0; row < rows; row += step_row) {
    std::string line;
    for (std::uint64_t column = 0; column < columns; column += step_column) {
      char worst = '.';
      for (std::uint64_t r = row; r < std::min(rows, row + step_row); ++r) {
        for (std::uint64_t c = column; c < std::min(columns, column + step_column); ++c) {
          const char mark = r * columns + c < marks.size() ? marks[r * columns + c] : ' ';
          if (mark == '?' || (mark == 'x' && worst == '.')) worst = mark;
        }
      }
      line += worst;
    }
    lines.push_back(line);
  }
  return lines;
}

class Case {
 public:
  Case(const Exercise& exercise, const std::map<std::string, std::int64_t>& sizes)
      : exercise_(exercise), sizes_(sizes) {
    for (const auto& [name, size] : sizes) scope_.variables[name] = static_cast<double>(size);
  }

  Status prepare() {
    std::uint32_t seed = 1;
    arrays_.resize(exercise_.parameters.size());
    for (std::size_t i = 0; i < exercise_.parameters.size(); ++i) {
      const Parameter& parameter = exercise_.parameters[i];
      if (!parameter.is_array) continue;
      if (Status status = prepare(arrays_[i], parameter, seed++); !status) return status;
    }
    return Status::ok();
  }

  Outcome launch(void (*call)(void* const*)) {
    Outcome outcome;
    outcome.sizes = sizes_;
    std::vector<void*> parameters;
    std::vector<int> numbers(exercise_.parameters.size());
    for (std::size_t i = 0; i < exercise_.parameters.size(); ++i) {
      const Parameter& parameter = exercise_.parameters[i];
      if (!parameter.is_array) numbers[i] = static_cast<int>(sizes_.at(parameter.name));
      parameters.push_back(parameter.is_array ? static_cast<void*>(&arrays_[i].pointer)
                                              : &numbers[i]);
    }
    call(parameters.data());
    cudaError_t error = cudaGetLastError();
    const cudaError_t later = cudaDeviceSynchronize();
    if (error == cudaSuccess) error = later;
    outcome.fault_kind = virtual_gpu::last_fault_kind();
    if (!outcome.fault_kind.empty()) outcome.fault_report = virtual_gpu::last_fault();
    if (error != cudaSuccess) outcome.error = cudaGetErrorName(error);
    return outcome;
  }

  Status compare(Outcome& outcome) {
    outcome.right = true;
    for (const Expected& expected : exercise_.expected) {
      for (const Array& array : arrays_) {
        if (array.parameter == nullptr || array.parameter->name != expected.array) continue;
        if (Status status = compare(expected, array, outcome); !status) return status;
        if (!outcome.right) return Status::ok();
      }
    }
    return Status::ok();
  }

 private:
  Status prepare(Array& array, const Parameter& parameter, std::uint32_t seed) {
    const auto count = evaluate(parameter.count, scope_);
    if (!count) return count.status();
    if (!(count.value() >= 0 && count.value() <= static_cast<double>(kMostElements)))
      return {Code::kInvalidArgument,
              fmt::format("{}: has {} elements", parameter.name, count.value())};
    array.parameter = &parameter;
    array.count = static_cast<std::size_t>(count.value());
    const std::size_t size = size_of(parameter.element);
    const std::size_t skipped = static_cast<std::size_t>(parameter.offset) * size;
    auto buffer = Buffer::allocate(Place::kCuda, skipped + array.count * size);
    if (!buffer) return buffer.status();
    array.buffer = std::move(buffer).value();
    array.pointer = array.buffer.as<std::byte>(skipped);
    if (!parameter.fill.empty()) {
      const std::vector<float> values = values_of(parameter.fill, array.count, seed);
      const std::vector<std::byte> bytes = encoded(parameter.element, values);
      scope_.arrays[parameter.name].assign(values.begin(), values.end());
      return array.buffer.upload(bytes.data(), bytes.size(), skipped);
    }
    if (virtual_gpu::active()) {
      // Its device memory is host memory. Unlike a copy, this leaves the array unwritten for the
      // check of uninitialized reads.
      std::memset(array.pointer, kPoison, array.count * size);
      return Status::ok();
    }
    const std::vector<unsigned char> poison(array.count * size, kPoison);
    return array.buffer.upload(poison.data(), poison.size(), skipped);
  }

  Status compare(const Expected& expected, const Array& array, Outcome& outcome) {
    std::vector<double*> indices;
    std::vector<std::uint64_t> extents;
    for (const auto& [name, count] : expected.indices) {
      const auto extent = evaluate(count, scope_);
      if (!extent) return extent.status();
      extents.push_back(static_cast<std::uint64_t>(extent.value()));
      indices.push_back(&scope_.variables[name]);
    }
    const auto value = Expression::parse(expected.value, scope_);
    if (!value) return value.status();
    const auto error = Expression::parse(expected.error, scope_);
    if (!error) return error.status();
    const auto output = download(array);
    if (!output) return output.status();
    std::string marks;
    WrongResult& wrong = outcome.wrong;
    for (std::uint64_t i = 0; i < array.count; ++i) {
      std::uint64_t rest = i;
      for (std::size_t d = indices.size(); d-- > 0; rest /= extents[d])
        *indices[d] = static_cast<double>(rest % extents[d]);
      const Value reference = value.value().evaluate();
      const double got = output.value().values[i];
      const double allowed = error.value().evaluate().value * 0x1p-24 * reference.magnitude;
      const double off = std::abs(got - reference.value);
      const bool right = off <= allowed;  // false for NaN
      const bool unwritten = output.value().unwritten[i];
      marks += right ? '.' : unwritten ? '?' : 'x';
      if (right) {
        if (allowed > 0) outcome.share = std::max(outcome.share, off / allowed);
        continue;
      }
      if (wrong.wrong++ > 0) continue;
      wrong.array = expected.array;
      for (std::size_t d = 0; d < indices.size(); ++d)
        wrong.element +=
            fmt::format("{}{} {}", d == 0 ? "" : ", ", expected.indices[d].first, *indices[d]);
      wrong.got = got;
      wrong.expected = reference.value;
      wrong.error = off;
      wrong.allowed = allowed;
      wrong.unwritten = unwritten;
    }
    if (wrong.wrong == 0) return Status::ok();
    outcome.right = false;
    wrong.of = array.count;
    const bool flat = extents.size() < 2;
    const std::uint64_t columns =
        flat ? std::min<std::uint64_t>(kMapColumns, array.count) : array.count / extents[0];
    wrong.map = map_of((array.count + columns - 1) / columns, columns, marks);
    return Status::ok();
  }

  const Exercise& exercise_;
  const std::map<std::string, std::int64_t>& sizes_;
  Scope scope_;
  std::vector<Array> arrays_;
};

}  // namespace

Result<TrialResult> run_trial(const Exercise& exercise, const std::filesystem::path& library,
                              bool on_virtual_gpu) {
  const std::unique_ptr<void, Closes> handle(::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL));
  if (handle == nullptr) {
    const char* why = ::dlerror();
    return Status(Code::kIo, why == nullptr ? library.string() : why);
  }
  const auto call = reinterpret_cast<void (*)(void* const*)>(::dlsym(handle.get(), kEntry));
  if (call == nullptr) return Status(Code::kIo, fmt::format("{}: no {}", library.string(), kEntry));
  TrialResult result;
  for (const std::string& schedule : exercise.schedules) {
    if (on_virtual_gpu) virtual_gpu::set_schedule(schedule);
    for (std::size_t i = 0; i < exercise.cases.size(); ++i) {
      Case one(exercise, exercise.cases[i]);
      if (Status status = one.prepare(); !status) return status;
      virtual_gpu::reset_counters();
      virtual_gpu::trace(true);
      Outcome outcome = one.launch(call);
      outcome.schedule = schedule;
      std::fflush(stdout);
      const bool launched = outcome.error.empty() && outcome.fault_kind.empty();
      if (launched) {
        const Status status = one.compare(outcome);
        // Copies to the host report what depends on unwritten shared memory.
        outcome.fault_kind = virtual_gpu::last_fault_kind();
        if (!status && outcome.fault_kind.empty()) return status;
        if (!outcome.fault_kind.empty()) outcome.fault_report = virtual_gpu::last_fault();
      }
      const bool failed = !launched || !outcome.right || !outcome.fault_kind.empty();
      result.outcomes.push_back(std::move(outcome));
      const bool measured = i == exercise.measured && schedule == exercise.schedules.front();
      if (on_virtual_gpu && (measured || failed)) {
        result.counters = virtual_gpu::counters_json();
        result.trace = virtual_gpu::trace_json();
      }
      if (failed) return result;
    }
  }
  return result;
}

}  // namespace ladder::learn
