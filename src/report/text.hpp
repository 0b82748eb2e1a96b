// SPDX-License-Identifier: Apache-2.0
// Text of unknown origin (kernels' names, files' names, compilers' messages) made safe for where it
// is shown.
#pragma once
#include <string>
#include <string_view>

namespace ladder {

// For terminals: control characters, characters that change the direction of writing, and bytes
// that are no UTF-8 become \xNN. Those in `kept` stay.
std::string printable(std::string_view text, std::string_view kept = "");

// For a cell or a line of markdown: as printable, and nothing in it is markup or HTML.
std::string markdown_text(std::string_view text);

// A field of CSV by RFC 4180. A word that a spreadsheet would take for a formula begins with an
// apostrophe.
std::string csv_field(std::string_view text);

}  // namespace ladder
