// SPDX-License-Identifier: Apache-2.0
#include "page/files.hpp"

#include <map>

namespace ladder::page {

std::string_view file(std::string_view name) {
  static const std::map<std::string_view, std::string_view> kFiles{
#include "page_files.inc"
  };
  return kFiles.at(name);
}

}  // namespace ladder::page
