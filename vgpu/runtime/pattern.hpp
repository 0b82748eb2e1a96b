// SPDX-License-Identifier: Apache-2.0
// Regular expressions for names: POSIX's extended ones, as `grep -E` takes them. The C library
// matches in time proportional to the text; std::regex uses a stack frame per character and can
// take exponential time.
#pragma once
#include <regex.h>

#include <memory>
#include <string>

namespace vgpu {

class Pattern {
 public:
  // Returns "" or the error in the text. A pattern that was not parsed matches everything.
  std::string parse(const std::string& text);
  bool found_in(const std::string& text) const;

 private:
  std::shared_ptr<const regex_t> compiled_;
};

}  // namespace vgpu
