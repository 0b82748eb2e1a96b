// SPDX-License-Identifier: Apache-2.0
#include <ladder/status.hpp>

namespace ladder {

const char* to_string(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kUnsupportedProblem:
      return "unsupported problem";
    case Code::kUnsupportedDevice:
      return "unsupported device";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kLaunchFailed:
      return "launch failed";
    case Code::kIo:
      return "input/output error";
  }
  return "unknown";
}

}  // namespace ladder
