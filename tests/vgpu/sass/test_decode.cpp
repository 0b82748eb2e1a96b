// SPDX-License-Identifier: Apache-2.0
// The decoder, compared with NVIDIA's disassembler: every line of a corpus must decode to the same
// text, or be one of the instructions that are refused by name. Bits without a known meaning must
// be refused. The table of architectures in docs/virtual-gpu/execution.md is made
// here.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "canonical.hpp"
#include "corpus.hpp"
#include "sass/decode/decode.hpp"

namespace {

using vgpu::sass::Instruction;
using vgpu::sass::UnknownInstruction;
using vgpu::sass::Word;

std::string base_of(const std::string& text) {
  const std::size_t begin = text.starts_with('@') ? text.find(' ') + 1 : 0;
  return text.substr(begin, text.find_first_of(" .", begin) - begin);
}

TEST(SassDecode, Corpus) {
  // Kernels with these run from PTX.
  const std::set<std::string> refused = {"RPCMOV"};
  const char* const forms[] = {"SYNCS.ARRIVE.TRANS64.TMASK", "BRA.U UP", "BRA.U !UP"};
  std::size_t decoded = 0;
  for (const Line& line : corpus()) {
    try {
      const Instruction instruction = vgpu::sass::decode(line.word, line.address, 90);
      EXPECT_EQ(canonical(instruction.text), canonical(line.text)) << line.text;
      EXPECT_EQ(instruction.address, line.address);
      ++decoded;
    } catch (const UnknownInstruction& unknown) {
      const bool expected =
          refused.contains(base_of(line.text)) ||
          std::ranges::any_of(forms, [&](const char* form) { return line.text.starts_with(form); });
      EXPECT_TRUE(expected) << line.text << "\n" << unknown.what();
    }
  }
  EXPECT_GT(decoded, 1000u);
}

// What is refused of the corpus of other architectures: kernels with these run from PTX.
std::set<std::string> refused(int architecture) {
  std::set<std::string> forms = {"TXQ"};  // of textures
  if (architecture == 75) return {"TXQ"};
  if (architecture < 90) {
    forms.merge(std::set<std::string>{"ARRIVES", "ATOMS.ARRIVE"});
    return forms;
  }
  forms = {"TXQ",        "CS2R.32",       "ARRIVES", "SYNCS.ARRIVE", "SYNCS.PHASECHK",
           "ATOMS.CAST", "R2UR.BROADCAST"};
  if (architecture == 100) {
    forms.insert("CREDUX");
  } else {
    forms.merge(std::set<std::string>{"BRXU", "CS2UR", "IMNMX", "UIMNMX", "UFFMA", "UFMUL", "UFSEL",
                                      "UI2F", "VIADD.S32.ISAT", "VIADD.S8x4", "VIADD.U8x4",
                                      "VIMNMX.S8x4", "VIMNMX.U8x4"});
  }
  return forms;
}

std::string mnemonic_of(const std::string& text) {
  const std::size_t begin = text.starts_with('@') ? text.find(' ') + 1 : 0;
  return text.substr(begin, text.find(' ', begin) - begin);
}

TEST(SassDecode, CorporaOfOtherArchitectures) {
  for (const int architecture : vgpu::sass::kArchitectures) {
    if (architecture == 90) continue;
    const std::set<std::string> refusals = refused(architecture);
    std::set<std::string> met;
    std::size_t decoded = 0;
    for (const Line& line : corpus(architecture)) {
      const std::string mnemonic = mnemonic_of(line.text);
      const auto refusal = std::ranges::find_if(refusals, [&](const std::string& form) {
        return mnemonic == form || mnemonic.starts_with(form + ".");
      });
      try {
        const Instruction instruction = vgpu::sass::decode(line.word, line.address, architecture);
        EXPECT_EQ(canonical(instruction.text), canonical(line.text)) << "sm_" << architecture;
        ++decoded;
      } catch (const UnknownInstruction& unknown) {
        EXPECT_NE(refusal, refusals.end()) << line.text << "\n" << unknown.what();
        if (refusal != refusals.end()) met.insert(*refusal);
      }
    }
    EXPECT_GT(decoded, 800u) << "sm_" << architecture;
    EXPECT_EQ(met, refusals) << "sm_" << architecture;
  }
}

// One row per architecture: mnemonics with their modifiers in its corpus, and of how many every
// line is decoded.
std::string table() {
  std::string text =
      "| machine code | forms in the corpus | known | others |\n|---|---:|---:|---|\n";
  for (const int architecture : vgpu::sass::kArchitectures) {
    if (architecture == 90) continue;  // vgpu --list-instructions
    std::map<std::string, bool> forms;
    std::set<std::string> unknown;
    for (const Line& line : corpus(architecture)) {
      const std::string mnemonic = mnemonic_of(line.text);
      bool& known = forms.try_emplace(mnemonic, true).first->second;
      try {
        vgpu::sass::decode(line.word, line.address, architecture);
      } catch (const UnknownInstruction&) {
        known = false;
        unknown.insert(base_of(line.text));
      }
    }
    const auto known = std::ranges::count_if(forms, [](auto& f) { return f.second; });
    std::string names;
    for (const std::string& name : unknown) names += (names.empty() ? "`" : ", `") + name + "`";
    text += "| sm_" + std::to_string(architecture) + " | " + std::to_string(forms.size()) + " | " +
            std::to_string(known) + " | " + names + " |\n";
  }
  return text;
}

TEST(SassDecode, TableOfTheDocumentation) {
  std::ifstream file(VGPU_DOCUMENTATION);
  std::ostringstream page;
  page << file.rdbuf();
  EXPECT_NE(page.str().find(table()), std::string::npos)
      << "docs/virtual-gpu/execution.md should have\n"
      << table();
}

TEST(SassDecode, RefusalsNameTheInstruction) {
  const Word sparse{0x00200000041879f0, 0x000fe2000c001aff};
  try {
    vgpu::sass::decode(sparse, 0x160, 90);
    FAIL();
  } catch (const UnknownInstruction& unknown) {
    const std::string what = unknown.what();
    for (const char* part :
         {"0x160", "HGMMA", "0x9f0", "0x00200000041879f0", "0x000fe2000c001aff"}) {
      EXPECT_NE(what.find(part), what.npos) << what;
    }
  }
}

// What another architecture has is unknown, also where the bits mean something there.
TEST(SassDecode, OtherArchitecturesInstructionsAreRefused) {
  const Word minimum{0xb960000008087817, 0x000fc80007800200},  // IMNMX R8, R8, 0xb9600000, !PT
      wide{0x0000000402027c35, 0x000fc6000f8e0200};            // IADD.64 R2, R2, UR4
  EXPECT_EQ(vgpu::sass::decode(minimum, 0, 80).text, "IMNMX R8, R8, 0xb9600000, !PT");
  EXPECT_THROW(vgpu::sass::decode(minimum, 0, 90), UnknownInstruction);
  EXPECT_EQ(vgpu::sass::decode(wide, 0, 120).text, "IADD.64 R2, R2, UR4");
  EXPECT_THROW(vgpu::sass::decode(wide, 0, 75), UnknownInstruction);
  EXPECT_THROW(vgpu::sass::decode(wide, 0, 87), UnknownInstruction);
  EXPECT_FALSE(vgpu::sass::is_known_architecture(87));
}

// A modifier that the decoder does not read must not pass: FFMA with each of its unused bits set.
TEST(SassDecode, BitsWithoutMeaningAreRefused) {
  const Word ffma{0x0000001013107223, 0x008fc80000000012};
  EXPECT_EQ(vgpu::sass::decode(ffma, 0, 90).text, "FFMA R16, R19, R16, R18");
  for (const unsigned bit : {40u, 55u, 61u, 76u, 81u, 90u, 104u}) {
    Word changed = ffma;
    (bit < 64 ? changed.low : changed.high) |= std::uint64_t{1} << bit % 64;
    EXPECT_THROW(vgpu::sass::decode(changed, 0, 90), UnknownInstruction) << bit;
  }
}

// Random bits: an instruction or a refusal.
TEST(SassDecode, AnyBits) {
  std::uint64_t state = 1;
  const auto next = [&] {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  };
  const std::vector<Line> lines = corpus();
  for (int i = 0; i < 200000; ++i) {
    Word word = lines[next() % lines.size()].word;
    for (std::uint64_t flips = next() % 4; flips-- > 0;) {
      const unsigned bit = static_cast<unsigned>(next() % 128);
      (bit < 64 ? word.low : word.high) ^= std::uint64_t{1} << bit % 64;
    }
    if (i % 8 == 0) word = {next(), next()};
    const int architecture =
        vgpu::sass::kArchitectures[next() % std::size(vgpu::sass::kArchitectures)];
    try {
      EXPECT_FALSE(vgpu::sass::decode(word, 0, architecture).text.empty());
    } catch (const UnknownInstruction&) {
    }
  }
}

}  // namespace
