// SPDX-License-Identifier: Apache-2.0
// Renders Vega-Lite specifications to SVG with vl-convert, a Python package without dependencies;
// no browser is needed.
#pragma once
#include <ladder/status.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::page {

// Ok if render() can work. Errors (kIo): there is no Python, or none with vl-convert; the message
// says how to install it.
Status can_render();

// Renders one picture per specification, in one process. Errors (kIo): as above, or a specification
// is refused, with the reason.
Result<std::vector<std::string>> render(std::span<const std::string> specs);

// Returns a rendered picture as a stand-alone file that follows the reader's light or dark theme
// and has `title` as its accessible title.
std::string stand_alone(const std::string& svg, const std::string& title);

// Returns CSS rules that apply the colours of the dark theme to pictures below `selector`.
std::string dark_rules(const std::string& selector);

// Escapes text for XML and HTML, including attributes.
std::string escape(std::string_view text);

}  // namespace ladder::page
