// SPDX-License-Identifier: Apache-2.0
// Error reporting of the library: a code and one line of text that names the argument and the
// broken rule.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace ladder {

enum class Code {
  kOk,
  kInvalidArgument,     // the caller's input breaks a documented rule
  kUnsupportedProblem,  // the kernel does not support this problem (it never computes another one)
  kUnsupportedDevice,   // the device lacks what the kernel needs
  kOutOfMemory,         // host or device memory is too small for the problem
  kLaunchFailed,        // the CUDA runtime or a library refused or aborted the work
  kIo,                  // a file could not be read or written
};

// The short name of a code as reports print it, e.g. "invalid argument".
const char* to_string(Code code);

class [[nodiscard]] Status {
 public:
  Status() = default;  // ok
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  static Status ok() { return {}; }

  bool is_ok() const { return code_ == Code::kOk; }
  explicit operator bool() const { return is_ok(); }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }  // empty when ok

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

// Either a value, or the Status (never ok) that says why there is no value.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value)
      : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status)
      : state_(std::in_place_index<1>, std::move(status)) {}  // NOLINT(google-explicit-constructor)

  bool is_ok() const { return state_.index() == 0; }
  explicit operator bool() const { return is_ok(); }
  T& value() & { return std::get<0>(state_); }
  const T& value() const& { return std::get<0>(state_); }
  T value() && {
    return std::get<0>(std::move(state_));
  }  // by value: a range-for over a temporary stays valid
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  Status status() const { return is_ok() ? Status::ok() : std::get<1>(state_); }

 private:
  std::variant<T, Status> state_;
};

}  // namespace ladder
