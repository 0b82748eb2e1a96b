// SPDX-License-Identifier: Apache-2.0
// Where this program's other files are, seen from the program itself, PREFIX/bin/NAME: what is
// moved as a whole is found.
#pragma once
#include <filesystem>
#include <string>

namespace ladder {

// "" if the system does not say where the program is.
std::filesystem::path installation_prefix();

// PREFIX/share/ladder: sources, headers and results, as in a checkout. A build folder has a link to
// its checkout there.
std::string source_folder();

}  // namespace ladder
