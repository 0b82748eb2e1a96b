// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "app/conclusion.hpp"
#include "runtime/printable.hpp"

namespace vgpu::app {
namespace {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr const char *kGrewRule = "vgpu/counters-grew", *kEndedRule = "vgpu/exit-status";

// Replaces bytes that are not UTF-8.
std::string utf8(const std::string& text) {
  return Json::parse(Json(text).dump(-1, ' ', false, Json::error_handler_t::replace))
      .get<std::string>();
}

// Relative to the root if it lies there.
std::string shown_path(const Outcome& outcome, const std::string& file) {
  const fs::path path = (fs::path(outcome.root) / file).lexically_normal();
  const fs::path relative = path.lexically_relative(outcome.root);
  return relative.empty() || *relative.begin() == ".." ? path.string() : relative.string();
}

// Replaces each character for which is_special(c) by its code, as "%2F".
template <class IsSpecial>
std::string percent_encoded(const std::string& text, IsSpecial is_special) {
  std::string encoded;
  for (const char c : text)
    encoded +=
        is_special(c) ? fmt::format("%{:02X}", static_cast<unsigned char>(c)) : std::string(1, c);
  return encoded;
}
auto any_of(std::string_view set) {
  return [set](char c) { return set.find(c) != set.npos; };
}

std::string uri(const std::string& path) {
  const std::string text = percent_encoded(path, [](char c) {
    const bool alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return !alphanumeric && !any_of("-._~/+")(c);
  });
  return path.starts_with('/') ? "file://" + text : text;
}

std::string command_of(const Outcome& outcome) {
  return fmt::format("{}", fmt::join(outcome.command, " "));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string message_of(const Change& change) {
  return fmt::format("{} (launch {}): {}: {} in the baseline, now {}{}", change.kernel,
                     change.ordinal, change.what, change.former, change.now,
                     change.growth.empty() ? "" : " (" + change.growth + ")");
}

// XML 1.0 has no control characters but tab and newline.
std::string xml(const std::string& text) {
  std::string escaped;
  for (const char c : utf8(printable(text))) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

// In an attribute a line end would become a blank.
std::string attribute(const std::string& text) {
  std::string escaped;
  for (const char c : xml(text)) escaped += c == '\n' ? "&#10;" : std::string(1, c);
  return escaped;
}

// One test case and its failures; none is a success.
class TestCase {
 public:
  TestCase(const Outcome& outcome, const std::string& name)
      : head_(fmt::format("    <testcase classname=\"vgpu.{}\" name=\"{}\"",
                          attribute(fs::path(outcome.command.front()).filename().string()),
                          attribute(name))) {}

  void fail(std::string_view type, const std::string& message, const std::string& text) {
    failures_ += fmt::format("      <failure type=\"{}\" message=\"{}\">{}</failure>\n", type,
                             attribute(message), xml(text));
  }
  bool failed() const { return !failures_.empty(); }
  std::string text() const {
    return failed() ? fmt::format("{}>\n{}    </testcase>\n", head_, failures_) : head_ + "/>\n";
  }

 private:
  std::string head_, failures_;
};

std::vector<TestCase> cases_of(const Outcome& outcome) {
  std::vector<TestCase> cases;
  TestCase& end = cases.emplace_back(outcome, "exit status");
  if (outcome.status != 0)
    end.fail(kEndedRule, fmt::format("exit status {}", outcome.status), command_of(outcome));
  for (const std::string& error : outcome.errors) end.fail("vgpu/file", error, error);
  TestCase& checks = cases.emplace_back(
      outcome, fmt::format("checks: {}", outcome.checks.empty()
                                             ? "bounds, alignment, deadlocks"
                                             : fmt::format("{}", fmt::join(outcome.checks, ", "))));
  for (const Finding& finding : outcome.findings)
    checks.fail(rule_of(finding.rule).id, first_line(finding.message), finding.message);
  if (outcome.compared) {
    TestCase& counters = cases.emplace_back(outcome, "counters of the baseline");
    for (const Change& change : outcome.comparison.changes)
      counters.fail(kGrewRule, message_of(change), message_of(change));
  }
  return cases;
}

Json rule_json(std::string_view id, std::string_view title, std::string_view help) {
  return {{"id", id},
          {"shortDescription", {{"text", std::string(title) + "."}}},
          {"help", {{"text", help}}},
          {"defaultConfiguration", {{"level", "error"}}}};
}

Json location_json(const Outcome& outcome, const std::string& file, int line) {
  const std::string path = shown_path(outcome, file);
  Json physical = {{"artifactLocation", {{"uri", uri(path)}}}};
  if (!path.starts_with('/')) physical["artifactLocation"]["uriBaseId"] = "SRCROOT";
  if (line > 0) physical["region"] = {{"startLine", line}};
  return {{"physicalLocation", std::move(physical)}};
}

Json result_json(std::size_t rule, const Json& rules, const std::string& message, Json location,
                 const std::string& kernel) {
  if (!kernel.empty())
    location["logicalLocations"] = {{{"fullyQualifiedName", kernel}, {"kind", "function"}}};
  return {{"ruleId", rules.at(rule).at("id")},
          {"ruleIndex", rule},
          {"level", "error"},
          {"message", {{"text", printable(message)}}},
          {"locations", Json::array({std::move(location)})}};
}

// An annotation's property (file, title) and its message, with the special characters of each.
std::string property(const std::string& text) { return percent_encoded(text, any_of("%\r\n:,")); }
std::string data(const std::string& text) {
  return percent_encoded(printable(text), any_of("%\r\n"));
}

constexpr std::array kRules = {
    Rule{"out of bounds", "vgpu/out-of-bounds", "An access leaves every live allocation",
         "Compare the index with the size of the allocation that the report names. Guard the last, "
         "partly filled block."},
    Rule{"use after free", "vgpu/use-after-free", "An access to memory that was freed",
         "Free the memory after the last kernel or copy that uses it."},
    Rule{"misaligned address", "vgpu/misaligned-address",
         "An address is no multiple of the access's size",
         "Align the pointer and every row's length to the width of vector loads, or load scalars."},
    Rule{"barrier divergence", "vgpu/barrier-divergence",
         "Threads wait at a barrier that others cannot reach",
         "Have all threads of the block, or of the barrier's group, reach the same barrier."},
    Rule{"deadlock", "vgpu/deadlock", "All threads wait and nothing can release them",
         "See in the report which warp waits for what, and which arrival or byte is missing."},
    Rule{"timeout", "vgpu/timeout", "A kernel runs longer than --timeout allows",
         "See in the report where its warps are. Look for a loop that does not end, or allow more "
         "seconds."},
    Rule{"assertion", "vgpu/assertion", "An assert() in a kernel failed",
         "The report has the condition and the thread."},
    Rule{"trap", "vgpu/trap", "A kernel executed a trap",
         "Look for __trap(), an unreachable branch or a call through a bad function pointer."},
    Rule{"stack overflow", "vgpu/stack-overflow", "Calls are nested too deeply",
         "Bound the recursion, or raise cudaLimitStackSize."},
    Rule{"race", "vgpu/race", "Two accesses to one word are not ordered, and one writes",
         "Put a barrier, a fence with an atomic, or a wait for the copy between the two accesses "
         "that the report names. Blocks have no order: use atomics, or another kernel."},
    Rule{"uninitialized read", "vgpu/uninitialized-read", "A value that was never written is used",
         "Write the memory first (cudaMemset, a store by every thread), or do not read beyond what "
         "was written."},
    Rule{"mbarrier", "vgpu/mbarrier", "An mbarrier is used against its rules",
         "Initialise it once, with the number of arrivals of a phase; order the initialisation "
         "before its use; expect the bytes that are copied."},
    Rule{"bad operand", "vgpu/bad-operand", "An instruction does not permit its operand",
         "The report names the instruction and the values that it takes."},
    Rule{"illegal instruction", "vgpu/illegal-instruction",
         "A copy by tensor map has coordinates or a type that its instruction does not permit",
         "The report names the rule. Align the first coordinate; begin within the box of im2col "
         "mode's corners; reduce in a type that has the operation."},
    Rule{"setmaxnreg", "vgpu/setmaxnreg", "The warps of a warpgroup disagree on their registers",
         "Have all four warps execute the same setmaxnreg, and the sum of all registers fit."},
    Rule{"shared memory of a block that has ended", "vgpu/cluster-exit",
         "A block of the cluster uses the shared memory of one that has ended",
         "Synchronise the cluster before a block ends."},
    Rule{"invalid free", "vgpu/invalid-free", "Memory is freed that is not allocated",
         "Free each allocation once, by the function that belongs to the one that allocated it."},
    Rule{"bad host pointer", "vgpu/bad-host-pointer",
         "A copy uses host memory that the program cannot access",
         "Compare the copy's size with that of the host's buffer."},
    Rule{"launch error", "vgpu/launch-error",
         "A launch failed, and the program did not ask for the error",
         "Call cudaGetLastError() after <<<>>>. The message says why the kernel did not run."},
    Rule{"leak", "vgpu/leak", "Memory was not freed when the program ended",
         "Free what the report names, or run without --check leak."},
    Rule{"", "vgpu/check", "A check failed", "See the message."},
};

}  // namespace

std::string junit(const Outcome& outcome) {
  const std::vector<TestCase> cases = cases_of(outcome);
  const auto failed = std::ranges::count_if(cases, [](const TestCase& c) { return c.failed(); });
  const std::string sums = fmt::format("tests=\"{}\" failures=\"{}\" errors=\"0\" time=\"{:.3f}\"",
                                       cases.size(), failed, outcome.seconds);
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"vgpu\" {0}>\n"
      "  <testsuite name=\"{1}\" {0}>\n",
      sums, attribute(command_of(outcome)));
  for (const TestCase& one : cases) text += one.text();
  return text + "  </testsuite>\n</testsuites>\n";
}

std::string sarif(const Outcome& outcome) {
  Json all_rules = Json::array(), results = Json::array();
  for (const Rule& rule : rules()) all_rules.push_back(rule_json(rule.id, rule.title, rule.help));
  all_rules.push_back(rule_json(kGrewRule, "A launch has larger counters than in the baseline",
                                "Find the change that added the work, or accept it by "
                                "--update-baseline."));
  for (const Finding& finding : outcome.findings) {
    const auto index = static_cast<std::size_t>(&rule_of(finding.rule) - rules().data());
    const std::string& file = finding.file.empty() ? outcome.command.front() : finding.file;
    results.push_back(result_json(index, all_rules, finding.message,
                                  location_json(outcome, file, finding.line), finding.kernel));
  }
  for (const Change& change : outcome.comparison.changes)
    results.push_back(result_json(rules().size(), all_rules, message_of(change),
                                  location_json(outcome, outcome.baseline, 1), change.kernel));
  const Json driver = {
      {"name", "vgpu"}, {"version", outcome.version}, {"rules", std::move(all_rules)}};
  const Json invocation = {{"executionSuccessful", outcome.status == 0},
                           {"exitCode", outcome.status},
                           {"commandLine", command_of(outcome)}};
  const Json run = {{"tool", {{"driver", driver}}},
                    {"invocations", Json::array({invocation})},
                    {"originalUriBaseIds", {{"SRCROOT", {{"uri", uri(outcome.root + "/")}}}}},
                    {"columnKind", "utf16CodeUnits"},
                    {"results", std::move(results)}};
  const Json log = {{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({run})}};
  return log.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string github_annotations(const Outcome& outcome) {
  std::string text;
  for (const Finding& finding : outcome.findings) {
    const std::string file = shown_path(outcome, finding.file);
    text += "::error ";
    if (!finding.file.empty()) text += fmt::format("file={},", property(file));
    if (!finding.file.empty() && finding.line > 0) text += fmt::format("line={},", finding.line);
    text += fmt::format("title={}::{}\n", property("vgpu: " + finding.rule), data(finding.message));
  }
  for (const Change& change : outcome.comparison.changes)
    text += fmt::format("::error file={},title=vgpu%3A counters grew::{}\n",
                        property(shown_path(outcome, outcome.baseline)), data(message_of(change)));
  return text;
}

std::span<const Rule> rules() { return kRules; }

const Rule& rule_of(std::string_view finding) {
  const auto found = std::ranges::find(kRules, finding, &Rule::finding);
  return found == kRules.end() ? kRules.back() : *found;
}

}  // namespace vgpu::app
