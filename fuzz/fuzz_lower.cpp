// SPDX-License-Identifier: Apache-2.0
// Fuzzes the path from a module to executable programs: PTX and cubins that their readers accept
// are lowered, or refused with the feature's name. Randomly changed bytes seldom parse. Therefore
// PTX is also mutated by tokens, so that instructions keep their form and lose their meaning.
#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <new>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "memory/memory.hpp"

namespace {

void lower_all(const vgpu::Module& module) {
  for (const std::string& name : module.kernel_names()) {
    if (const vgpu::Kernel* const kernel = module.find_kernel(name); kernel != nullptr)
      vgpu::refusal(*kernel);
  }
}

struct Word {
  std::size_t begin = 0, end = 0;
};

// Names and numbers, with the characters that they may contain (%r1, .f32, 0x1F).
std::vector<Word> words_of(std::string_view text) {
  const auto belongs = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '%' || c == '$';
  };
  std::vector<Word> words;
  for (std::size_t i = 0; i < text.size();) {
    if (!belongs(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (i < text.size() && belongs(text[i])) ++i;
    words.push_back({begin, i});
  }
  return words;
}

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

// Replaces a token by another one; sometimes calls libFuzzer's byte mutation instead.
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(reinterpret_cast<const char*>(data), size);
  const bool is_binary = text.find('\0') != std::string::npos;
  if (is_binary || random() % 4 == 0) return LLVMFuzzerMutate(data, size, most);
  for (unsigned n = 1 + random() % 3; n > 0; --n) {
    const std::vector<Word> words = words_of(text);
    if (words.size() < 2) return LLVMFuzzerMutate(data, size, most);
    const Word to = words[random() % words.size()], from = words[random() % words.size()];
    const std::string word = text.substr(from.begin, from.end - from.begin);
    text.replace(to.begin, to.end - to.begin, word);
  }
  if (text.size() > most) return size;
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::size_t kDeviceBytes = std::size_t{1} << 24;
  vgpu::Memory memory(kDeviceBytes);
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  try {
    if (text.starts_with("\x7f"
                         "ELF")) {
      lower_all(*vgpu::Module::from_cubin(std::as_bytes(std::span(data, size)), memory));
    } else {
      lower_all(*vgpu::Module::from_ptx(text, memory));
    }
  } catch (const std::invalid_argument&) {  // invalid PTX
  } catch (const vgpu::Unsupported&) {
  } catch (const std::bad_alloc&) {  // variables exceed the device's memory
  }
  return 0;
}
