// SPDX-License-Identifier: Apache-2.0
// Vega-Lite specifications become SVG by vl-convert, a Python package without further needs; no
// browser takes part.
#pragma once
#include <ladder/status.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ladder::page {

// Ok if render() could draw. Errors (kIo): no Python, or none with vl-convert; how to install it is
// said.
Status can_render();

// One picture a specification, in one go. Errors (kIo): as above; or a specification is refused,
// with the reason.
Result<std::vector<std::string>> render(std::span<const std::string> specs);

// A drawn picture as a file of its own: it follows its reader's light or dark ground, and says
// `title`.
std::string stand_alone(const std::string& svg, const std::string& title);

// Rules of CSS that put the colours for dark ground into pictures below `selector`.
std::string dark_rules(const std::string& selector);

// Text made safe for XML and HTML, attributes included.
std::string escape(std::string_view text);

}  // namespace ladder::page
