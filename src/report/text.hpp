// SPDX-License-Identifier: Apache-2.0
// Makes text of unknown origin (names of kernels and files, compiler messages) safe to display.
#pragma once
#include <string>
#include <string_view>

namespace ladder {

// For terminals: control characters, characters that change the writing direction, and invalid
// UTF-8 bytes become \xNN. Characters in `kept` are unchanged.
std::string printable(std::string_view text, std::string_view kept = "");

// For a table cell or line of Markdown: as printable(), with markup and HTML escaped.
std::string markdown_text(std::string_view text);

// A word of a command line that users copy and run: quoted unless a shell takes it literally.
std::string shell_word(const std::string& text);

// A CSV field by RFC 4180. A text that a spreadsheet would interpret as a formula gets a leading
// apostrophe.
std::string csv_field(std::string_view text);

}  // namespace ladder
