// SPDX-License-Identifier: Apache-2.0
// Finds the program's other files relative to the program, PREFIX/bin/NAME, so that an installation
// can be moved as a whole.
#pragma once
#include <filesystem>
#include <string>

namespace ladder {

// "" if the system does not report the program's path.
std::filesystem::path installation_prefix();

// PREFIX/share/ladder: sources, headers and results, laid out as in a checkout. In a build folder
// this is a link to the checkout.
std::string source_folder();

}  // namespace ladder
