// SPDX-License-Identifier: Apache-2.0
#include "count/tensor.hpp"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include "ir/operations.hpp"
#include "ir/wgmma.hpp"

namespace vgpu::count {
namespace {

using ir::u32;

constexpr u32 kWarps = 4;  // of a warpgroup: each does a quarter of its product

TensorPath path_of(ir::WgmmaType type) {
  switch (type) {
    case ir::WgmmaType::kBf16: return TensorPath::kHgmmaBf16;
    case ir::WgmmaType::kF16: return TensorPath::kHgmmaFp16;
    case ir::WgmmaType::kTf32: return TensorPath::kHgmmaTf32;
    case ir::WgmmaType::kS8:
    case ir::WgmmaType::kU8: return TensorPath::kIgmmaInt8;
    default: return TensorPath::kFp8;
  }
}

TensorWork of_warpgroup(const ir::Insn& insn) {
  constexpr u32 kRows = 64;
  const auto type = static_cast<ir::WgmmaType>(insn.bytes);
  const u32 columns = static_cast<u32>(insn.imm);
  const bool registers = (insn.sub & ir::kWgmmaRegisters) != 0;
  return {
      path_of(type), 2 * kRows * columns * ir::wgmma_depth(type, insn.sub) / kWarps,
      (columns * ir::wgmma_bytes_of_b(insn.sub) + (registers ? 0 : kRows * ir::kWgmmaBytesOfA)) /
          kWarps,
      registers};
}

TensorPath path_of(std::string_view type) {
  constexpr std::array<std::pair<std::string_view, TensorPath>, 5> kPaths = {
      {{"bf16", TensorPath::kHmmaBf16},
       {"f16", TensorPath::kHmmaFp16},
       {"tf32", TensorPath::kHmmaTf32},
       {"b1", TensorPath::kBmmaInt1},
       {"f64", TensorPath::kFp64}}};
  for (const auto& [name, path] : kPaths) {
    if (type == name) return path;
  }
  return TensorPath::kImmaInt8;  // also of 4 bits, which become 8
}

u32 number_behind(std::string_view& text, char letter) {
  u32 number = 0;
  if (text.empty() || text.front() != letter) return number;
  const auto [end, error] = std::from_chars(text.data() + 1, text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

}  // namespace

// Names: wgmma.mma_async, {mma,mma.sp,wmma,sass.mma}.mMnNkK.TYPE OF A....
TensorWork tensor_work(const ir::Insn& insn) {
  std::string_view name = ir::operations()[insn.op].name;
  if (name == "wgmma.mma_async") return of_warpgroup(insn);
  constexpr std::string_view kMachineCode = "sass.";
  if (name.starts_with(kMachineCode)) name.remove_prefix(kMachineCode.size());
  const std::size_t shape = name.find('.');
  if (shape == name.npos || (name.substr(0, shape) != "mma" && name.substr(0, shape) != "wmma"))
    return {};
  name.remove_prefix(shape + 1);
  constexpr std::string_view kSparse = "sp.";
  if (name.starts_with(kSparse)) name.remove_prefix(kSparse.size());
  const u32 m = number_behind(name, 'm'), n = number_behind(name, 'n'),
            k = number_behind(name, 'k');
  if (m == 0 || n == 0 || k == 0 || name.empty()) return {};  // wmma.address
  name.remove_prefix(1);
  return {path_of(name.substr(0, name.find('.'))), 2 * m * n * k, 0, false};
}

}  // namespace vgpu::count
