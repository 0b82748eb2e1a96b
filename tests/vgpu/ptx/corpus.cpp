// SPDX-License-Identifier: Apache-2.0
#include "corpus.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace vgpu::ptx {

const std::vector<CorpusFile>& corpus() {
  static const std::vector<CorpusFile> files = [] {
    std::vector<CorpusFile> result;
    std::istringstream folders(PTX_CORPUS);
    for (std::string folder; std::getline(folders, folder, ':');) {
      for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() != ".ptx") continue;
        std::ostringstream text;
        text << std::ifstream(entry.path()).rdbuf();
        const std::string folder_name = std::filesystem::path(folder).filename();
        result.push_back({folder_name + "/" + entry.path().stem().string(), text.str()});
      }
    }
    return result;
  }();
  return files;
}

const std::string& corpus_text(const std::string& name) {
  for (const CorpusFile& file : corpus()) {
    if (file.name == name) return file.text;
  }
  throw std::out_of_range("no PTX of this name: " + name);
}

std::string kernel_text(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in) {" + body +
         "\n}\n";
}

}  // namespace vgpu::ptx
