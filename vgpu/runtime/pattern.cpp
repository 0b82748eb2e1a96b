// SPDX-License-Identifier: Apache-2.0
#include "runtime/pattern.hpp"

#include <charconv>
#include <stdexcept>

namespace vgpu {
namespace {

using Step = Pattern::Step;
using Steps = Pattern::Steps;
using Kind = Step::Kind;
using Set = std::bitset<256>;

constexpr std::size_t kMostSteps = 20'000;
constexpr int kMostDepth = 100, kMostTimes = 1000;

struct Wrong : std::runtime_error {
  using std::runtime_error::runtime_error;
};

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kWord =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
constexpr std::string_view kBlank = " \t\n\r\f\v";

Set set_of(std::string_view characters) {
  Set set;
  for (const char ch : characters) set.set(static_cast<unsigned char>(ch));
  return set;
}

bool is_word(std::string_view text, std::size_t at) {
  return at < text.size() && kWord.find(text[at]) != kWord.npos;
}

int length(const Steps& steps) { return static_cast<int>(steps.size()); }

void append(Steps& steps, const Steps& more) {
  if (steps.size() + more.size() > kMostSteps) throw Wrong("too large");
  steps.insert(steps.end(), more.begin(), more.end());
}

Steps split(int first, int second) { return {{Kind::kSplit, first, second, {}}}; }
Steps jump(int to) { return {{Kind::kJump, to, to, {}}}; }

Steps either(const Steps& a, const Steps& b) {
  Steps steps = split(1, length(a) + 2);
  append(steps, a);
  append(steps, jump(length(b) + 1));
  append(steps, b);
  return steps;
}

Steps repeated(const Steps& one, int least, int most) {  // most < 0: unbounded
  Steps steps;
  for (int i = 0; i < least; ++i) append(steps, one);
  if (most < 0) {
    append(steps, split(1, length(one) + 2));
    append(steps, one);
    append(steps, jump(-length(one) - 1));
  }
  for (int i = least; i < most; ++i) {
    append(steps, split(1, length(one) + 1));
    append(steps, one);
  }
  return steps;
}

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  Steps all() {
    Steps steps = alternatives(0);
    if (at_ < text_.size()) throw Wrong("a ) without (");
    return steps;
  }

 private:
  bool more() const { return at_ < text_.size(); }
  bool take(char ch) {
    if (!more() || text_[at_] != ch) return false;
    ++at_;
    return true;
  }
  char next(const char* otherwise) {
    if (!more()) throw Wrong(otherwise);
    return text_[at_++];
  }

  Steps alternatives(int depth) {
    if (depth > kMostDepth) throw Wrong("groups are nested more than 100 deep");
    Steps steps = sequence(depth);
    while (take('|')) steps = either(steps, sequence(depth));
    return steps;
  }

  Steps sequence(int depth) {
    Steps steps;
    while (more() && text_[at_] != '|' && text_[at_] != ')') {
      const bool assertion = text_[at_] == '^' || text_[at_] == '$';
      Steps one = atom(depth);
      while (more() && std::string_view("*+?{").find(text_[at_]) != std::string_view::npos) {
        if (assertion) throw Wrong("nothing to repeat");
        one = quantified(one);
      }
      append(steps, one);
    }
    return steps;
  }

  Steps quantified(const Steps& one) {
    int least = 0, most = -1;
    const char ch = next("");
    if (ch == '+') least = 1;
    if (ch == '?') most = 1;
    if (ch == '{') {
      least = most = number();
      if (take(',')) most = more() && text_[at_] == '}' ? -1 : number();
      if (!take('}') || (most >= 0 && most < least))
        throw Wrong("{ is followed by N}, N,} or N,M} with N <= M");
    }
    take('?');  // a lazy quantifier does not change whether there is a match
    return repeated(one, least, most);
  }

  int number() {
    int value = 0;
    const auto [end, error] =
        std::from_chars(text_.data() + at_, text_.data() + text_.size(), value);
    if (error != std::errc() || value < 0 || value > kMostTimes)
      throw Wrong("{ is followed by numbers up to 1000");
    at_ = static_cast<std::size_t>(end - text_.data());
    return value;
  }

  Steps atom(int depth) {
    const char ch = next("");
    switch (ch) {
      case '(': {
        if (take('?') && !take(':')) throw Wrong("(? is followed by : only; there is no lookahead");
        Steps group = alternatives(depth + 1);
        if (!take(')')) throw Wrong("a ( without )");
        return group;
      }
      case '^': return {{Kind::kBegin, 1, 1, {}}};
      case '$': return {{Kind::kEnd, 1, 1, {}}};
      case '*':
      case '+':
      case '?':
      case '{': throw Wrong("nothing to repeat");
      case '.': return {{Kind::kSet, 1, 1, ~set_of("\n\r")}};
      case '[': return {{Kind::kSet, 1, 1, bracket()}};
      case '\\':
        if (take('b')) return {{Kind::kBoundary, 1, 1, {}}};
        if (take('B')) return {{Kind::kNoBoundary, 1, 1, {}}};
        return {{Kind::kSet, 1, 1, escaped()}};
      default: return {{Kind::kSet, 1, 1, set_of({&ch, 1})}};
    }
  }

  // Parses the character after a backslash.
  Set escaped() {
    const char ch = next("a \\ at the end");
    constexpr std::string_view kNames = "tnrfv0", kMeant("\t\n\r\f\v\0", 6);
    switch (ch) {
      case 'd': return set_of(kDigits);
      case 'D': return ~set_of(kDigits);
      case 'w': return set_of(kWord);
      case 'W': return ~set_of(kWord);
      case 's': return set_of(kBlank);
      case 'S': return ~set_of(kBlank);
      default: break;
    }
    if (const auto known = kNames.find(ch); known != kNames.npos)
      return set_of(kMeant.substr(known, 1));
    if (kWord.find(ch) != kWord.npos) throw Wrong(std::string("\\") + ch + " is not known");
    return set_of({&ch, 1});
  }

  // Parses a set after its [.
  Set bracket() {
    const bool negated = take('^');
    Set set;
    while (!take(']')) {
      const Set low = member();
      if (!more() || text_[at_] != '-' || text_.substr(at_).starts_with("-]") || low.count() != 1) {
        set |= low;
        continue;
      }
      ++at_;
      const Set high = member();
      std::size_t from = 0, to = 0;
      while (!low[from]) ++from;
      while (to < high.size() && !high[to]) ++to;
      if (high.count() != 1 || to < from) throw Wrong("a range in [] ends before it begins");
      for (std::size_t i = from; i <= to; ++i) set.set(i);
    }
    return negated ? ~set : set;
  }

  Set member() {
    const char ch = next("a [ without ]");
    if (ch == '[' && more() && (text_[at_] == ':' || text_[at_] == '.' || text_[at_] == '='))
      throw Wrong("[: :] is not known within []");
    if (ch == '\\') return take('b') ? set_of("\b") : escaped();
    return set_of({&ch, 1});
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

// The set of active steps in a simulation of the nondeterministic automaton.
class States {
 public:
  explicit States(const Steps& steps) : steps_(steps), seen_(steps.size() + 1, 0) {}

  // Follows all steps from `from` that consume no character at position `at`. Adds the steps that
  // consume one to `waiting`. Returns true if the end of the pattern is reached.
  bool add(std::size_t from, std::string_view text, std::size_t at,
           std::vector<std::size_t>& waiting) {
    bool matched = false;
    stack_.assign(1, from);
    while (!stack_.empty()) {
      const std::size_t here = stack_.back();
      stack_.pop_back();
      if (seen_[here] == at + 1) continue;
      seen_[here] = at + 1;
      if (here == steps_.size()) {
        matched = true;
        continue;
      }
      const Step& step = steps_[here];
      if (step.kind == Kind::kSet) {
        waiting.push_back(here);
      } else if (passes(step.kind, text, at)) {
        stack_.push_back(here + static_cast<std::size_t>(step.first));
        if (step.kind == Kind::kSplit)
          stack_.push_back(here + static_cast<std::size_t>(step.second));
      }
    }
    return matched;
  }

 private:
  static bool passes(Kind kind, std::string_view text, std::size_t at) {
    const bool boundary = (at > 0 && is_word(text, at - 1)) != is_word(text, at);
    switch (kind) {
      case Kind::kBegin: return at == 0;
      case Kind::kEnd: return at == text.size();
      case Kind::kBoundary: return boundary;
      case Kind::kNoBoundary: return !boundary;
      default: return true;
    }
  }

  const Steps& steps_;
  std::vector<std::size_t> seen_, stack_;  // seen_: position + 1 at which a step was last followed
};

}  // namespace

std::string Pattern::parse(std::string_view text) {
  try {
    steps_ = Parser(text).all();
    return "";
  } catch (const Wrong& wrong) {
    return wrong.what();
  }
}

bool Pattern::found_in(std::string_view text) const {
  States states(steps_);
  std::vector<std::size_t> waiting, next;
  for (std::size_t at = 0;; ++at) {
    if (states.add(0, text, at, waiting)) return true;  // a match may begin at any position
    if (at == text.size()) return false;
    next.clear();
    for (const std::size_t here : waiting) {
      if (steps_[here].set[static_cast<unsigned char>(text[at])] &&
          states.add(here + 1, text, at + 1, next))
        return true;
    }
    std::swap(waiting, next);
  }
}

}  // namespace vgpu
