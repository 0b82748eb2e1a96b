// SPDX-License-Identifier: Apache-2.0
#include "runtime/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>

#include "devices/device_file.hpp"

namespace vgpu {
namespace {

struct CheckName {
  const char *name, *remark;
  std::array<bool Checks::*, 2> parts;  // null: none
};
constexpr CheckName kCheckNames[] = {{"memory", " (on but for none)", {&Checks::memory}},
                                     {"race", "", {&Checks::race}},
                                     {"init", "", {&Checks::init, &Checks::init_shared}},
                                     {"init-global", "", {&Checks::init}},
                                     {"sync", "", {&Checks::sync}},
                                     {"leak", "", {&Checks::leak}}};
constexpr const char *kAll = "all", *kNone = "none";

}  // namespace

std::string parse_devices(std::string_view text, std::vector<Device>& devices) {
  constexpr std::size_t kMost = 64;
  std::vector<Device> list;
  for (std::string_view rest = text; !rest.empty();) {
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
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
    if (colon != item.npos) {
      const std::string_view number = item.substr(colon + 1);
      const auto [end, error] =
          std::from_chars(number.data(), number.data() + number.size(), count);
      if (error != std::errc() || end != number.data() + number.size()) count = 0;
    }
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
    const auto comma = rest.find(',');
    const std::string_view item = rest.substr(0, comma);
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
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
    const auto comma = text.find(',');
    const std::string_view word = text.substr(0, comma);
    text = comma == text.npos ? "" : text.substr(comma + 1);
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

std::string parse_threads(std::string_view text, unsigned& threads) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), threads);
  if (error != std::errc() || end != text.data() + text.size() || threads < 1 || threads > 1024) {
    return fmt::format("'{}': a number from 1 to 1024", text);
  }
  return "";
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
    const std::string_view seed = text.substr(kRandom.size());
    const auto [end, error] =
        std::from_chars(seed.data(), seed.data() + seed.size(), schedule.seed);
    schedule.kind = CopySchedule::Kind::kRandom;
    if (error == std::errc() && end == seed.data() + seed.size()) return "";
  }
  return fmt::format("'{}': eager, lazy, or random:SEED with a number", text);
}

std::string parse_numerics(std::string_view text, Numerics& numerics) {
  if (text == "single")
    numerics = Numerics::kSingle;
  else if (text == "hopper")
    numerics = Numerics::kHopper;
  else
    return fmt::format("'{}': single or hopper", text);
  return "";
}

std::string parse_kernel(std::string_view text, Pattern& kernel) {
  const std::string wrong = kernel.parse(text);
  return wrong.empty() ? "" : fmt::format("'{}': no regular expression: {}", text, wrong);
}

std::string parse_number(std::string_view text, std::uint64_t least, std::uint64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc() && end == text.data() + text.size() && number >= least) return "";
  return fmt::format("'{}': a number from {}", text, least);
}

bool Selection::takes(const std::string& name) {
  ++asked_;
  if (!kernel.found_in(name)) return false;
  const std::uint64_t before = matched_++;
  const bool takes = before >= skip && before - skip < count;
  taken_ += takes ? 1 : 0;
  return takes;
}

std::string parse_engine(std::string_view text, EngineChoice& engine) {
  if (text == "auto")
    engine = EngineChoice::kAuto;
  else if (text == "sass")
    engine = EngineChoice::kSass;
  else if (text == "ptx")
    engine = EngineChoice::kPtx;
  else
    return fmt::format("'{}': auto, sass or ptx", text);
  return "";
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
    const auto comma = rest.find(',');
    std::string_view text = rest.substr(0, comma);
    rest = comma == rest.npos ? "" : rest.substr(comma + 1);
    while (text.starts_with(' ')) text.remove_prefix(1);
    while (text.ends_with(' ')) text.remove_suffix(1);
    const auto named = [&](const Device& device) { return names(text, device); };
    if (std::ranges::count_if(devices, named) != 1) break;
    if (std::ranges::any_of(visible, named)) return {};
    visible.push_back(*std::ranges::find_if(devices, named));
  }
  return visible;
}

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
  if (const auto text = value("VGPU_DEVICE"); !text.empty()) {
    check("VGPU_DEVICE", parse_devices(text, settings.devices));
  }
  check("VGPU_CHECK", parse_checks(value("VGPU_CHECK"), settings.checks));
  if (const auto text = value("VGPU_THREADS"); !text.empty()) {
    check("VGPU_THREADS", parse_threads(text, settings.host_threads));
  }
  if (const auto text = value("VGPU_SCHEDULE"); !text.empty()) {
    check("VGPU_SCHEDULE", parse_schedule(text, settings.schedule));
  }
  if (const auto text = value("VGPU_NUMERICS"); !text.empty()) {
    check("VGPU_NUMERICS", parse_numerics(text, settings.numerics));
  }
  check("VGPU_KERNEL", parse_kernel(value("VGPU_KERNEL"), settings.selection.kernel));
  const auto number = [&](const char* name, std::uint64_t least, std::uint64_t& into) {
    if (const auto text = value(name); !text.empty()) check(name, parse_number(text, least, into));
  };
  number("VGPU_LAUNCH_SKIP", 0, settings.selection.skip);
  number("VGPU_LAUNCH_COUNT", 1, settings.selection.count);
  number("VGPU_SAMPLE_BLOCKS", 1, settings.sample_blocks);
  number("VGPU_TIMEOUT", 1, settings.timeout_seconds);
  const std::string blocking = value("CUDA_LAUNCH_BLOCKING");
  settings.launch_blocking = !blocking.empty() && blocking != "0";
  const auto flag = [&](const char* name, bool& into) {
    const std::string text = value(name);
    if (!text.empty()) into = text == "1";
    if (!text.empty() && text != "0" && text != "1") check(name, fmt::format("'{}': 0 or 1", text));
  };
  flag("VGPU_SOURCE", settings.count_lines);
  flag("VGPU_FAIL_FAST", settings.fail_fast);
  flag("VGPU_REUSE", settings.reuse);
  flag("VGPU_VERBOSE", settings.verbose);
  if (const auto text = value("VGPU_ENGINE"); !text.empty()) {
    check("VGPU_ENGINE", parse_engine(text, settings.engine));
  }
  settings.report_file = value("VGPU_REPORT");
  settings.counters_file = value("VGPU_COUNTERS");
  settings.counters_claims = value("VGPU_COUNTERS_CLAIMS");
  return settings;
}

}  // namespace vgpu
