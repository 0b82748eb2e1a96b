// SPDX-License-Identifier: Apache-2.0
// What all pictures share: text made safe for XML, the head of a file, and steps for an axis.
#pragma once
#include <fmt/format.h>

#include <cmath>
#include <string>

namespace ladder::svg {

inline std::string escape(const std::string& text) {
  std::string safe;
  for (const char ch : text) {
    switch (ch) {
      case '&':
        safe += "&amp;";
        break;
      case '<':
        safe += "&lt;";
        break;
      case '>':
        safe += "&gt;";
        break;
      case '"':
        safe += "&quot;";
        break;
      default:
        safe += ch;
    }
  }
  return safe;
}

// Opens a stand-alone picture that is legible on light and dark ground. `label` is what a screen reader says;
// `light` and `dark` are further CSS rules.
inline std::string open(int width, int height, const std::string& label, const std::string& light,
                        const std::string& dark) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
      "role=\"img\" "
      "aria-label=\"{2}\" font-family=\"system-ui, sans-serif\" font-size=\"13\">\n"
      "<style>text{{fill:#57606a}} {3} @media(prefers-color-scheme:dark){{text{{fill:#c9d1d9}} "
      "{4}}}</style>\n",
      width, height, escape(label), light, dark);
}

// 1, 2 or 5 times a power of ten, so that four to ten of them fit below `most`.
inline double tick_step(double most) {
  const double power = std::pow(10, std::floor(std::log10(most / 4)));
  for (const double factor : {5.0, 2.0}) {
    if (power * factor <= most / 4) return power * factor;
  }
  return power;
}

}  // namespace ladder::svg
