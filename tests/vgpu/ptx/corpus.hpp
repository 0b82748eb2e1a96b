// SPDX-License-Identifier: Apache-2.0
// PTX that the compiler made of corpus/*.cu at build time.
#pragma once
#include <string>
#include <vector>

namespace vgpu::ptx {

struct CorpusFile {
  std::string name;  // "ptx_corpus_hopper/hopper"
  std::string text;
};
const std::vector<CorpusFile>& corpus();
const std::string& corpus_text(const std::string& name);  // throws std::out_of_range

// One line that makes `body` a kernel of a module that parses; the body begins in line 4.
std::string kernel_text(const std::string& body);

}  // namespace vgpu::ptx
