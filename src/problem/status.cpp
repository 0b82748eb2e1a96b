// SPDX-License-Identifier: Apache-2.0
#include <ladder/status.hpp>

#include "problem/names.hpp"

namespace ladder {

const char* to_string(Code code) {
  return name_of<Code::kIo>(
      code, {"ok", "invalid argument", "unsupported problem", "unsupported device", "out of memory",
             "launch failed", "input/output error"});
}

}  // namespace ladder
