// SPDX-License-Identifier: Apache-2.0
// ladder new NAME: a rung to start from, with the headings of every rung.
#include <fmt/format.h>
#include <ladder/registry.hpp>

#include <filesystem>
#include <memory>
#include <string_view>

#include "common.hpp"
#include "report/text.hpp"

namespace ladder::app {
namespace {

constexpr const char* kTemplate = R"(// SPDX-License-Identifier: Apache-2.0
// {name}: what it does, in one line.
// NEW:     The one idea, in a few words.
// WHY:     What binds the rung below (`ladder explain` says it).
// PREDICT: What should change, in numbers, before it is measured.
// LIMITS:  Any M, N, K, leading dimensions, alpha, beta.
// NEXT:    What binds then.
#include "device/launch.cuh"
#include "problem/accept.hpp"

#include <span>

namespace ladder::{name} {{

struct Tile {{
  static constexpr int BM = 8, BN = 32;  // outputs of a block
  static constexpr int kThreads = BM * BN;
  static_assert(kThreads <= 1024, "a block has at most 1,024 threads");
  static_assert(BN % 32 == 0, "a warp's lanes must stay on one row");
}};

template <class T>
__global__ void __launch_bounds__(T::kThreads)
    kernel(const __grid_constant__ Problem p, const __grid_constant__ Operands o) {{
  // Who am I
  const BlockTile tile = block_tile();
  const int row = tile.m * T::BM + static_cast<int>(threadIdx.y);
  const int col = tile.n * T::BN + static_cast<int>(threadIdx.x);
  if (row >= p.m || col >= p.n) return;

  // Tensors and shapes
  const float* gA = o.a + row * p.lda;  // (k), stride 1
  const float* gB = o.b + col;          // (k), stride ldb

  // Main loop
  float acc = 0.0F;
  const int depth = static_cast<int>(p.k);
  for (int k = 0; k < depth; ++k) acc += gA[k] * gB[k * p.ldb];

  // Epilogue
  store_scaled(o.c + row * p.ldc + col, acc, p.alpha, p.beta);
}}

static Status launch(const Problem& p, const Operands& o, Stream stream) {{
  return launch_parts(p, o, Tile::BM, Tile::BN, [&](const Problem& part, const Operands& at, dim3 grid) {{
    kernel<Tile><<<grid, dim3(Tile::BN, Tile::BM), 0, stream>>>(part, at);
  }});
}}

static constexpr KernelInfo kKernels[] = {{
    plain_rung<kMinCc>("{name}", "the one idea, in a few words", launch)}};
extern const std::span<const KernelInfo> kInfo{{kKernels}};

}}  // namespace ladder::{name}
)";

bool is_rung_name(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789",
                             kWord = "abcdefghijklmnopqrstuvwxyz0123456789_";
  constexpr std::size_t kHead = 4, kLongest = 30;  // "r01_"
  if (name.size() <= kHead || name.size() > kLongest || name[0] != 'r' || name[3] != '_')
    return false;
  return name.substr(1, 2).find_first_not_of(kDigits) == name.npos &&
         name.substr(kHead).find_first_not_of(kWord) == name.npos;
}

int run(const std::string& name, const std::string& output) {
  if (!is_rung_name(name))
    throw BadInput(fmt::format(
        "NAME: '{}' is not rNN_idea: a number of two digits, lower-case letters, digits, _", name));
  for (const KernelInfo& kernel : kernels()) {
    if (kernel.rung == name) throw BadInput(fmt::format("NAME: there is a rung {}", name));
  }
  const std::string path = output.empty() ? name + ".cu" : output;
  std::error_code error;
  if (std::filesystem::exists(path, error))
    throw BadInput(fmt::format("-o: {} is there already", path));
  require_writable(path, "-o");
  write_file(path, fmt::format(kTemplate, fmt::arg("name", name)), "-o");
  fmt::print("{0}: try it with `ladder run {0}`; CONTRIBUTING.md says how it becomes a rung\n",
             printable(path));
  return kOk;
}

}  // namespace

void add_new(CLI::App& app, Verb& chosen) {
  CLI::App* verb = app.add_subcommand("new", "Write a rung to start from");
  auto name = std::make_shared<std::string>();
  auto output = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "rNN_idea")->required();
  verb->add_option("-o,--output", *output, "file; default NAME.cu here");
  verb->footer("Examples:\n  ladder new r99_mine\n  ladder run r99_mine.cu");
  verb->callback(
      [&chosen, name, output] { chosen = [name, output] { return run(*name, *output); }; });
}

}  // namespace ladder::app
