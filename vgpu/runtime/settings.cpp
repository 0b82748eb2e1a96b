// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <utility>

namespace vgpu {
namespace {

struct CheckName {
  const char *name, *remark;
  std::array<bool Checks::*, 2> parts;  // null: none
};
constexpr CheckName kCheckNames[] = {
    {"memory", " (always on, except with none)", {&Checks::memory}},
    {"race", "", {&Checks::race}},
    {"init", "", {&Checks::init, &Checks::init_shared}},
    {"init-global", "", {&Checks::init}},
    {"sync", "", {&Checks::sync}},
    {"leak", "", {&Checks::leak}}};
constexpr const char *kAll = "all", *kNone = "none";

// Takes the text before the next comma off a list.
std::string_view take_item(std::string_view& list) {
  const auto comma = list.find(',');
  const std::string_view item = list.substr(0, comma);
  list = comma == list.npos ? "" : list.substr(comma + 1);
  return item;
}

template <class T>
bool is_number(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// What the C library would take for something else, or would need much stack or memory for.
std::string refusal(std::string_view text) {
  constexpr std::size_t kMostCharacters = 1000;
  constexpr std::string_view kEscapes = "wWsSbB<>";
  if (text.size() > kMostCharacters) return "longer than 1000 characters";
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text.substr(at).starts_with("){") || text.substr(at).starts_with("}{"))
      return "{ } can only follow a character or a set";
    if (text[at] != '\\' || ++at == text.size()) continue;
    if (std::isalnum(static_cast<unsigned char>(text[at])) != 0 &&
        kEscapes.find(text[at]) == kEscapes.npos)
      return std::string("\\") + text[at] + " is not known";
  }
  return "";
}

}  // namespace

std::string parse_devices(std::string_view text, std::vector<Device>& devices) {
  constexpr std::size_t kMost = 64;
  std::vector<Device> list;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = take_item(rest);
    const auto colon = item.ends_with(".json") ? item.npos : item.rfind(':');
    const std::string_view id = item.substr(0, colon);
    Device device{};
    if (names_device_file(id)) {
      if (std::string error = read_device(std::string(id), device); !error.empty()) return error;
    } else if (const Device* found = find_device(id); found != nullptr) {
      device = *found;
    } else {
      return fmt::format("'{}': known devices are {}; or a file, NAME.json", id, known_devices());
    }
    std::size_t count = 1;
    if (colon != item.npos && !is_number(item.substr(colon + 1), count)) count = 0;
    if (count < 1 || list.size() + count > kMost) {
      return fmt::format("'{}': a count after ':' is a number, and all together are 1 to {}", item,
                         kMost);
    }
    list.insert(list.end(), count, device);
  }
  if (list.empty()) return fmt::format("no device named: known devices are {}", known_devices());
  for (int place = 0; Device & device : list) device.place = place++;
  devices = std::move(list);
  return "";
}

std::string with_absolute_files(std::string_view text) {
  std::string list;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view item = take_item(rest);
    if (!list.empty()) list += ',';
    const bool file = names_device_file(item.substr(0, item.rfind(':'))) || names_device_file(item);
    list += file ? std::filesystem::absolute(item).string() : std::string(item);
  }
  return list;
}

std::string parse_checks(std::string_view text, Checks& checks) {
  if (text.empty()) return "";
  const std::string_view whole = text;
  const auto set = [&](const CheckName& check, bool on) {
    for (bool Checks::*const part : check.parts) {
      if (part != nullptr) checks.*part = on;
    }
  };
  const auto set_all = [&](bool on) {
    for (const CheckName& check : kCheckNames) set(check, on);
  };
  set_all(false);
  checks.memory = true;
  while (!text.empty()) {
    const std::string_view word = take_item(text);
    const auto* const known = std::ranges::find(kCheckNames, word, &CheckName::name);
    if (known != std::end(kCheckNames)) {
      set(*known, true);
    } else if (word == kNone && word != whole) {
      return fmt::format("'{}': none stands alone", whole);
    } else if (word == kAll || word == kNone) {
      set_all(word == kAll);
    } else if (!word.empty()) {
      return fmt::format("'{}': known checks are {}", word, known_checks());
    }
  }
  return "";
}

std::vector<std::string> names_of(const Checks& checks) {
  std::vector<std::string> names;
  for (const CheckName& check : kCheckNames) {
    const bool on = std::ranges::all_of(
        check.parts, [&](bool Checks::*const part) { return part == nullptr || checks.*part; });
    if (on) names.emplace_back(check.name);
  }
  return names;
}

std::vector<std::string> check_names() {
  std::vector<std::string> names;
  for (const CheckName& check : kCheckNames) names.emplace_back(check.name);
  names.insert(names.end(), {kAll, kNone});
  return names;
}

std::string known_checks() {
  std::string text;
  for (const CheckName& check : kCheckNames)
    text += fmt::format("{}{}{}", text.empty() ? "" : ", ", check.name, check.remark);
  return fmt::format("{}, {} and {}", text, kAll, kNone);
}

std::string parse_schedule(std::string_view text, CopySchedule& schedule) {
  constexpr std::string_view kRandom = "random:";
  schedule = {};
  if (text == "eager") return "";
  if (text == "lazy") {
    schedule.kind = CopySchedule::Kind::kLazy;
    return "";
  }
  if (text.starts_with(kRandom)) {
    schedule.kind = CopySchedule::Kind::kRandom;
    if (is_number(text.substr(kRandom.size()), schedule.seed)) return "";
  }
  return fmt::format("'{}': eager, lazy, or random:SEED with a number", text);
}

bool Selection::takes(const std::string& name) {
  ++asked_;
  if (!kernel.found_in(name)) return false;
  const std::uint64_t before = matched_++;
  const bool takes = before >= skip && before - skip < count;
  taken_ += takes ? 1 : 0;
  return takes;
}

std::string to_string(const CopySchedule& schedule) {
  switch (schedule.kind) {
    case CopySchedule::Kind::kEager: return "eager";
    case CopySchedule::Kind::kLazy: return "lazy";
    case CopySchedule::Kind::kRandom: break;
  }
  return fmt::format("random:{}", schedule.seed);
}

// CUDA Programming Guide, "CUDA_VISIBLE_DEVICES": indices, or the first digits of UUIDs, up to the
// first that names no device or several. A device that is named twice leaves none, as with a GPU.
std::vector<Device> visible_devices(const std::vector<Device>& devices, const char* chosen) {
  if (chosen == nullptr) return devices;
  std::vector<Device> visible;
  const auto names = [](std::string_view text, const Device& device) {
    return text == std::to_string(device.place) ||
           (text.starts_with("GPU-") && uuid_text(device.place).starts_with(text));
  };
  for (std::string_view rest = chosen; !rest.empty();) {
    std::string_view text = take_item(rest);
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto named = [&](const Device& device) { return names(text, device); };
    if (std::ranges::count_if(devices, named) != 1) break;
    if (std::ranges::any_of(visible, named)) return {};
    visible.push_back(*std::ranges::find_if(devices, named));
  }
  return visible;
}

namespace {

std::string threads(std::string_view text, Settings& settings) {
  unsigned& threads = settings.host_threads;
  if (is_number(text, threads) && threads >= 1 && threads <= 1024) return "";
  return fmt::format("'{}': a number from 1 to 1024", text);
}

std::string number(std::string_view text, std::uint64_t least, std::uint64_t& into) {
  if (is_number(text, into) && into >= least) return "";
  return fmt::format("'{}': a number from {}", text, least);
}

std::string numerics(std::string_view text, Settings& settings) {
  settings.numerics = text == "hopper" ? Numerics::kHopper : Numerics::kSingle;
  return text == "single" || text == "hopper" ? "" : fmt::format("'{}': single or hopper", text);
}

std::string engine(std::string_view text, Settings& settings) {
  constexpr std::string_view kNames[] = {"auto", "sass", "ptx"};  // in the order of EngineChoice
  const auto* const known = std::ranges::find(kNames, text);
  if (known == std::end(kNames)) return fmt::format("'{}': auto, sass or ptx", text);
  settings.engine = static_cast<EngineChoice>(known - kNames);
  return "";
}

std::string kernel(std::string_view text, Settings& settings) {
  const std::string wrong = settings.selection.kernel.parse(std::string(text));
  return wrong.empty() ? "" : fmt::format("'{}': not a regular expression: {}", text, wrong);
}

constexpr Setting kSettings[] = {
    {"--device", "VGPU_DEVICE",
     [](std::string_view text, Settings& s) { return parse_devices(text, s.devices); }},
    {"--check", "VGPU_CHECK",
     [](std::string_view text, Settings& s) { return parse_checks(text, s.checks); }},
    {"--threads", "VGPU_THREADS", threads},
    {"--numerics", "VGPU_NUMERICS", numerics},
    {"--schedule", "VGPU_SCHEDULE",
     [](std::string_view text, Settings& s) { return parse_schedule(text, s.schedule); }},
    {"--engine", "VGPU_ENGINE", engine},
    {"--kernel", "VGPU_KERNEL", kernel},
    {"--launch-skip", "VGPU_LAUNCH_SKIP",
     [](std::string_view text, Settings& s) { return number(text, 0, s.selection.skip); }},
    {"--launch-count", "VGPU_LAUNCH_COUNT",
     [](std::string_view text, Settings& s) { return number(text, 1, s.selection.count); }},
    {"--sample-blocks", "VGPU_SAMPLE_BLOCKS",
     [](std::string_view text, Settings& s) { return number(text, 1, s.sample_blocks); }},
    {"--timeout", "VGPU_TIMEOUT",
     [](std::string_view text, Settings& s) { return number(text, 1, s.timeout_seconds); }},
};

constexpr std::pair<const char*, bool Settings::*> kFlags[] = {
    {"VGPU_SOURCE", &Settings::count_lines},
    {"VGPU_FAIL_FAST", &Settings::fail_fast},
    {"VGPU_REUSE", &Settings::reuse},
    {"VGPU_VERBOSE", &Settings::verbose}};

}  // namespace

std::span<const Setting> text_settings() { return kSettings; }

Settings settings_from(Lookup environment) {
  const auto value = [&](const char* name) {
    const char* text = environment(name);
    return std::string(text != nullptr ? text : "");
  };
  Settings settings;
  const auto check = [&](const char* name, const std::string& error) {
    if (!error.empty() && settings.error.empty())
      settings.error = fmt::format("{}: {}", name, error);
  };
  for (const Setting& setting : kSettings) {
    if (const auto text = value(setting.variable); !text.empty())
      check(setting.variable, setting.parse(text, settings));
  }
  for (const auto& [name, flag] : kFlags) {
    const std::string text = value(name);
    if (!text.empty()) settings.*flag = text == "1";
    if (!text.empty() && text != "0" && text != "1") check(name, fmt::format("'{}': 0 or 1", text));
  }
  const std::string blocking = value("CUDA_LAUNCH_BLOCKING");
  settings.launch_blocking = !blocking.empty() && blocking != "0";
  settings.report_file = value("VGPU_REPORT");
  settings.counters_file = value("VGPU_COUNTERS");
  settings.counters_claims = value("VGPU_COUNTERS_CLAIMS");
  return settings;
}

std::string Pattern::parse(const std::string& text) {
  if (std::string why = refusal(text); !why.empty()) return why;
  auto* const regex = new regex_t;
  const int error = regcomp(regex, text.c_str(), REG_EXTENDED | REG_NOSUB);
  if (error == 0) {
    compiled_.reset(regex, [](regex_t* mine) {
      regfree(mine);
      delete mine;
    });
    return "";
  }
  std::array<char, 100> message{};
  regerror(error, regex, message.data(), message.size());
  delete regex;
  return message.data();
}

bool Pattern::found_in(const std::string& text) const {
  return compiled_ == nullptr || regexec(compiled_.get(), text.c_str(), 0, nullptr, 0) == 0;
}

}  // namespace vgpu
