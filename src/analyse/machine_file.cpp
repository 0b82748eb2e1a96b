// SPDX-License-Identifier: Apache-2.0
// Extracts a kernel's machine code, disassembly and PTX from a program's file.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "analyse/machine_code.hpp"
#include "engine/kernel.hpp"
#include "problem/number.hpp"
#include "report/files.hpp"
#include "report/temporary.hpp"
#include "runtime/image/image.hpp"
#include "sass/decode/decode.hpp"
#include "sass/elf/cubin.hpp"
#include "sass/elf/lines.hpp"
#include "tune/process.hpp"

namespace ladder::analyse {
namespace {

// Removes the return type, spaces in template arguments, anonymous namespaces and the parameters,
// so that different spellings of one kernel's name compare equal.
std::string plain(std::string name) {
  constexpr std::string_view kAnonymous = "(anonymous namespace)::";
  if (name.starts_with("void ")) name.erase(0, 5);
  for (auto at = name.find(kAnonymous); at != name.npos; at = name.find(kAnonymous, at))
    name.erase(at, kAnonymous.size());
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

// Decompressed images for this device from the file's fat binaries, selected by `choose`.
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
      continue;  // the magic number occurred by chance
    }
  }
  return found;
}

}  // namespace

Result<KernelCode> find_code(const std::string& file, std::string_view kernel, int cc) {
  const auto all = read_file(file);
  if (!all) return all.status();
  const std::string wanted = plain(std::string(kernel));
  const auto cubins =
      images_of(std::as_bytes(std::span(all.value())), cc, vgpu::image::choose_cubin);
  for (const std::string& cubin : cubins) {
    try {
      const vgpu::sass::Cubin parsed(std::as_bytes(std::span(cubin)));
      for (const vgpu::sass::KernelInfo& info : parsed.kernels()) {
        if (info.name == kernel || plain(vgpu::demangle(info.name)) == wanted)
          return KernelCode{info.name,
                            {info.code.begin(), info.code.end()},
                            {reinterpret_cast<const std::byte*>(cubin.data()),
                             reinterpret_cast<const std::byte*>(cubin.data()) + cubin.size()},
                            parsed.target()};
      }
    } catch (const vgpu::sass::BadCubin& damage) {
      return Status(Code::kIo, file + ": " + damage.what());
    }
  }
  return Status(Code::kInvalidArgument,
                cubins.empty() ? fmt::format("{}: no machine code for compute capability {}.{}",
                                             file, cc / 10, cc % 10)
                               : fmt::format("{}: no kernel {}", file, kernel));
}

Result<std::vector<FileKernel>> kernels_in(const std::string& cubin) {
  const auto all = read_file(cubin);
  if (!all) return all.status();
  const auto bytes = std::as_bytes(std::span(all.value()));
  std::vector<FileKernel> kernels;
  try {
    const vgpu::sass::Cubin parsed(bytes);
    // From sm_90 on, a cubin counts the system's shared memory as the kernel's.
    const std::uint32_t reserved = parsed.target() >= 90 ? 1024 : 0;
    for (const vgpu::sass::KernelInfo& info : parsed.kernels()) {
      FileKernel& kernel = kernels.emplace_back();
      kernel.name = vgpu::demangle(info.name);
      kernel.code = {info.name,
                     {info.code.begin(), info.code.end()},
                     {bytes.begin(), bytes.end()},
                     parsed.target()};
      kernel.registers = static_cast<int>(info.registers);
      kernel.shared_bytes =
          static_cast<int>(info.shared_bytes - std::min(info.shared_bytes, reserved));
      kernel.local_bytes = static_cast<int>(info.stack_bytes);
      kernel.max_threads = static_cast<int>(info.max_threads);
    }
  } catch (const vgpu::sass::BadCubin& damage) {
    return Status(Code::kIo, cubin + ": " + damage.what());
  }
  return kernels;
}

Result<FileKernel> choose_kernel(std::vector<FileKernel> kernels, const std::string& name) {
  const auto bad = [&](const std::string& rule) {
    std::string known;
    for (const FileKernel& kernel : kernels) known += (known.empty() ? " " : "; ") + kernel.name;
    return Status(Code::kInvalidArgument, rule + known);
  };
  if (kernels.empty())
    return bad("no kernel: no __global__ function that is defined, or instantiated, in the file");
  std::vector<const FileKernel*> same, alike;
  const std::string wanted = plain(name);
  for (const FileKernel& kernel : kernels) {
    const std::string own = plain(kernel.name);
    if (name.empty() || kernel.code.mangled == name || own == wanted) same.push_back(&kernel);
    if (own.substr(0, own.find('<')) == wanted) alike.push_back(&kernel);
  }
  if (same.empty()) same = alike;
  if (same.size() == 1) return *same.front();
  if (name.empty()) return bad("--kernel: choose one of the file's kernels:");
  return bad(fmt::format("--kernel: {} {}; the file's kernels:", name,
                         same.empty() ? "is none of them" : "may be several of them"));
}

std::vector<SourcePlace> places_of(const KernelCode& code) {
  std::vector<SourcePlace> places;
  try {
    const vgpu::sass::Cubin cubin(code.cubin);
    for (const vgpu::sass::KernelInfo& info : cubin.kernels()) {
      if (info.name != code.mangled) continue;
      const vgpu::sass::LineTable table = vgpu::sass::read_lines(cubin, info);
      if (table.entries.empty()) return places;
      for (std::size_t at = 0; at + kInstruction <= code.bytes.size(); at += kInstruction) {
        const vgpu::sass::LineEntry* const entry = table.find(static_cast<std::uint32_t>(at));
        const bool known = entry != nullptr && entry->line > 0 && entry->file < table.files.size();
        places.push_back(known ? SourcePlace{table.files[entry->file], entry->line}
                               : SourcePlace{});
      }
    }
  } catch (const vgpu::sass::BadCubin&) {
    places.clear();
  }
  return places;
}

namespace {

// Parses lines such as "        /*0010*/     IMAD.MOV.U32 R1, RZ, RZ, c[0x0][0x28] ;" in the
// kernel's section.
std::map<std::uint32_t, std::string> parse_nvdisasm(const std::string& output,
                                                    const std::string& mangled) {
  std::map<std::uint32_t, std::string> text;
  std::istringstream lines(output);
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".text.")) inside = line == ".text." + mangled + ":";
    const auto open = line.find("/*"), close = line.find("*/");
    if (!inside || open == std::string::npos || close == std::string::npos || close < open + 6)
      continue;
    const auto offset = parse_number<std::uint32_t>(line.substr(open + 2, close - open - 2), 16);
    if (!offset) continue;
    const auto from = line.find_first_not_of(' ', close + 2), to = line.rfind(';');
    if (from == std::string::npos || to == std::string::npos || to <= from) continue;
    std::string one = line.substr(from, to - from);
    while (!one.empty() && one.back() == ' ') one.pop_back();
    text[*offset] = one;
  }
  return text;
}

}  // namespace

Disassembly disassemble(const KernelCode& code) {
  Disassembly result;
  if (const std::string nvdisasm = tune::find_tool("LADDER_NVDISASM", "nvdisasm");
      !nvdisasm.empty()) {
    if (const auto folder = Temporary::folder("cubin"); folder) {
      const std::string name = (folder.value().path() / "code.cubin").string();
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
    const vgpu::sass::Word word = word_at(code, at);
    const auto offset = static_cast<std::uint32_t>(at);
    try {
      result.text[offset] = vgpu::sass::decode(word, offset, code.architecture).text;
    } catch (const vgpu::sass::UnknownInstruction&) {
      result.text[offset] = fmt::format("unknown 0x{:016x}{:016x}", word.high, word.low);
    }
  }
  return result;
}

Result<PtxText> find_ptx(const std::string& file, std::string_view kernel, int cc) {
  const auto all = read_file(file);
  if (!all) return all.status();
  const std::string wanted = plain(std::string(kernel));
  for (const std::string& module :
       images_of(std::as_bytes(std::span(all.value())), cc, vgpu::image::choose_ptx)) {
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
        if (name != kernel && plain(vgpu::demangle(name)) != wanted) continue;
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
