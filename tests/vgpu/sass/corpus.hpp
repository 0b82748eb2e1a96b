// SPDX-License-Identifier: Apache-2.0
// The lines of corpus_*.txt: instructions with NVIDIA's disassembly.
#pragma once
#include <cstdint>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "sass/decode/instruction.hpp"

struct Line {
  std::uint32_t address = 0;
  vgpu::sass::Word word;
  std::string text;
};

inline std::vector<Line> corpus(int architecture = 90) {
  std::vector<Line> lines;
  for (const char* const name : {"/corpus_000.txt", "/corpus_800.txt", "/corpus_products.txt"}) {
    std::ifstream file(std::string(VGPU_SASS_CORPORA) + name);
    for (std::string text; std::getline(file, text);) {
      if (text.starts_with('#')) continue;
      std::istringstream in(text);
      std::string architectures;
      in >> architectures;
      if (("," + architectures + ",").find("," + std::to_string(architecture) + ",") ==
          std::string::npos)
        continue;
      Line line;
      in >> std::hex >> line.address >> line.word.low >> line.word.high >> std::ws;
      std::getline(in, line.text);
      lines.push_back(line);
    }
  }
  return lines;
}
