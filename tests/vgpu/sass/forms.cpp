// SPDX-License-Identifier: Apache-2.0
// The forms of instructions (mnemonics with their modifiers) in cubins and in programs' fat
// binaries, and whether the virtual GPU knows them: each must decode, to the text that NVIDIA's
// disassembler has for it where that is given, and each kernel must lower.
//
//   sass_forms [--list] [--nvdisasm PROGRAM] CUBIN|PROGRAM...
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

#include "canonical.hpp"
#include "engine/engine.hpp"
#include "memory/memory.hpp"
#include "runtime/image/image.hpp"
#include "sass/decode/decode.hpp"
#include "sass/elf/cubin.hpp"

namespace {

using vgpu::sass::Word;

constexpr std::uint64_t kSchedule = ~std::uint64_t{0} << (105 - 64);  // of Word::high

struct Place {
  std::string file, kernel;
  std::uint32_t address;
};
struct Order {
  bool operator()(const Word& a, const Word& b) const {
    return a.low != b.low ? a.low < b.low : a.high < b.high;
  }
};
struct Use {
  Place first;
  Word word;  // with the schedule, which the disassembler examines
  std::uint64_t count = 0;
};
using Words = std::map<Word, Use, Order>;  // of one architecture
struct Form {
  std::uint64_t count = 0, unknown = 0;
  std::string why;
};

class Survey {
 public:
  void add_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error(path + " cannot be read");
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    if (bytes.starts_with("\177ELF") && is_device_code(bytes))
      add_cubin(path, bytes);
    else
      add_program(path, bytes);
  }

  // Compares with NVIDIA's disassembler.
  void disassemble(const std::string& program) {
    for (const auto& [target, words] : words_) theirs_[target] = listing(program, target, words);
  }

  bool report(bool lists) {
    std::map<std::string, Form> forms;
    for (const auto& [target, words] : words_) compare(target, words, forms);
    std::uint64_t wrong = 0;
    for (const auto& [name, form] : forms) {
      wrong += form.unknown != 0;
      if (lists || form.unknown != 0)
        fmt::print("{:8} {:8} {}\n", form.count, form.unknown == 0 ? "known" : "unknown", name);
      if (form.unknown != 0) fmt::print("    {}\n", form.why);
    }
    for (const std::string& refusal : refusals_) fmt::print("refused: {}\n", refusal);
    fmt::print("{} kernels, {} refused; {} forms, {} unknown ({:.2f}% known)\n", kernels_,
               refusals_.size(), forms.size(), wrong,
               100.0 * static_cast<double>(forms.size() - wrong) /
                   static_cast<double>(std::max<std::size_t>(forms.size(), 1)));
    return kernels_ != 0 && wrong == 0 && refusals_.empty();
  }

 private:
  // The disassembler's texts, in the order of the words, which it gets as one kernel.
  static std::vector<std::string> listing(const std::string& program, int target,
                                          const Words& words) {
    const std::string path =
        fmt::format("{}/forms.{}.bin", std::filesystem::temp_directory_path().string(), getpid());
    {
      std::ofstream file(path, std::ios::binary);
      for (const auto& [word, use] : words) {
        file.write(reinterpret_cast<const char*>(&use.word), sizeof use.word);
      }
    }
    const std::string command = fmt::format("'{}' -b SM{} '{}'", program, target, path);
    const std::unique_ptr<FILE, int (*)(FILE*)> lines(popen(command.c_str(), "r"), &pclose);
    std::vector<std::string> texts;
    char line[4096];
    while (lines && std::fgets(line, sizeof line, lines.get()) != nullptr) {
      const std::string text(line);
      const std::size_t begin = text.find("/*"), end = text.find("*/"), stop = text.rfind(';');
      if (begin == text.npos || end == text.npos || stop == text.npos || stop < end) continue;
      const std::size_t first = text.find_first_not_of(' ', end + 2);
      texts.push_back(without_hints(text.substr(first, stop - first)));
    }
    std::filesystem::remove(path);
    if (texts.size() != words.size())
      throw std::runtime_error(
          fmt::format("{} lists {} of {} instructions", program, texts.size(), words.size()));
    return texts;
  }

  void compare(int target, const Words& words, std::map<std::string, Form>& forms) {
    const std::vector<std::string>& texts = theirs_[target];
    std::uint32_t address = 0;
    for (const auto& [word, use] : words) {
      const std::string* const theirs = texts.empty() ? nullptr : &texts[address / sizeof(Word)];
      std::string name = theirs != nullptr ? mnemonic(*theirs) : "", why;
      try {
        const std::string text = vgpu::sass::decode(word, address, target).text;
        if (name.empty()) name = mnemonic(text);
        if (theirs != nullptr && canonical(text) != canonical(*theirs))
          why = fmt::format("decoded as {}, not as {}", text, *theirs);
      } catch (const vgpu::sass::UnknownInstruction& unknown) {
        why = unknown.what();
        if (name.empty())
          name = fmt::format("opcode 0x{:03x}", word.low & 0xfff);
        else
          why += " is " + *theirs;
      }
      Form& form = forms[name];
      form.count += use.count;
      if (!why.empty()) {
        form.unknown += use.count;
        if (form.why.empty())
          form.why = fmt::format("{}\n    in {} of {}", why, use.first.kernel, use.first.file);
      }
      address += sizeof(Word);
    }
  }

  // Without cached registers and notes.
  static std::string without_hints(std::string text) {
    for (std::size_t at; (at = text.find(".reuse")) != text.npos;) text.erase(at, 6);
    for (std::size_t at; (at = text.find("(*")) != text.npos;) {
      const std::size_t end = text.find("*)", at);
      if (end == text.npos) break;
      text.erase(at, end + 2 - at);
    }
    while (text.ends_with(' ')) text.pop_back();
    return text;
  }
  static std::string mnemonic(const std::string& text) {
    std::size_t begin = text.find_first_not_of(' ');
    if (begin != text.npos && text[begin] == '@') begin = text.find(' ', begin);
    begin = begin == text.npos ? text.npos : text.find_first_not_of(' ', begin);
    if (begin == text.npos) return "";
    return text.substr(begin, text.find_first_of(" ;", begin) - begin);
  }

  static bool is_device_code(const std::string& elf) {
    constexpr std::size_t kMachine = 18;  // e_machine
    constexpr std::uint16_t kCuda = 190;
    std::uint16_t machine = 0;
    if (elf.size() >= kMachine + 2) std::memcpy(&machine, elf.data() + kMachine, 2);
    return machine == kCuda;
  }

  // The fat binaries in the program: magic number, version 1, a header of 16 bytes.
  void add_program(const std::string& path, const std::string& bytes) {
    constexpr std::string_view kHead("\x50\xed\x55\xba\x01\x00\x10\x00", 8);
    const auto all = std::as_bytes(std::span(bytes));
    for (std::size_t at = 0; (at = bytes.find(kHead, at)) != bytes.npos;) {
      const std::span<const std::byte> rest = all.subspan(at);
      if (rest.size() < vgpu::image::kFatBinaryHeader) break;
      const std::size_t size =
          vgpu::image::fat_binary_bytes(rest.first<vgpu::image::kFatBinaryHeader>());
      if (size > rest.size()) throw std::runtime_error(path + " has a damaged fat binary");
      for (const vgpu::image::Entry& entry : vgpu::image::read_entries(rest.first(size))) {
        if (entry.kind == vgpu::image::Kind::kCubin) add_cubin(path, vgpu::image::contents(entry));
      }
      at += size;
    }
  }

  void add_cubin(const std::string& path, const std::string& bytes) {
    const auto data = std::as_bytes(std::span(bytes));
    const vgpu::sass::Cubin cubin(data);
    for (const vgpu::sass::KernelInfo& kernel : cubin.kernels()) {
      for (std::size_t at = 0; at + sizeof(Word) <= kernel.code.size(); at += sizeof(Word)) {
        Word word;
        std::memcpy(&word, kernel.code.data() + at, sizeof word);
        Use& use = words_[cubin.target()][{word.low, word.high & ~kSchedule}];
        if (use.count++ == 0) use = {{path, kernel.name, static_cast<std::uint32_t>(at)}, word, 1};
      }
    }
    vgpu::Memory memory(std::size_t{1} << 28);
    const auto module = vgpu::Module::from_cubin(data, memory);
    for (const std::string& name : module->kernel_names()) {
      ++kernels_;
      const std::string& why = vgpu::refusal(*module->find_kernel(name));
      if (!why.empty()) refusals_.push_back(fmt::format("{} of {}: {}", name, path, why));
    }
  }

  std::map<int, Words> words_;                      // of each architecture
  std::map<int, std::vector<std::string>> theirs_;  // in the order of those
  std::vector<std::string> refusals_;
  std::uint64_t kernels_ = 0;
};

}  // namespace

int main(int count, char** arguments) try {
  Survey survey;
  std::string nvdisasm;
  bool lists = false;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument == "--list")
      lists = true;
    else if (argument == "--nvdisasm" && i + 1 < count)
      nvdisasm = arguments[++i];
    else
      survey.add_file(argument);
  }
  if (!nvdisasm.empty()) survey.disassemble(nvdisasm);
  return survey.report(lists) ? 0 : 1;
} catch (const std::exception& error) {
  fmt::print(stderr, "sass_forms: {}\n", error.what());
  return 2;
}
