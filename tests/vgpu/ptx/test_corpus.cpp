// SPDX-License-Identifier: Apache-2.0
// All compiler output: the syntax tree, compared with a second, much simpler reading of the same
// text.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "corpus.hpp"
#include "ptx/parse/ast.hpp"

namespace vgpu::ptx {
namespace {

struct Statement {
  std::string text;
  int line = 0;
  unsigned file = 0, source_line = 0;  // of the last .loc in this body
};

std::string without_comments(std::string text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.compare(at, 2, "//") == 0) {
      for (; at < text.size() && text[at] != '\n'; ++at) text[at] = ' ';
    } else if (text.compare(at, 2, "/*") == 0) {
      const std::size_t end = text.find("*/", at) + 2;
      for (; at < end; ++at) text[at] = text[at] == '\n' ? '\n' : ' ';
    }
  }
  return text;
}

bool is_blank(char c) { return std::strchr(" \t\n", c) != nullptr; }
bool is_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_$%", c) != nullptr;
}

// All instructions of all bodies, in order: texts that end in a semicolon and do not begin with a
// dot, after braces and labels. A body opens with a brace alone in column 0.
std::vector<Statement> scan(const std::string& original) {
  const std::string text = without_comments(original);
  std::vector<Statement> result;
  int line = 1, depth = 0;
  unsigned file = 0, source_line = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') ++line;
    if (depth == 0) {
      if (text[at] == '{' && (at == 0 || text[at - 1] == '\n')) {
        depth = 1;
        file = source_line = 0;
      }
      ++at;
    } else if (is_blank(text[at])) {
      ++at;
    } else if (text[at] == '{' || text[at] == '}') {
      depth += text[at++] == '{' ? 1 : -1;
    } else if (text.compare(at, 4, ".loc") == 0 && is_blank(text[at + 4])) {
      std::sscanf(text.c_str() + at, ".loc %u %u", &file, &source_line);
      at = text.find('\n', at);
    } else {
      std::size_t label = at;
      while (is_name(text[label])) ++label;
      while (text[label] == ' ') ++label;
      if (text[label] == ':') {
        at = label + 1;
        continue;
      }
      const std::size_t end = text.find(';', at);
      std::string statement = original.substr(at, end - at);
      const int first_line = line;
      line += static_cast<int>(std::ranges::count(statement, '\n'));
      at = end + 1;
      if (statement.front() == '.') continue;
      while (is_blank(statement.back())) statement.pop_back();
      result.push_back({statement, first_line, file, source_line});
    }
  }
  return result;
}

// Throws std::out_of_range where there is none.
template <class T>
const T& named(const std::vector<T>& list, std::string_view name) {
  const auto found = std::ranges::find(list, name, &T::name);
  return list.at(static_cast<std::size_t>(found - list.begin()));
}

class Corpus : public testing::TestWithParam<std::size_t> {
 protected:
  const CorpusFile& file() const { return corpus()[GetParam()]; }
};

TEST_P(Corpus, EveryInstructionIsThereAtItsLine) {
  const Module module = parse(file().text);
  const std::vector<Statement> expected = scan(file().text);
  // Functions may be in another order than their bodies: sorts the bodies by their place in the
  // text.
  std::vector<const Instruction*> found;
  for (const Function& function : module.functions) {
    for (const Instruction& i : function.body) found.push_back(&i);
  }
  std::ranges::stable_sort(found, [](auto* a, auto* b) { return a->line < b->line; });
  ASSERT_EQ(found.size(), expected.size());
  EXPECT_GT(found.size(), 20u);
  for (std::size_t i = 0; i < found.size(); ++i) {
    ASSERT_EQ(found[i]->text, expected[i].text) << "line " << expected[i].line;
    ASSERT_EQ(found[i]->line, expected[i].line);
    const std::uint32_t at = found[i]->location;
    ASSERT_EQ(at == kNone ? 0 : module.locations[at].file, expected[i].file)
        << "line " << expected[i].line;
    ASSERT_EQ(at == kNone ? 0 : module.locations[at].line, expected[i].source_line)
        << "line " << expected[i].line;
  }
}

// Every name of an operand is resolved to its declaration.
void check_operand(const Module& module, const Function& function, const Operand& operand,
                   std::map<std::uint32_t, std::string_view>& registers) {
  using Kind = Operand::Kind;
  switch (operand.kind) {
    case Kind::kRegister:
      ASSERT_LT(operand.reg, function.register_types.size());
      EXPECT_EQ(registers.try_emplace(operand.reg, operand.name).first->second, operand.name);
      break;
    case Kind::kSpecial: {
      static const std::set<std::string_view> kKnown = {
          "%tid.x",       "%tid.y",       "%tid.z",       "%ntid.x",      "%ntid.y",
          "%ntid.z",      "%ctaid.x",     "%ctaid.y",     "%ctaid.z",     "%nctaid.x",
          "%nctaid.y",    "%nctaid.z",    "%laneid",      "%clock",       "%clock64",
          "%envreg1",     "%envreg2",     "%globaltimer", "%lanemask_lt", "%cluster_ctarank",
          "%lanemask_eq", "%lanemask_gt", "%lanemask_le", "%lanemask_ge"};
      EXPECT_TRUE(kKnown.count(operand.name)) << operand.name;
      break;
    }
    case Kind::kSymbol: {
      std::string_view name;
      switch (operand.symbol.kind) {
        case Symbol::Kind::kParam: name = function.params.at(operand.symbol.index).name; break;
        case Symbol::Kind::kReturn: name = function.returns.at(operand.symbol.index).name; break;
        case Symbol::Kind::kBody: name = function.variables.at(operand.symbol.index).name; break;
        case Symbol::Kind::kModule: name = module.variables.at(operand.symbol.index).name; break;
        case Symbol::Kind::kFunction: name = module.functions.at(operand.symbol.index).name; break;
        case Symbol::Kind::kUnresolved: FAIL() << operand.name;
      }
      EXPECT_EQ(name, operand.name);
      break;
    }
    case Kind::kLabel: EXPECT_LE(operand.target, function.body.size()) << operand.name; break;
    case Kind::kBranchTable:
      EXPECT_EQ(function.branch_tables.at(operand.target).name, operand.name);
      break;
    case Kind::kPair: EXPECT_EQ(operand.elements.size(), 2u); break;
    case Kind::kAddress: EXPECT_GE(operand.elements.size(), 1u); break;
    default: break;
  }
  for (const Operand& element : operand.elements)
    check_operand(module, function, element, registers);
}

TEST_P(Corpus, EveryOperandIsResolved) {
  const Module module = parse(file().text);
  std::map<std::uint32_t, const Opcode*> opcodes;  // by id
  for (const Function& function : module.functions) {
    std::map<std::uint32_t, std::string_view> registers;  // names, by number
    for (const Instruction& instruction : function.body) {
      SCOPED_TRACE(std::string(instruction.text));
      const Opcode*& opcode = opcodes[instruction.opcode->id];
      if (opcode == nullptr) opcode = instruction.opcode;
      ASSERT_EQ(opcode, instruction.opcode);
      std::string joined;
      for (std::string_view part : instruction.opcode->parts)
        joined += (joined.empty() ? "" : ".") + std::string(part);
      EXPECT_EQ(joined, instruction.opcode->text);
      EXPECT_NE(instruction.text.find(joined), std::string_view::npos);
      if (instruction.guard != kNone) {
        EXPECT_EQ(function.register_types.at(instruction.guard), Type::kPred);
        EXPECT_EQ(instruction.text.rfind(instruction.guard_negated ? "@!" : "@", 0), 0u);
      }
      for (const Operand& operand : instruction.operands)
        check_operand(module, function, operand, registers);
    }
    for (const BranchTable& table : function.branch_tables) {
      for (std::uint32_t target : table.targets) EXPECT_LT(target, function.body.size());
    }
  }
}

TEST_P(Corpus, EveryFunctionIsThere) {
  const Module module = parse(file().text);
  const std::string text = without_comments(file().text);
  std::size_t entries = 0;
  for (std::size_t at = text.find(".entry "); at != std::string::npos;
       at = text.find(".entry ", at + 1)) {
    const std::string name = text.substr(at + 7, text.find('(', at) - at - 7);
    const Function& function = named(module.functions, name);
    EXPECT_TRUE(function.is_entry) << name;
    EXPECT_FALSE(function.is_declaration);
    EXPECT_FALSE(function.body.empty());
    ++entries;
  }
  std::size_t found = 0;
  for (const Function& function : module.functions) found += function.is_entry;
  EXPECT_EQ(found, entries);
  EXPECT_GT(entries, 0u);
}

TEST_P(Corpus, LocationsAreWellFormed) {
  const Module module = parse(file().text);
  EXPECT_FALSE(module.locations.empty());
  for (const Location& location : module.locations)
    EXPECT_FALSE(module.file_name(location.file).empty()) << location.file;
}

INSTANTIATE_TEST_SUITE_P(All, Corpus, testing::Range<std::size_t>(0, corpus().size()),
                         [](const auto& place) {
                           std::string name = corpus()[place.param].name;
                           std::replace_if(
                               name.begin(), name.end(),
                               [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); },
                               '_');
                           return name;
                         });

TEST(CorpusFiles, AreAllThere) { EXPECT_EQ(corpus().size(), 11u); }

TEST(CorpusFiles, VariablesHaveTheirInitialisers) {
  const Module module = parse(corpus_text("ptx_corpus/variables"));
  const Variable& answer = named(module.variables, "answer");
  EXPECT_EQ(answer.initial, (std::vector<std::uint8_t>{42, 0, 0, 0}));
  const Variable& words = named(module.variables, "words");
  ASSERT_EQ(words.relocations.size(), 2u);
  EXPECT_EQ(words.relocations[1].offset, 8u);
  EXPECT_TRUE(words.relocations[1].is_generic);
  EXPECT_EQ(words.relocations[1].symbol.kind, Symbol::Kind::kModule);
  const Variable& text = module.variables.at(words.relocations[1].symbol.index);
  EXPECT_EQ(text.initial, (std::vector<std::uint8_t>{'c', '\n'}));
  EXPECT_EQ(text.size, 3u);  // the terminating zero
  const Variable& weights = named(module.variables, "weights");
  EXPECT_EQ(weights.space, Space::kConst);
  ASSERT_EQ(weights.initial.size(), 6 * sizeof(double));
  double last = 0;
  std::memcpy(&last, weights.initial.data() + 5 * sizeof last, sizeof last);
  EXPECT_EQ(last, 6.0);
  const Variable& record = named(module.variables, "record");
  ASSERT_EQ(record.relocations.size(), 1u);
  EXPECT_EQ(record.relocations[0].name, "floats");
  EXPECT_EQ(record.relocations[0].addend, 12);
  EXPECT_EQ(record.relocations[0].offset, 8u);
  const Variable& table = named(module.variables, "table");
  ASSERT_EQ(table.relocations.size(), 1u);
  EXPECT_EQ(table.relocations[0].symbol.kind, Symbol::Kind::kFunction);
  EXPECT_FALSE(table.relocations[0].is_generic);
  const Variable& dynamic = named(module.variables, "dynamic");
  EXPECT_EQ(dynamic.linkage, Linkage::kExtern);
  EXPECT_EQ(dynamic.space, Space::kShared);
  EXPECT_EQ(dynamic.size, 0u);
  const Variable& big = named(module.variables, "big");
  EXPECT_EQ(big.size, std::uint64_t{8} << 20);
  EXPECT_TRUE(big.initial.empty());
}

TEST(CorpusFiles, JumpTablesReachTheirCases) {
  const Module module = parse(corpus_text("ptx_corpus_tables/control"));
  const Function& choose = named(module.functions, "_Z6chooseii");
  ASSERT_EQ(choose.branch_tables.size(), 1u);
  EXPECT_EQ(choose.branch_tables[0].targets.size(), 11u);
  const auto jump = std::ranges::find_if(
      choose.body, [](const Instruction& i) { return i.opcode->base() == "brx"; });
  ASSERT_NE(jump, choose.body.end());
  EXPECT_EQ(jump->operands[1].kind, Operand::Kind::kBranchTable);
}

TEST(CorpusFiles, HopperKernelHasItsDirectives) {
  const Module module = parse(corpus_text("ptx_corpus_hopper/hopper"));
  EXPECT_EQ(module.target, 90);
  const auto kernel = std::ranges::find_if(module.functions, [](auto& f) { return f.is_entry; });
  ASSERT_NE(kernel, module.functions.end());
  EXPECT_EQ(kernel->required_cluster, (std::array<std::uint32_t, 3>{2, 1, 1}));
  EXPECT_EQ(kernel->max_threads, (std::array<std::uint32_t, 3>{384, 1, 1}));
  EXPECT_EQ(kernel->params[0].size, 128u);
  EXPECT_EQ(kernel->params[0].alignment, 128u);
  EXPECT_EQ(kernel->params[1].offset, 128u);
  EXPECT_EQ(kernel->param_bytes, 264u);
  const auto copy = std::ranges::find_if(
      kernel->body, [](const Instruction& i) { return i.opcode->has("multicast::cluster"); });
  ASSERT_NE(copy, kernel->body.end());
  ASSERT_EQ(copy->operands.size(), 4u);
  ASSERT_EQ(copy->operands[1].kind, Operand::Kind::kAddress);
  ASSERT_EQ(copy->operands[1].elements.size(), 2u);
  EXPECT_EQ(copy->operands[1].elements[1].kind, Operand::Kind::kVector);
  EXPECT_EQ(copy->operands[1].elements[1].elements.size(), 3u);
}

}  // namespace
}  // namespace vgpu::ptx
