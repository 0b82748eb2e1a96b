// SPDX-License-Identifier: Apache-2.0
#include "analyse/machine_code.hpp"

#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <system_error>

#include "analyse/tools.hpp"
#include "engine/sass/cubin.hpp"
#include "engine/sass/decode.hpp"
#include "report/json.hpp"
#include "report/temporary.hpp"
#include "runtime/image/fatbin.hpp"
#include "tune/process.hpp"

namespace ladder::analyse {
namespace {

constexpr std::size_t kInstruction = 16;
constexpr std::uint8_t kNoRegister = 255;
constexpr std::uint16_t kLoadMatrix = 0x83b;
constexpr std::uint8_t kLoadMatrixBytes =
    16;  // of a lane, as the rungs use it: four matrices of 8 rows of 16 bytes

struct Word {
  std::uint64_t low, high;
  std::uint64_t bits(unsigned at, unsigned count) const {
    std::uint64_t value = at >= 64 ? high >> (at - 64) : low >> at;
    if (at < 64 && at + count > 64) value |= high << (64 - at);
    return value & ((std::uint64_t{1} << count) - 1);
  }
};

// Opcodes whose form bits (9 to 11) are part of what they are.
std::optional<Kind> whole_opcode(std::uint16_t opcode) {
  switch (opcode) {
    case 0x83b:  // LDSM
    case 0x984:
      return Kind::kLoadShared;
    case 0x388:
    case 0x988:
      return Kind::kStoreShared;
    case 0x981:
      return Kind::kLoadGlobal;
    case 0x385:
    case 0x386:
    case 0x985:
    case 0x986:
      return Kind::kStoreGlobal;
    case 0xfae:
      return Kind::kAsyncCopy;
    case 0x9af:
      return Kind::kCommitCopies;
    case 0x91a:
      return Kind::kWaitCopies;
    case 0x983:
    case 0x387:
    case 0x987:
      return Kind::kLocal;
    case 0xb1d:
    case 0x31d:
      return Kind::kBarrier;
    case 0x3a7:
    case 0x5a7:
    case 0x9a7:
    case 0x5b2:
      return Kind::kMbarrier;
    case 0x947:
      return Kind::kBranch;
    case 0x94d:
      return Kind::kExit;
    default:
      return std::nullopt;
  }
}

Kind kind_of(std::uint16_t opcode) {
  if (const auto whole = whole_opcode(opcode)) return *whole;
  switch (opcode & 0x1ff) {
    case 0x023:
      return Kind::kFfma;
    case 0x020:
    case 0x021:
    case 0x008:
    case 0x009:
    case 0x00b:
      return Kind::kFloat;
    case 0x024:
    case 0x025:
    case 0x026:
    case 0x027:
      return Kind::kImad;
    case 0x02:
    case 0x07:
    case 0x0c:
    case 0x10:
    case 0x11:
    case 0x12:
    case 0x16:
    case 0x17:
    case 0x19:
    case 0x1c:
    case 0x36:
    case 0x35:
    case 0x48:
      return Kind::kInteger;
    case 0x3c:
      return Kind::kTensor;
    case 0x1f0:
      return Kind::kWarpgroup;
    default:
      return Kind::kOther;
  }
}

// Memory instructions: bits 73 to 75.
std::uint8_t width_of(const Word& word) {
  constexpr std::array<std::uint8_t, 8> kBytes{1, 1, 2, 2, 4, 8, 16, 16};
  return kBytes[word.bits(73, 3)];
}

bool is_memory(Kind kind) {
  return kind == Kind::kLoadShared || kind == Kind::kStoreShared || kind == Kind::kLoadGlobal ||
         kind == Kind::kStoreGlobal || kind == Kind::kAsyncCopy || kind == Kind::kLocal;
}

// A branch's distance in instructions of 4 bytes: bits 34 to 81 above 16 to 23.
std::int64_t branch_target(const Word& word, std::uint32_t offset) {
  constexpr unsigned kHighBits = 48;
  auto high = static_cast<std::int64_t>(word.bits(34, kHighBits));
  if ((high >> (kHighBits - 1)) != 0) high -= std::int64_t{1} << kHighBits;
  const std::int64_t distance = high * 256 + static_cast<std::int64_t>(word.bits(16, 8));
  return std::int64_t{offset} + static_cast<std::int64_t>(kInstruction) + distance * 4;
}

std::string demangled(const std::string& name) {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), std::free);
  return status == 0 && text != nullptr ? text.get() : name;
}

// Without return type, template arguments' spaces and parameters, so that spellings of one kernel agree.
std::string plain(std::string_view name) {
  if (name.starts_with("void ")) name.remove_prefix(5);
  int depth = 0;
  std::string text;
  for (const char ch : name) {
    if (ch == '<') ++depth;
    if (ch == '>') --depth;
    if (ch == '(' && depth == 0) break;
    if (ch != ' ') text += ch;
  }
  return text;
}

using Choose = const vgpu::image::Entry* (*)(std::span<const vgpu::image::Entry>, std::uint32_t);

// "" where it cannot be read.
std::string bytes_of(const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(file, error);
  std::string bytes(error ? 0 : size, '\0');
  std::ifstream stream(file, std::ios::binary);
  if (!stream.read(bytes.data(), static_cast<std::streamsize>(bytes.size()))) return "";
  return bytes;
}

// What fat binaries in the file hold for this device, as `choose` says, decompressed.
std::vector<std::string> images_of(std::span<const std::byte> file, int cc, Choose choose) {
  constexpr std::string_view kMagic("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
  std::vector<std::string> found;
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (std::size_t at = 0; (at = text.find(kMagic, at)) != text.npos; ++at) {
    try {
      const auto entries = vgpu::image::read_entries(file.subspan(at));
      const vgpu::image::Entry* best = choose(entries, static_cast<std::uint32_t>(cc));
      if (best != nullptr) found.push_back(vgpu::image::contents(*best));
    } catch (const vgpu::image::Damaged&) {
      continue;  // the same bytes by chance
    }
  }
  return found;
}

}  // namespace

std::vector<MachineInstruction> decode(std::span<const std::byte> code) {
  std::vector<MachineInstruction> list;
  for (std::size_t at = 0; at + kInstruction <= code.size(); at += kInstruction) {
    Word word{};
    std::memcpy(&word.low, code.data() + at, sizeof word.low);
    std::memcpy(&word.high, code.data() + at + sizeof word.low, sizeof word.high);
    MachineInstruction i;
    i.opcode = static_cast<std::uint16_t>(word.bits(0, 12));
    i.kind = kind_of(i.opcode);
    i.offset = static_cast<std::uint32_t>(at);
    i.stall = static_cast<std::uint8_t>(word.bits(105, 4));
    i.sets_result = static_cast<std::uint8_t>(word.bits(110, 3));
    i.sets_read = static_cast<std::uint8_t>(word.bits(113, 3));
    i.waits = static_cast<std::uint8_t>(word.bits(116, 6));
    i.reuse = static_cast<std::uint8_t>(word.bits(122, 3));
    if (is_memory(i.kind)) i.bytes = i.opcode == kLoadMatrix ? kLoadMatrixBytes : width_of(word);
    if (i.kind == Kind::kBranch) i.target = branch_target(word, i.offset);
    constexpr std::uint64_t kTrue = 7;  // predicate PT, not negated
    i.always = (i.kind == Kind::kExit || (i.kind == Kind::kBranch && word.bits(87, 4) == kTrue)) &&
               word.bits(12, 4) == kTrue;
    if (i.kind == Kind::kWaitCopies) i.copies_left = static_cast<int>(word.bits(38, 6));
    if (i.kind == Kind::kFfma) {
      const bool both = (i.opcode & 0xe00) == 0x200;  // no immediate or constant in place of a register
      i.sources = {static_cast<std::uint8_t>(word.bits(24, 8)),
                   both ? static_cast<std::uint8_t>(word.bits(32, 8)) : kNoRegister,
                   static_cast<std::uint8_t>(word.bits(64, 8))};
    }
    list.push_back(i);
  }
  return list;
}

std::string name_of(const MachineInstruction& i) {
  const std::string width = i.bytes == 16 ? ".128" : i.bytes == 8 ? ".64" : "";
  switch (i.kind) {
    case Kind::kFfma:
      return "FFMA";
    case Kind::kFloat:
      return "other float";
    case Kind::kImad:
      return "IMAD";
    case Kind::kInteger:
      return "integer";
    case Kind::kLoadShared:
      return i.opcode == kLoadMatrix ? "LDSM" : "LDS" + width;
    case Kind::kStoreShared:
      return "STS" + width;
    case Kind::kLoadGlobal:
      return "LDG" + width;
    case Kind::kStoreGlobal:
      return "STG" + width;
    case Kind::kAsyncCopy:
      return "LDGSTS" + width;
    case Kind::kCommitCopies:
      return "LDGDEPBAR";
    case Kind::kWaitCopies:
      return "DEPBAR";
    case Kind::kLocal:
      return "local" + width;
    case Kind::kTensor:
      return "HMMA";
    case Kind::kWarpgroup:
      return "HGMMA";
    case Kind::kMbarrier:
      return "SYNCS";
    case Kind::kBarrier:
      return "BAR";
    case Kind::kBranch:
      return "BRA";
    case Kind::kExit:
      return "EXIT";
    case Kind::kOther:
      break;
  }
  return "other";
}

namespace {

std::vector<Ways> ways_of(std::span<const MachineInstruction> code) {
  std::vector<Ways> ways;
  for (const MachineInstruction& i : code) {
    const bool jumps = i.kind == Kind::kBranch && i.target >= 0;
    ways.push_back(
        {jumps ? static_cast<std::ptrdiff_t>(i.target) / static_cast<std::ptrdiff_t>(kInstruction) : -1,
         !i.always});
  }
  return ways;
}

}  // namespace

std::vector<Loop> loops_of(std::span<const MachineInstruction> code) { return loops_of(ways_of(code)); }

namespace {

constexpr std::ptrdiff_t kTensorWeight = 1 << 20;  // more than a loop has instructions

std::ptrdiff_t products_of(std::span<const MachineInstruction> code, const Loop& loop) {
  std::ptrdiff_t products = 0;
  for (const MachineInstruction& i : code.subspan(loop.first, loop.size())) {
    if (i.kind == Kind::kWarpgroup || i.kind == Kind::kTensor) products += kTensorWeight;
    if (i.kind == Kind::kFfma) ++products;
  }
  return products;
}

}  // namespace

Result<Loop> hot_loop(std::span<const MachineInstruction> code) {
  const std::vector<Loop> loops = loops_of(code);
  std::optional<Loop> best;
  std::ptrdiff_t most = 0;
  for (const Loop& loop : loops) {
    const std::ptrdiff_t products = products_of(code, loop);
    if (products > most || (best && products == most && loop.size() < best->size())) {
      best = loop;
      most = products;
    }
  }
  if (!best || most == 0)
    return Status(Code::kInvalidArgument, "no loop of the machine code multiplies and adds");
  // A persistent block's loop over tiles holds the loop over k, and what else it multiplies comes once a tile: on tensor cores
  // also what was taken out of the loop over k, which may be more.
  for (bool inner = true; inner;) {
    inner = false;
    const Loop outer = *best;
    const std::ptrdiff_t least = most >= kTensorWeight ? kTensorWeight : (most + 1) / 2;
    most = 0;
    for (const Loop& loop : loops) {
      const std::ptrdiff_t products = products_of(code, loop);
      if (!loop.inside(outer) || products < least || products <= most) continue;
      best = loop;
      most = products;
      inner = true;
    }
  }
  return *best;
}

std::map<std::string, int> mix_of(std::span<const MachineInstruction> code) {
  std::map<std::string, int> mix;
  for (const MachineInstruction& i : code) ++mix[name_of(i)];
  return mix;
}

Result<KernelCode> find_code(const std::string& file, std::string_view kernel, int cc) {
  const std::string all = bytes_of(file);
  if (all.empty()) return Status(Code::kIo, file + ": cannot be read");
  const std::string wanted = plain(kernel);
  const auto cubins = images_of(std::as_bytes(std::span(all)), cc, vgpu::image::choose_cubin);
  for (const std::string& cubin : cubins) {
    try {
      const vgpu::sass::Cubin parsed(std::as_bytes(std::span(cubin)));
      for (const vgpu::sass::KernelInfo& info : parsed.kernels()) {
        if (info.name == kernel || plain(demangled(info.name)) == wanted)
          return KernelCode{info.name,
                            {info.code.begin(), info.code.end()},
                            {reinterpret_cast<const std::byte*>(cubin.data()),
                             reinterpret_cast<const std::byte*>(cubin.data()) + cubin.size()}};
      }
    } catch (const vgpu::sass::BadCubin& damage) {
      return Status(Code::kIo, file + ": " + damage.what());
    }
  }
  return Status(Code::kInvalidArgument,
                cubins.empty()
                    ? fmt::format("{}: no machine code for compute capability {}.{}", file, cc / 10, cc % 10)
                    : fmt::format("{}: no kernel {}", file, kernel));
}

namespace {

// Lines like "        /*0010*/     IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;" of the kernel's section.
std::map<std::uint32_t, std::string> parse_nvdisasm(const std::string& output, const std::string& mangled) {
  std::map<std::uint32_t, std::string> text;
  std::istringstream lines(output);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".text.")) inside = line == ".text." + mangled + ":";
    const auto open = line.find("/*"), close = line.find("*/");
    if (!inside || open == std::string::npos || close == std::string::npos || close < open + 6) continue;
    char* end = nullptr;
    const auto offset = static_cast<std::uint32_t>(std::strtoul(line.c_str() + open + 2, &end, 16));
    if (end != line.c_str() + close) continue;
    const auto from = line.find_first_not_of(' ', close + 2), to = line.rfind(';');
    if (from == std::string::npos || to == std::string::npos || to <= from) continue;
    std::string one = line.substr(from, to - from);
    while (!one.empty() && one.back() == ' ') one.pop_back();
    text[offset] = one;
  }
  return text;
}

}  // namespace

Disassembly disassemble(const KernelCode& code) {
  Disassembly result;
  if (const std::string nvdisasm = find_tool("LADDER_NVDISASM", "nvdisasm"); !nvdisasm.empty()) {
    if (const auto file = Temporary::file("cubin"); file) {
      const std::string name = file.value().path().string();
      const Status whole =
          write_atomic(name, {reinterpret_cast<const char*>(code.cubin.data()), code.cubin.size()});
      const auto deadline = tune::Clock::now() + std::chrono::seconds(60);
      const auto done = tune::run({nvdisasm, "-c", name}, deadline, {});
      if (whole && done && done.value().end.status == 0)
        result.text = parse_nvdisasm(done.value().output, code.mangled);
      if (!result.text.empty()) {
        result.by = "nvdisasm";
        return result;
      }
    }
  }
  result.by = "the virtual GPU's decoder (nvdisasm is not installed)";
  for (std::size_t at = 0; at + kInstruction <= code.bytes.size(); at += kInstruction) {
    vgpu::sass::Word word;
    std::memcpy(&word.low, code.bytes.data() + at, sizeof word.low);
    std::memcpy(&word.high, code.bytes.data() + at + sizeof word.low, sizeof word.high);
    const auto offset = static_cast<std::uint32_t>(at);
    try {
      result.text[offset] = vgpu::sass::decode(word, offset).text;
    } catch (const vgpu::sass::UnknownInstruction&) {
      result.text[offset] = fmt::format("unknown 0x{:016x}{:016x}", word.high, word.low);
    }
  }
  return result;
}

Result<PtxText> find_ptx(const std::string& file, std::string_view kernel, int cc) {
  const std::string all = bytes_of(file);
  if (all.empty()) return Status(Code::kIo, file + ": cannot be read");
  const std::string wanted = plain(kernel);
  for (const std::string& module : images_of(std::as_bytes(std::span(all)), cc, vgpu::image::choose_ptx)) {
    std::istringstream lines(module.substr(0, module.find('\0')));
    PtxText text;
    int number = 0;
    for (std::string line; std::getline(lines, line);) {
      ++number;
      constexpr std::string_view kEntry = ".entry ";
      const auto at = line.find(kEntry);
      if (at != std::string::npos && text.lines.empty()) {
        std::string name = line.substr(at + kEntry.size());
        name.resize(std::min(name.find_first_of("( "), name.size()));
        if (name != kernel && plain(demangled(name)) != wanted) continue;
        text.first_line = number;
        text.lines.push_back(line);
      } else if (!text.lines.empty()) {
        text.lines.push_back(line);
        if (line.starts_with("}")) return text;
      }
    }
  }
  return Status(Code::kInvalidArgument, fmt::format("{}: no PTX of {}", file, kernel));
}

}  // namespace ladder::analyse
