// SPDX-License-Identifier: Apache-2.0
// ladder explain FILE.cu: a user's kernel. It is launched if the file holds a rung or the grid is
// given; otherwise its machine code is explained.

#include <algorithm>

#include "analyse/explanation.hpp"
#include "analyse/user_kernel.hpp"
#include "common.hpp"
#include "explain.hpp"
#include "problem/number.hpp"
#include "report/files.hpp"
#include "report/temporary.hpp"
#include "run.hpp"

namespace ladder::app {
namespace {

// Threads of a block "256" or "32, 8, 1"; 0 if none is given.
int threads_of(const std::string& block) {
  constexpr std::int64_t kMost = 1024;
  if (block.empty()) return 0;
  std::int64_t threads = 1;
  for (std::size_t from = 0; from <= block.size();) {
    const std::size_t comma = std::min(block.find(',', from), block.size());
    std::string part = block.substr(from, comma - from);
    std::erase(part, ' ');
    const std::int64_t extent = parse_number<std::int64_t>(part).value_or(0);
    threads = extent < 1 || extent > kMost ? 0 : threads * extent;
    if (threads < 1 || threads > kMost)
      throw BadInput("--block: " + block +
                     ": whole numbers of threads, as 256 or 32,8; 1 to 1024 in all");
    from = comma + 1;
  }
  return static_cast<int>(threads);
}

}  // namespace

int explain_file(const RunOptions& o) {
  constexpr double kCompileSeconds = 300;
  if (!o.grid.empty() ||
      (o.kernel.empty() && !analyse::rung_in(required(read_file(o.file), "RUNG")).empty()))
    return run_user_kernel(o);
  const analyse::Machine machine = selected_machine(o.explain_on, o.clock);
  const int threads = threads_of(o.block);
  catch_interrupt();
  const auto scratch = required(Temporary::folder("explain"));
  const auto cubin = analyse::build_code(o.file, machine.cc, scratch.path(), o.source,
                                         tune::in_seconds(kCompileSeconds), interrupted);
  if (!cubin) {
    if (interrupted()) return kInterrupted;
    throw BadInput(cubin.status().message());
  }
  auto kernels = required(analyse::kernels_in(cubin.value().string()), o.file);
  const auto kernel = required(analyse::choose_kernel(std::move(kernels), o.kernel), o.file);
  print_explanation(analyse::explain_code(kernel, machine, threads), o.json);
  return kOk;
}

}  // namespace ladder::app
