// SPDX-License-Identifier: Apache-2.0
// Whether large blocks of the program's heap are in pages that may be large.
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "require.hpp"

int main() {
  skip_on_hardware();
  std::string modes, line;
  std::getline(std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled"), modes);
  if (modes.find("[madvise]") == std::string::npos) {
    std::puts("no such pages, or all are");
    return 0;
  }
  constexpr std::size_t kBytes = std::size_t{64} << 20;
  const void* const block = std::malloc(kBytes);
  require(block != nullptr, "malloc");
  const auto address = reinterpret_cast<unsigned long>(block);
  std::ifstream maps("/proc/self/smaps");
  bool ours = false;
  while (std::getline(maps, line)) {
    unsigned long begin = 0, end = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx ", &begin, &end) == 2)
      ours = begin <= address && address < end;
    if (!ours || line.rfind("VmFlags:", 0) != 0) continue;
    require(line.find(" hg") != std::string::npos, "the block's pages");
    std::puts("large");
  }
}
