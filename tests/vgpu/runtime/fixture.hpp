// SPDX-License-Identifier: Apache-2.0
// Fat binaries that nvcc wrote at build time.
#pragma once
#include <cstddef>
#include <fstream>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>

// `mode` is how it is compressed: default, none, speed or size.
inline std::string fixture(const std::string& mode) {
  std::ifstream in(FIXTURES "/" + mode + ".fatbin", std::ios::binary);
  if (!in) throw std::runtime_error("no fixture " + mode);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}
